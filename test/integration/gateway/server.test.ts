import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { listen } from "../../../services/gateway/http/server.ts";
import { Type } from "../../../services/lib/shapes.ts";
import { type Sample, sample, startGateway } from "../../support/gateway.ts";

const Any = Type.Unknown();
const None = Type.Object({});

/** Action that answers when the test says so. */
function held() {
  const gate = Promise.withResolvers<object>();
  const reached = Promise.withResolvers<void>();
  const handler: Sample["handler"] = () => {
    reached.resolve();
    return gate.promise;
  };
  return { handler, reached: reached.promise, answer: () => gate.resolve({ done: true }) };
}

async function raw(url: string, ...pieces: string[]): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  for (const piece of pieces) socket.write(piece);
  return socket;
}

const samplesWith = (handler: Sample["handler"]) => ({
  slow: sample({ method: "GET", path: "/api/emails/slow/", access: "public" }, None, Any, handler),
  create: sample({ method: "POST", path: "/api/emails/things/" }, None, Any, () => ({})),
});

describe("the HTTP server", () => {
  test("drains: answers requests in flight, refuses new connections, closes idle ones", async () => {
    const { handler, reached, answer } = held();
    const gateway = await startGateway(samplesWith(handler));
    const idle = await raw(gateway.url, "GET /openapi.json/ HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(idle, "data");
    const inFlight = fetch(`${gateway.url}/api/emails/slow/`);
    await reached;
    const stopped = gateway.stop();
    await once(idle, "close");
    await expect(fetch(`${gateway.url}/api/emails/slow/`)).rejects.toThrow();
    answer();
    const response = await inFlight;
    expect([response.status, await response.json()]).toEqual([200, { done: true }]);
    await stopped;
  });

  test("bounds draining: cuts off a request that never ends", async () => {
    const { handler, reached, answer } = held();
    const gateway = await startGateway(samplesWith(handler));
    const inFlight = fetch(`${gateway.url}/api/emails/slow/`);
    inFlight.catch(() => {});
    await reached;
    await gateway.drain();
    await expect(inFlight).rejects.toThrow();
    answer();
    await gateway.stop();
  });

  test("answers invalid HTTP and endless headers with a JSON 400 and 431", async () => {
    const gateway = await startGateway(samplesWith(() => ({})));
    const nonsense = await text(await raw(gateway.url, "HELLO\r\n\r\n"));
    expect(nonsense).toMatch(/^HTTP\/1\.1 400 .*\{"detail":"This is not a valid HTTP request\."\}$/s);
    const endless = await text(await raw(gateway.url, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(20_000)}`));
    expect(endless).toMatch(/^HTTP\/1\.1 431 .*\{"detail":"The request's headers are too large\."\}$/s);
    const smuggled = await text(
      await raw(
        gateway.url,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ),
    );
    expect(smuggled).toMatch(/^HTTP\/1\.1 400 /);
    await gateway.stop();
  });

  test.each([
    ["a target that is not an address", "GET http:// HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a target of another scheme", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["an expectation that nobody knows", "GET / HTTP/1.1\r\nHost: x\r\nExpect: banana\r\n\r\n", 417],
    ["a tunnel", "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n", 405],
    ["no HTTP at all", "\0\r\n\r\n", 400],
    ["another version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400],
    ["headers that are too large", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ])("refuses %s with a JSON body, an id and the security headers", async (_, request, status) => {
    const gateway = await startGateway(samplesWith(() => ({})));
    const socket = await raw(gateway.url, request);
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    const [head, body] = first.toString().split("\r\n\r\n") as [string, string];
    expect(head.split("\r\n", 1)[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const name of ["Content-Type: application/json", "X-Request-Id: ", "X-Content-Type-Options: nosniff"]) {
      expect(head.toLowerCase()).toContain(name.toLowerCase());
    }
    expect(JSON.parse(body)).toEqual({ detail: expect.stringMatching(/\.$/) });
    await gateway.stop();
  });

  test("serves a target in absolute form by its path (RFC 9112)", async () => {
    const gateway = await startGateway(samplesWith(() => ({ found: true })));
    const socket = await raw(gateway.url, "GET http://other.example/api/emails/slow/?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 .*\{"found":true\}$/s);
    await gateway.stop();
  });

  test("survives a body that ends too early", async () => {
    const gateway = await startGateway(samplesWith(() => ({})));
    const socket = await raw(
      gateway.url,
      "POST /api/emails/things/ HTTP/1.1\r\nHost: x\r\nX-API-Key: fm_good\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    socket.destroy();
    const response = await fetch(`${gateway.url}/api/emails/things/`, {
      method: "POST",
      headers: { "X-API-Key": "fm_good" },
    });
    expect(response.status).toBe(200);
    await gateway.stop();
  });

  test("reports a port in use in one sentence", async () => {
    const first = await listen(() => {}, { host: "127.0.0.1", port: 0 }, 1_000);
    await expect(listen(() => {}, { host: "127.0.0.1", port: first.port }, 1_000)).rejects.toThrow(
      `port ${first.port} is in use; choose another with PORT=…`,
    );
    await first.drain();
  });
});
