/** A test's own HTTP server: its answers and the requests it received. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface WebServer {
  url: string;
  asked: Asked[];
  answer: Answer;
  /** Replaces `answer`, depending on the request. */
  on: ((asked: Asked) => Answer | Promise<Answer>) | undefined;
  reset(): void;
  stop(): Promise<void>;
}

export async function startWebServer(host = "127.0.0.1"): Promise<WebServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    const received = { method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() };
    web.asked.push(received);
    const answer = (await web.on?.(received)) ?? web.answer;
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? "");
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  const web: WebServer = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: {},
    on: undefined,
    reset() {
      web.asked = [];
      web.answer = {};
      web.on = undefined;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return web;
}
