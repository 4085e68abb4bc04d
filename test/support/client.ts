/**
 * HTTP as a customer speaks it, for tests: `client(app, { key }).get("/api/emails/lists/")`. Every response of the whole
 * suite is held against the OpenAPI document on its way (test/support/conformance.ts); one that is not in it throws.
 */
import { randomInt } from "node:crypto";
import { query } from "../../models/database/db.ts";
import { checkResponse } from "./conformance.ts";

/** What JSON.parse gives: tests look into it freely, the conformance check has seen its shape. */
type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed where the answer is JSON, else undefined. */
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
  /** Address that the gateway believes the request comes from; throttles count by it. */
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

/** An address of the range for documentation that no other call of this run is likely to get. */
export const someIp = () => `2001:db8:${[0, 0, 0, 0].map(() => randomInt(65_536).toString(16)).join(":")}::1`;

/** FormData with one file, as uploads want it. */
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

/** `path` may be absolute, as `next` and links in mails are: the path behind BASE_URL counts. */
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

/** `base` holds for each request unless that one says otherwise. */
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
  const no = ++companies;
  const email = `owner-${process.pid}-${no}@example.com`;
  const password = "correct horse battery";
  const anyone = client(app, { ip: someIp() });
  const registered = await anyone.post("/api/auth/register/", {
    email,
    password,
    company_name: options.name ?? `Company ${no}`,
  });
  if (registered.status !== 201) throw new Error(`Register answered ${registered.status}: ${registered.text}`);
  const { user, company, access: token } = registered.body;
  const made = await anyone.post(`/api/companies/${company.id}/api-keys/`, { name: "test" }, { token });
  if (made.status !== 201) throw new Error(`Creating a key answered ${made.status}: ${made.text}`);
  const { key } = made.body;
  if (options.plan) await query("update companies set plan = $2 where id = $1", [company.id, options.plan]);
  return { id: company.id, key, token, userId: user.id, email, password, api: client(app, { key }) };
}
