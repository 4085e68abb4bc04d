import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { type Ending, Endings } from "../../../services/webhooks/ending.ts";
import { closeIdleConnections, post, postToFirst } from "../../../services/webhooks/post.ts";
import { targetOf } from "../../../services/webhooks/receiver.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

// The bundled ones: "default" would hold what an earlier test file of this process trusted.
const trusted = getCACertificates("bundled");
const certificate = selfMadeCertificate({ names: ["hooks.example"], address: false });
let server: Server;
let hosts: (string | undefined)[] = [];
/** Requests that wait for an answer until there are `together` of them. */
let waiting: ServerResponse[] = [];
let together = 1;

beforeAll(async () => {
  setDefaultCACertificates([...trusted, certificate.cert]);
  server = createServer(certificate, (request, response) => {
    hosts.push(request.headers.host);
    request.resume().on("end", () => {
      if (waiting.push(response) < together) return;
      for (const answer of waiting.splice(0)) answer.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
beforeEach(() => {
  hosts = [];
  waiting = [];
  together = 1;
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  closeIdleConnections();
  server.closeAllConnections();
  server.close();
});

const WITHIN_MS = 30_000;
const endings = new Endings();
/** Ends when `posting` has. */
async function withEnding<T>(posting: (ending: Ending) => Promise<T>, all = endings): Promise<T> {
  const ending = all.begin(WITHIN_MS);
  return posting(ending).finally(() => ending.over());
}

const deliver = (host: string, port = (server.address() as AddressInfo).port) =>
  withEnding((ending) =>
    post({
      target: targetOf(`https://${host}:${port}/hook`),
      // What the name resolved to when it was checked; neither name is known to any resolver.
      address: { address: "127.0.0.1", family: 4 },
      headers: {},
      body: "{}",
      ending,
    }),
  );

test("the pinned address is connected to, under the endpoint's name, and the name is not resolved again", async () => {
  expect(await deliver("hooks.example")).toMatchObject({ status: 200 });
  expect(hosts[0]).toMatch(/^hooks\.example:\d+$/);
});

test("a certificate of another name is refused, also where a kept connection to that address is at hand", async () => {
  for (let round = 1; round <= 2; round++) {
    expect(await deliver("hooks.example")).toMatchObject({ status: 200 });
    await expect(deliver("other.example")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    await expect(deliver("127.0.0.1")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  }
  expect(hosts).toHaveLength(2);
});

test("a receiver that is connected to again goes on with its TLS session, one with a wrong certificate never does", async () => {
  for (const maxVersion of ["TLSv1.3", "TLSv1.2"] as const) {
    const resumed: boolean[] = [];
    const again = createServer({ ...certificate, maxVersion }, (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((listening) => again.listen(0, "127.0.0.1", listening));
    const { port } = again.address() as AddressInfo;
    for (let round = 1; round <= 3; round++) {
      expect(await deliver("hooks.example", port)).toMatchObject({ status: 200 });
      await expect(deliver("other.example", port)).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
      closeIdleConnections();
    }
    expect(resumed).toEqual([false, true, true]);
    again.close();
  }
});

test("as many connections to one receiver are kept as deliveries are under way at the same time", async () => {
  let connections = 0;
  const count = () => connections++;
  server.on("secureConnection", count);
  closeIdleConnections();
  // All are answered at once: handshakes of 200 may take a busy machine longer than a connection is kept that nobody needs.
  together = 200;
  for (let round = 1; round <= 3; round++) {
    const answers = await Promise.all(Array.from({ length: 200 }, () => deliver("hooks.example")));
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  }
  server.off("secureConnection", count);
  expect(connections).toBe(200);
});

test("an address that cannot be reached is passed over; one that was reached and broke off is not", async () => {
  const { port } = server.address() as AddressInfo;
  const asked = { target: targetOf(`https://hooks.example:${port}/`), headers: {}, body: "{}" };
  const to = (...addresses: string[]) =>
    withEnding((ending) =>
      postToFirst(
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        { ...asked, ending },
      ),
    );
  expect(await to("127.0.0.2", "127.0.0.1")).toMatchObject({ status: 200 });
  await expect(to("127.0.0.2", "127.0.0.3")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(hosts).toHaveLength(1);
  const breaks = createServer((request) => request.socket.destroy());
  breaks.on("connection", (socket) => socket.destroy());
  await new Promise<void>((listening) => breaks.listen(port, "127.0.0.4", listening));
  await expect(to("127.0.0.4", "127.0.0.1")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(hosts).toHaveLength(1);
  breaks.close();
});

describe("what a receiver may do with a connection", () => {
  const plain = createTcp();
  let requests = 0;
  /** What the receiver does at its nth request, from 1 on. */
  let answerTo: (socket: Socket, nth: number) => void;

  beforeAll(async () => {
    plain.on("connection", (socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        if (data.includes("POST ")) answerTo(socket, ++requests);
      });
    });
    await new Promise<void>((listening) => plain.listen(0, "127.0.0.1", listening));
  });
  beforeEach(() => {
    requests = 0;
    closeIdleConnections();
  });
  afterAll(() => void plain.close());

  const postPlain = (all = endings) =>
    withEnding(
      (ending) =>
        post({
          target: targetOf(`http://hooks.example:${(plain.address() as AddressInfo).port}/hook`),
          address: { address: "127.0.0.1", family: 4 },
          headers: {},
          body: "{}",
          ending,
        }),
      all,
    );
  const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  test("an answer that says it is only on its way is not the answer", async () => {
    answerTo = (socket) => socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 None\r\n\r\n");
    expect(await postPlain()).toEqual({ status: 204, says: "" });
  });

  test("one that ends each connection without an answer is asked once, on a kept connection once more", async () => {
    answerTo = (socket) => socket.destroy();
    await expect(postPlain()).rejects.toMatchObject({ code: "ECONNRESET", message: expect.stringMatching(/closed/) });
    expect(requests).toBe(1);
    answerTo = (socket, nth) => (nth === 2 ? socket.write(OK) : socket.destroy());
    expect(await postPlain()).toMatchObject({ status: 200 });
    await expect(postPlain()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(requests).toBe(4);
  });

  test("one that takes the event and never ends its answer has succeeded, and loses the connection", async () => {
    const closed = new Promise((resolve) => plain.once("connection", (socket) => socket.once("close", resolve)));
    answerTo = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nso");
    expect(await postPlain()).toEqual({ status: 200, says: "" });
    await closed;
  });

  test("a refusal that never ends is quoted as far as it came", async () => {
    answerTo = (socket) => socket.write("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nno database");
    expect(await postPlain()).toEqual({ status: 500, says: "no database" });
  });

  test("an answer that is no HTTP is an error, and so is a head without an end", async () => {
    answerTo = (socket) => socket.write("220 mail.example ESMTP\r\n");
    await expect(postPlain()).rejects.toThrow(/HTTP/);
    answerTo = (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}`);
    await expect(postPlain()).rejects.toThrow(/[Hh]eader/);
  });

  test("one that is given up while it is connected to, or waited for, gets nothing more", async () => {
    const stopped = new Endings();
    stopped.stop();
    await expect(postPlain(stopped)).rejects.toThrow(/ended/);
    expect(requests).toBe(0);
    const stopping = new Endings();
    answerTo = () => stopping.stop();
    await expect(postPlain(stopping)).rejects.toThrow(/ended/);
    expect(requests).toBe(1);
  });
});
