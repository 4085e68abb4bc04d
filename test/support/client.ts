/**
 * HTTP client of a customer, for tests: `client(app, { key }).get("/api/emails/lists/")`. Checks every response of the
 * suite against the OpenAPI document (test/support/conformance.ts) and throws on a difference.
 */
import { randomInt } from "node:crypto";
import { query } from "../../models/database/db.ts";
import { checkResponse } from "./conformance.ts";

/** The type of JSON.parse: tests access any field, because the conformance check has validated the shape. */
type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined for other responses. */
  body: Json;
  text: string;
  bytes: Buffer;
}

export interface Credentials {
  key?: string;
  token?: string;
}

export interface RequestOptions extends Credentials {
  headers?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  /** The address from which the gateway sees the request; rate limits count by it. */
  ip?: string;
}

type Body = FormData | URLSearchParams | Buffer | string | object | undefined;

export interface Client {
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: Body, options?: RequestOptions): Promise<Answer>;
  put(path: string, body?: Body, options?: RequestOptions): Promise<Answer>;
  patch(path: string, body?: Body, options?: RequestOptions): Promise<Answer>;
  delete(path: string, options?: RequestOptions): Promise<Answer>;
  request(method: string, path: string, body?: Body, options?: RequestOptions): Promise<Answer>;
}

interface Served {
  url: string;
}

/** A documentation address that hardly any other call of this run gets. */
export const someIp = () => `2001:db8:${[0, 0, 0, 0].map(() => randomInt(65_536).toString(16)).join(":")}::1`;

/** FormData with one file, as uploads expect it. */
export function fileForm(
  content: string | Uint8Array<ArrayBuffer>,
  filename: string,
  fields: Record<string, string> = {},
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([content]), filename);
  return form;
}

const isRaw = (body: Body): body is FormData | URLSearchParams | Buffer | string =>
  body instanceof FormData || body instanceof URLSearchParams || Buffer.isBuffer(body) || typeof body === "string";

/** `path` may be an absolute URL, such as `next` or a link in a mail; the part after BASE_URL is used. */
function target(app: Served, path: string, query: RequestOptions["query"] = {}): URL {
  const url = new URL(path.replace(/^https?:\/\/[^/]+/, ""), app.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return url;
}

async function send(app: Served, method: string, path: string, body: Body, options: RequestOptions): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (options.key) headers["X-API-Key"] = options.key;
  if (options.token) headers.Authorization = `Bearer ${options.token}`;
  if (options.ip) headers["X-Forwarded-For"] = options.ip;
  if (body !== undefined && !(body instanceof FormData) && !(body instanceof URLSearchParams)) {
    headers["Content-Type"] = "application/json";
  }
  const url = target(app, path, options.query);
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...options.headers },
    body: body === undefined || isRaw(body) ? body : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(50_000),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "");
  const text = bytes.toString();
  const answer = {
    status: response.status,
    headers: response.headers,
    body: isJson && bytes.length > 0 ? (JSON.parse(text) as Json) : undefined,
    text,
    bytes,
  };
  checkResponse(method, url.pathname, answer);
  return answer;
}

/** `base` applies to each request that does not override it. */
export function client(app: Served, base: RequestOptions = {}): Client {
  const request: Client["request"] = (method, path, body, options = {}) =>
    send(app, method, path, body, {
      ...base,
      ...options,
      headers: { ...base.headers, ...options.headers },
      query: { ...base.query, ...options.query },
    });
  return {
    request,
    get: (path, options) => request("GET", path, undefined, options),
    post: (path, body, options) => request("POST", path, body, options),
    put: (path, body, options) => request("PUT", path, body, options),
    patch: (path, body, options) => request("PATCH", path, body, options),
    delete: (path, options) => request("DELETE", path, undefined, options),
  };
}

export interface TestCompany {
  id: string;
  /** API key, and the owner's access token. */
  key: string;
  token: string;
  userId: string;
  email: string;
  password: string;
  /** A client that uses the key. */
  api: Client;
}

let companies = 0;

/** Registers a company through the API, with its owner and an API key. */
export async function newCompany(app: Served, options: { plan?: string; name?: string } = {}): Promise<TestCompany> {
  const n = ++companies;
  const email = `owner-${process.pid}-${n}@example.com`;
  const password = "correct horse battery";
  const anyone = client(app, { ip: someIp() });
  const registered = await anyone.post("/api/auth/register/", {
    email,
    password,
    company_name: options.name ?? `Company ${n}`,
  });
  if (registered.status !== 201) throw new Error(`Register answered ${registered.status}: ${registered.text}`);
  const { user, company, access: token } = registered.body;
  const response = await anyone.post(`/api/companies/${company.id}/api-keys/`, { name: "test" }, { token });
  if (response.status !== 201) throw new Error(`Creating a key answered ${response.status}: ${response.text}`);
  const { key } = response.body;
  if (options.plan) await query("update companies set plan = $2 where id = $1", [company.id, options.plan]);
  return { id: company.id, key, token, userId: user.id, email, password, api: client(app, { key }) };
}
