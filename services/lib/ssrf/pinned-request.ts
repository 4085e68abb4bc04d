/** One request to an address that the guard has checked: connects there and nowhere else, and follows no redirect. */
import { type IncomingMessage, type OutgoingHttpHeaders, request as plainRequest } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { fail } from "../tracing/span.ts";
import { beginPart } from "../tracing/tracer.ts";
import type { PinnedAddress } from "./guard.ts";

interface Asked {
  method: "GET" | "HEAD";
  headers?: OutgoingHttpHeaders;
  signal: AbortSignal;
}

/** The strangers asked here are sent no `traceparent`, and the span names nobody: an address may hold tokens. */
function partOf(method: string): { over(status?: number): void } {
  const attributes = { "http.request.method": method };
  const span = beginPart({ name: `outbound ${method}`, kind: SpanKind.CLIENT, attributes });
  return {
    over(status) {
      if (!span) return;
      if (status === undefined) fail(span, "no_answer");
      else span.setAttribute("http.response.status_code", status);
      span.end();
    },
  };
}

/** The answer once its headers are there. Whoever gets it reads its body, or destroys it. */
export function pinnedRequest(url: URL, address: PinnedAddress, asked: Asked): Promise<IncomingMessage> {
  const { method, headers = {}, signal } = asked;
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isPlain = url.protocol === "http:";
  const ask = isPlain ? plainRequest : request;
  const part = partOf(method);
  return new Promise((resolve, reject) => {
    ask({
      method,
      host: address.address,
      family: address.family,
      port: url.port || (isPlain ? 80 : 443),
      path: `${url.pathname}${url.search}`,
      ...(isIP(hostname) ? {} : { servername: hostname }),
      headers: { ...headers, host: url.host },
      // A kept connection would outlive the one request that it is for.
      agent: false,
      signal,
    })
      .on("response", (response) => {
        part.over(response.statusCode);
        resolve(response);
      })
      .on("error", (error) => {
        part.over();
        reject(error);
      })
      .end();
  });
}
