/**
 * A typed client of the API: a method for each operation, named by its operationId.
 *
 *     const flockmail = createClient({ baseUrl: "https://mail.lantern.example", apiKey: "fm_…" });
 *     const list = await flockmail.createList({ body: { name: "Readers" } });
 *     for await (const subscriber of each(flockmail.listSubscribers, { query: { list: list.id } })) …
 *
 * It adds an Idempotency-Key to sends and repeats requests if that is safe (retry.ts). Any other failure is thrown as an
 * ApiError.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type OperationEntry, type Operations, operations } from "./generated.ts";
import { isRepeatable, pauseMs } from "./retry.ts";

export type OperationId = keyof Operations;
type RequestOf<O extends OperationId> = Operations[O]["request"];
type AnswerOf<O extends OperationId> = Operations[O]["answer"];

export interface CallOptions {
  /** Idempotency key of a send, for repeating it; each call gets a new one by default. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Optional if no part of the request is required. */
type Call<O extends OperationId> =
  Record<string, never> extends RequestOf<O>
    ? (request?: RequestOf<O>, options?: CallOptions) => Promise<AnswerOf<O>>
    : (request: RequestOf<O>, options?: CallOptions) => Promise<AnswerOf<O>>;

export type Client = { readonly [O in OperationId]: Call<O> };

export interface ClientOptions {
  baseUrl: string;
  /** API key or token; neither for public operations. */
  apiKey?: string;
  token?: string;
  /** Timeout of one attempt. Default: 30,000. */
  timeoutMs?: number;
  /** Attempts after the first one. Default: 4. */
  maxRetries?: number;
  /** If `Retry-After` asks for more, the answer is thrown at once. Default: 60,000. */
  maxPauseMs?: number;
  /** Called before each pause. */
  onRetry?: (reason: string, pauseMs: number) => void;
}

/** Any answer that is not a success. */
export class ApiError extends Error {
  readonly status: number;
  /** Parsed if it is JSON. */
  readonly body: unknown;
  /** The id of the request in the service's log. */
  readonly requestId: string | null;

  constructor(operation: string, response: Response, text: string) {
    super(`${operation} was answered ${response.status}: ${text.slice(0, 2_000)}`);
    this.name = "ApiError";
    this.status = response.status;
    this.body = parsed(text);
    this.requestId = response.headers.get("x-request-id");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Values = Record<string, unknown>;
interface Given {
  path?: Values;
  query?: Values;
  body?: Values;
}

function urlOf(baseUrl: string, template: string, { path = {}, query = {} }: Given): string {
  const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]));
  const text = new URLSearchParams(pairs).toString();
  return `${baseUrl.replace(/\/$/, "")}${url}${text === "" ? "" : `?${text}`}`;
}

function formOf(fields: Values): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof File) form.set(name, value, value.name);
    else if (value instanceof Blob) form.set(name, value);
    else if (value !== undefined) form.set(name, String(value));
  }
  return form;
}

const hasFile = (body: Values) => Object.values(body).some((value) => value instanceof Blob);

function answerOf(entry: OperationEntry, response: Response): Promise<unknown> {
  switch (response.status === 204 ? "none" : entry.answer) {
    case "json":
      return response.json();
    case "text":
      return response.text();
    case "bytes":
      return response.blob();
    default:
      return response.arrayBuffer().then(() => null);
  }
}

class Caller {
  readonly #options: Required<Omit<ClientOptions, "apiKey" | "token" | "onRetry">> & ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { timeoutMs: 30_000, maxRetries: 4, maxPauseMs: 60_000, ...options };
  }

  async call(operation: OperationId, given: Given = {}, options: CallOptions = {}): Promise<unknown> {
    const entry = operations[operation];
    const headers: Record<string, string> = { accept: "application/json, */*;q=0.5" };
    if (this.#options.apiKey) headers["x-api-key"] = this.#options.apiKey;
    if (this.#options.token) headers.authorization = `Bearer ${this.#options.token}`;
    if (entry.takesKey) headers["idempotency-key"] = options.idempotencyKey ?? randomUUID();
    let body: FormData | string | undefined;
    if (given.body) {
      const isForm = entry.form && hasFile(given.body);
      body = isForm ? formOf(given.body) : JSON.stringify(given.body);
      if (!isForm) headers["content-type"] = "application/json";
    }
    const url = urlOf(this.#options.baseUrl, entry.path, given);
    for (let retries = 0; ; retries++) {
      const outcome = await this.#attempt(url, { method: entry.method, headers, body }, options.signal);
      if (outcome instanceof Response && outcome.ok) return answerOf(entry, outcome);
      const pause = this.#pauseAfter(entry, outcome, retries);
      if (pause === null) throw outcome instanceof Response ? await this.#error(operation, outcome) : outcome;
      const reason = outcome instanceof Response ? `answered ${outcome.status}` : outcome.message;
      if (outcome instanceof Response) await outcome.body?.cancel();
      this.#options.onRetry?.(`${operation}: ${reason}`, pause);
      await sleep(pause, undefined, options.signal ? { signal: options.signal } : {});
    }
  }

  /** Returns network failures; throws the caller's own abort. */
  async #attempt(url: string, init: RequestInit, signal?: AbortSignal): Promise<Response | Error> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      return await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    } catch (error) {
      signal?.throwIfAborted();
      return error as Error;
    }
  }

  #pauseAfter(entry: OperationEntry, outcome: Response | Error, retries: number): number | null {
    if (retries >= this.#options.maxRetries || !isRepeatable(entry, outcome)) return null;
    const pause = pauseMs(outcome, retries);
    return pause > this.#options.maxPauseMs ? null : pause;
  }

  async #error(operation: string, response: Response): Promise<ApiError> {
    return new ApiError(operation, response, await response.text());
  }
}

export function createClient(options: ClientOptions): Client {
  const caller = new Caller(options);
  const methods = Object.keys(operations).map((id) => {
    const operation = id as OperationId;
    return [operation, (given?: Given, more?: CallOptions) => caller.call(operation, given, more)];
  });
  return Object.fromEntries(methods) as Client;
}

interface Page<Row> {
  next?: string | null;
  results: Row[];
}

/** All rows of a list, page by page. */
export async function* each<Row, const Given extends { query?: object }>(
  list: (request: Given, options?: CallOptions) => Promise<Page<Row>>,
  request: Given,
  options?: CallOptions,
): AsyncGenerator<Row> {
  for (let place: { cursor?: string } = {}; ; ) {
    const { results, next } = await list({ ...request, query: { ...request.query, ...place } }, options);
    yield* results;
    if (!next) return;
    place = { cursor: new URL(next).searchParams.get("cursor")! };
  }
}
