/** Sends a company's request to the API, each from a new address. */
import { randomBytes } from "node:crypto";

export interface Answer {
  status: number;
  json: { id?: string } | undefined;
}

const TIMEOUT_MS = 120_000;

export const someIp = () => `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`;

export async function ask(
  { url, key }: { url: string; key: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const headers: Record<string, string> = { "X-Forwarded-For": someIp() };
  if (!path.startsWith("public/")) headers["X-API-Key"] = key;
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  const response = await fetch(`${url}${path.startsWith("/") ? path : `/api/emails/${path}`}`, {
    method,
    headers,
    body: body === undefined || isForm ? body : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text.length < 1_000_000;
  return { status: response.status, json: isJson ? JSON.parse(text) : undefined };
}
