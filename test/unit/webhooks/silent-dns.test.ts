import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { askDns, HostError, resolvePublic } from "../../../services/lib/ssrf/guard.ts";

describe("a name server that never answers", () => {
  let asked = 0;
  let socket: Socket;
  let server: string;
  beforeAll(async () => {
    socket = createSocket("udp4", () => asked++).bind(0, "127.0.0.1");
    await once(socket, "listening");
    server = `127.0.0.1:${socket.address().port}`;
  });
  afterAll(async () => {
    socket.close();
    await once(socket, "close");
  });

  test("delays only lookups of its own host, and for a limited time", async () => {
    // Twice the number of threads that the process has for files, hashes and getaddrinfo.
    const hosts = Array.from({ length: 8 }, (_, n) => `hook${n}.example.com`);
    const answers = Promise.allSettled(
      hosts.map((host) => resolvePublic(host, { allowPrivate: false, resolve: (name) => askDns(name, [server]) })),
    );
    const first = await Promise.race([
      readFile(import.meta.filename).then(() => "a file"),
      answers.then(() => "an answer"),
    ]);
    expect(first).toBe("a file");

    const errors = (await answers).map((answer) => (answer as PromiseRejectedResult).reason as HostError);
    expect(asked).toBeGreaterThanOrEqual(hosts.length);
    for (const error of errors) {
      expect(error).toBeInstanceOf(HostError);
      expect(error.reason).toBe("dns");
      expect(error.message).toMatch(/^The host name hook\d\.example\.com cannot be resolved \(.+\)\.$/);
    }
  });
});
