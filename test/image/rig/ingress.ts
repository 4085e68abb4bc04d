/**
 * A Service and its ingress: round robin over ready pods, one connection per request, without retries. Answers 502 if
 * no pod answers.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ADDRESS } from "./network.ts";

const TIMEOUT_MS = 290_000;

export interface Target {
  address: string;
  port: number;
}

export interface Ingress {
  url: string;
  close(): Promise<void>;
}

export async function openIngress(targets: () => Target[]): Promise<Ingress> {
  let n = 0;
  const pass = (incoming: IncomingMessage, answer: ServerResponse) => {
    const ready = targets();
    const target = ready[n++ % Math.max(1, ready.length)];
    const fail = (why: string) => {
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502, { "content-type": "text/plain" }).end(`The ingress: ${why}`);
    };
    if (!target) return fail("no pod is ready");
    const { method, url, headers } = incoming;
    const client = headers["x-forwarded-for"] ?? incoming.socket.remoteAddress;
    const outgoing = request({
      host: target.address,
      port: target.port,
      localAddress: ADDRESS.ingress,
      method,
      path: url,
      headers: { ...headers, "x-forwarded-for": client, connection: "close" },
      agent: false,
      timeout: TIMEOUT_MS,
    });
    outgoing.on("response", (response) => {
      const { connection: _, ...rest } = response.headers;
      answer.writeHead(response.statusCode!, rest);
      response.pipe(answer);
      response.on("error", () => answer.destroy());
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
    outgoing.on("error", ({ message }) => fail(`${target.address}: ${message}`));
    incoming.on("error", () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer({ requestTimeout: 0 }, pass);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
