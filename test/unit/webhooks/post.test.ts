import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import type { PinnedAddress } from "../../../services/lib/ssrf/guard.ts";
import { EventPoster } from "../../../services/webhooks/post.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

// Bundled certificates: "default" would include those trusted by earlier tests of this process.
const trusted = getCACertificates("bundled");
const certificate = selfMadeCertificate({ names: ["hooks.example"], address: false });
let server: Server;
let hosts: (string | undefined)[] = [];
let resolvedHosts: string[] = [];
let poster: EventPoster;
/** Responses that are held back until there are `together` of them. */
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
  resolvedHosts = [];
  waiting = [];
  together = 1;
  poster = posterTo("127.0.0.1");
});
afterEach(() => poster.stop());
afterAll(() => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
});

/** Poster that resolves every name to these addresses, because the names exist in no DNS. */
const posterTo = (...addresses: string[]) =>
  new EventPoster(async (host) => {
    resolvedHosts.push(host);
    return addresses.map((address): PinnedAddress => ({ address, family: address.includes(":") ? 6 : 4 }));
  });
const portOf = (of: { address(): AddressInfo | string | null }) => (of.address() as AddressInfo).port;
/** Waits one iteration of the event loop, because undici reuses a connection only after that. */
async function postAt(by: EventPoster, url: string) {
  const answer = await by.post({ url, headers: {}, body: "{}" });
  await new Promise(setImmediate);
  return answer;
}
const postTo = (by: EventPoster, host: string, port = portOf(server)) => postAt(by, `https://${host}:${port}/hook`);
const deliver = (host: string, port?: number) => postTo(poster, host, port);

test("connects to the checked address under the endpoint's name, resolved once per connection", async () => {
  for (let round = 1; round <= 3; round++) expect(await deliver("hooks.example")).toMatchObject({ status: 200 });
  expect(hosts[0]).toMatch(/^hooks\.example:\d+$/);
  expect(resolvedHosts).toEqual(["hooks.example"]);
});

test("refuses to connect if any resolved address or a literal IP address is not allowed", async () => {
  let connections = 0;
  const count = () => connections++;
  server.on("connection", count);
  const refusing = new EventPoster(async (host) => {
    throw new Error(`checked ${host}`);
  });
  for (const host of ["hooks.example", "127.0.0.1", "[::1]", "2130706433", "0x7f.1"])
    await expect(postTo(refusing, host)).rejects.toThrow(/^checked (?:hooks\.example|127\.0\.0\.1|\[::1\])$/);
  await refusing.stop();
  server.off("connection", count);
  expect(connections).toBe(0);
});

test("refuses a certificate for another name, even with a kept-alive connection to that address", async () => {
  for (let round = 1; round <= 2; round++) {
    expect(await deliver("hooks.example")).toMatchObject({ status: 200 });
    await expect(deliver("other.example")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    await expect(deliver("127.0.0.1")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  }
  expect(hosts).toHaveLength(2);
});

test("checks the certificate on each new connection without resuming TLS sessions", async () => {
  for (const maxVersion of ["TLSv1.3", "TLSv1.2"] as const) {
    const resumed: boolean[] = [];
    const again = createServer({ ...certificate, maxVersion }, (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      response.setHeader("connection", "close");
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((listening) => again.listen(0, "127.0.0.1", listening));
    for (let round = 1; round <= 3; round++) {
      expect(await deliver("hooks.example", portOf(again))).toMatchObject({ status: 200 });
      await expect(deliver("other.example", portOf(again))).rejects.toMatchObject({
        code: "ERR_TLS_CERT_ALTNAME_INVALID",
      });
    }
    expect(resumed).toEqual([false, false, false]);
    again.close();
  }
});

test("keeps as many connections to a receiver as there are concurrent deliveries", async () => {
  let connections = 0;
  const count = () => connections++;
  server.on("secureConnection", count);
  // The server answers all together: on a busy machine 200 handshakes may take longer than an idle connection is kept.
  together = 200;
  for (let round = 1; round <= 3; round++) {
    const answers = await Promise.all(Array.from({ length: 200 }, () => deliver("hooks.example")));
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  }
  server.off("secureConnection", count);
  expect(connections).toBe(200);
});

test("tries the next address if one is unreachable, but not after a broken connection", async () => {
  const port = portOf(server);
  const toAll = async (...addresses: string[]) => {
    const one = posterTo(...addresses);
    return postTo(one, "hooks.example").finally(() => one.stop());
  };
  expect(await toAll("127.0.0.2", "127.0.0.1")).toMatchObject({ status: 200 });
  await expect(toAll("127.0.0.2", "127.0.0.3")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(hosts).toHaveLength(1);
  const breaks = createServer((request) => request.socket.destroy());
  breaks.on("connection", (socket) => socket.destroy());
  await new Promise<void>((listening) => breaks.listen(port, "127.0.0.4", listening));
  await expect(toAll("127.0.0.4", "127.0.0.1")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(hosts).toHaveLength(1);
  breaks.close();
});

describe("a misbehaving receiver", () => {
  const plain = createTcp();
  let requests = 0;
  /** Answer to the receiver's nth request, from 1 on. */
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
  });
  afterAll(() => void plain.close());

  const postPlain = () => postAt(poster, `http://hooks.example:${portOf(plain)}/hook`);
  const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  test("may send informational responses before the final response", async () => {
    answerTo = (socket) => socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 None\r\n\r\n");
    expect(await postPlain()).toEqual({ status: 204, quotedBody: "" });
  });

  test("may close the connection without an answer, which is retried only if it was kept alive", async () => {
    answerTo = (socket) => socket.destroy();
    await expect(postPlain()).rejects.toThrow(/closed/);
    expect(requests).toBe(1);
    answerTo = (socket, nth) => (nth === 2 ? socket.write(OK) : socket.destroy());
    expect(await postPlain()).toMatchObject({ status: 200 });
    await expect(postPlain()).rejects.toThrow(/closed/);
    expect(requests).toBe(4);
  });

  test("may send a successful answer that never ends, which acknowledges the event and closes the connection", async () => {
    const closed = new Promise((resolve) => plain.once("connection", (socket) => socket.once("close", resolve)));
    answerTo = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nso");
    expect(await postPlain()).toEqual({ status: 200, quotedBody: "" });
    await closed;
  });

  test("may send a refusal that never ends, which is quoted as far as it arrived", async () => {
    answerTo = (socket) => socket.write("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nno database");
    expect(await postPlain()).toEqual({ status: 500, quotedBody: "no database" });
  });

  test("may send anything but HTTP or an endless head, which is an error", async () => {
    answerTo = (socket) => socket.write("220 mail.example ESMTP\r\n");
    await expect(postPlain()).rejects.toThrow(/HTTP/);
    answerTo = (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}`);
    await expect(postPlain()).rejects.toThrow(/[Hh]eader/);
  });

  test("gets no request after the poster was stopped", async () => {
    const stopped = posterTo("127.0.0.1");
    await stopped.stop();
    await expect(postTo(stopped, "hooks.example", portOf(plain))).rejects.toThrow(/stopped/);
    expect(requests).toBe(0);
    answerTo = () => void poster.stop();
    await expect(postPlain()).rejects.toThrow(/stopped/);
    expect(requests).toBe(1);
    expect(poster.isStopped).toBe(true);
  });
});
