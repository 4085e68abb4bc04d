/** Sends one request to a checked address, without redirects. */
import { type IncomingMessage, type OutgoingHttpHeaders, request as plainRequest } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { fail } from "../tracing/span.ts";
import { beginPart } from "../tracing/tracer.ts";
import type { PinnedAddress } from "./guard.ts";

interface RequestOptions {
  method: "GET" | "HEAD";
  headers?: OutgoingHttpHeaders;
  signal: AbortSignal;
}

/** External hosts get no `traceparent`, and the span contains no URL, which may contain tokens. */
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

/** Resolves with the response once its headers are received. The caller must read or destroy its body. */
export function pinnedRequest(url: URL, address: PinnedAddress, asked: RequestOptions): Promise<IncomingMessage> {
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
      // A keep-alive connection would outlive its single request.
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
