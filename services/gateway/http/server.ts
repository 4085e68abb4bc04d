/** The HTTP server: listens, bounds the cost of a connection, and drains before the process stops. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { newId } from "../../lib/ids.ts";

/**
 * Longer than the 60 s for which load balancers keep idle connections; otherwise they would reuse one that is closing.
 */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 10_000;
// Allows the largest upload over a slow connection. Bodies have tighter limits (request-body.ts, multipart-upload.ts).
const REQUEST_MS = 60 * 60_000;
const CHECK_MS = 2_000;
/** Longest time without a byte in either direction: a client that stopped reading or sending. */
const SILENCE_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_HEADERS = 100;

export interface HttpServer {
  port: number;
  /** Stops accepting, gives requests in flight a while to finish, then closes all connections. */
  drain(): Promise<void>;
}

const REFUSALS: Record<string, [number, string, string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request took too long to arrive."],
};

const NO_HTTP: [number, string, string] = [400, "Bad Request", "This is not a valid HTTP request."];

const HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'",
  Connection: "close",
};

/** Writes a JSON response where Node provides no response object. */
function respondOnSocket(socket: Duplex, [status, reason, detail]: [number, string, string]): void {
  const body = JSON.stringify({ detail });
  const headers = { ...HEADERS, "X-Request-Id": newId(), "Content-Length": Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`);
}

/** Answers requests that are not HTTP with JSON; they never reach Koa. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  respondOnSocket(socket, REFUSALS[error.code ?? ""] ?? NO_HTTP);
}

/** Answers 417 to expectations other than 100-continue (RFC 9110, section 10.1.1); Node's own response has no body. */
function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ detail: `The expectation "${headers.expect}" cannot be met.` });
  response.writeHead(417, { ...HEADERS, "X-Request-Id": newId(), "Content-Length": Buffer.byteLength(body) }).end(body);
}

/** Refuses CONNECT: this server is not a proxy. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  respondOnSocket(socket, [405, "Method Not Allowed", 'Method "CONNECT" not allowed.']);
}

async function drain(server: Server, drainMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  // Closes idle connections; the others close after their response, which announces it in a header.
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}

/** `drainMs` is how long requests in flight may take while draining. */
export async function listen(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
  drainMs: number,
): Promise<HttpServer> {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Missing hosts are answered by the error handler: Node's own response has neither body nor id.
    requireHostHeader: false,
  });
  server.maxHeadersCount = MAX_HEADERS;
  server.setTimeout(SILENCE_MS);
  server.on("clientError", refuseMalformed).on("checkExpectation", refuseExpectation).on("connect", refuseTunnel);
  server.on("request", listener).listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(code === "EADDRINUSE" ? `port ${port} is in use; choose another with PORT=…` : message);
  }
  return { port: (server.address() as AddressInfo).port, drain: () => drain(server, drainMs) };
}
