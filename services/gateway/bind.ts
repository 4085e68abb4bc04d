/** Turns one row of routes.ts into a Koa handler: who asks, what, may she, the action's answer. */
import type { CallingOptions } from "moleculer";
import type { ActionContract } from "../define.ts";
import type { Caller } from "../lib/caller.ts";
import { isApiError, notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";
import { answerer } from "./answer.ts";
import type { Authentication, Identity } from "./auth.ts";
import { readAny, readForm, readJson } from "./body.ts";
import { companyReader } from "./company.ts";
import { type Exchange, httpOf } from "./exchange.ts";
import { type Params, pathNames, pathReader, propertiesOf, queryReader } from "./params.ts";
import type { DailyQuota } from "./quota.ts";
import type { Route } from "./routes.ts";
import { isOverLimit } from "./throttle.ts";
import { withUpload } from "./upload.ts";

export interface Tools {
  broker: { call(action: string, params: unknown, options: CallingOptions): Promise<unknown> };
  authentication: Authentication;
  quota: DailyQuota;
  baseUrl: string;
  routes: readonly Route[];
  maxUploadBytes: Record<NonNullable<Route["upload"]>, number>;
}

/** An import of a gigabyte takes minutes, and its client waits for the result. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;

type ReadBody = (exchange: Exchange) => Params | Promise<Params>;

function bodyReader(route: Route): ReadBody {
  if (route.method === "GET" || route.method === "DELETE" || route.upload) return () => ({});
  if (route.anyBody) return readAny;
  return route.path.startsWith("/api/emails/public/") ? readForm : readJson;
}

/** The header of the sends (extension); the field of the same name in a body means nothing. */
function setIdempotencyKey(exchange: Exchange, params: Params): void {
  const key = exchange.req.headers["idempotency-key"];
  if (key === undefined) delete params.idempotency_key;
  else params.idempotency_key = key;
}

const isInvalid = (error: unknown) => isApiError(error) && error.type === "INVALID";

/** A value of the path that the action's schema refuses names nothing that exists. */
function inPath(error: unknown, names: string[]): unknown {
  if (!isApiError(error) || !isInvalid(error)) return error;
  return names.some((name) => name in error.data.body) ? notFound() : error;
}

/** The action that reads what a PATCH or PUT would change. */
function readerOf({ method, path, access }: Route, routes: readonly Route[]): string | undefined {
  if (access === "public" || (method !== "PATCH" && method !== "PUT")) return undefined;
  return routes.find((other) => other.method === "GET" && other.path === path)?.action;
}

export function handlerOf(route: Route, contract: ActionContract, tools: Tools) {
  const { broker, authentication, quota } = tools;
  const readPath = pathReader(route, contract);
  const readQuery = queryReader(route, contract);
  const readBody = bodyReader(route);
  const companyOf = companyReader(route, contract);
  const answer = answerer(route, tools.baseUrl);
  const names = pathNames(route.path);
  const reader = readerOf(route, tools.routes);
  const takesIdempotencyKey = "idempotency_key" in propertiesOf(contract);

  /** A key's call is charged as soon as the key is known: what is wrong with the rest of the request costs a call too. */
  async function identify(exchange: Exchange): Promise<Identity | undefined> {
    if (route.access === "public") return undefined;
    const identity = await authentication.identify(exchange, route.access);
    const { requestId } = exchange.state;
    if (identity.key) {
      const { companyId, apiKeyId } = identity.key;
      await quota.charge(exchange, { companyId, apiKeyId, requestId });
    }
    return identity;
  }

  async function callerOf(exchange: Exchange, identity: Identity, params: Params): Promise<Caller> {
    const caller = await authentication.callerIn(companyOf(identity, params, exchange), identity);
    caller.requestId = exchange.state.requestId;
    if (identity.person) await quota.charge(exchange, caller);
    return caller;
  }

  async function run(exchange: Exchange, params: Params, meta: Caller, more: CallingOptions): Promise<void> {
    const options = { meta, requestID: exchange.state.requestId, ...more };
    try {
      const result = await broker.call(route.action, params, options);
      const from = route.answer === "bytes" ? (result as Document).body_from : undefined;
      const body = from && { body: await broker.call(from.action, from.params, options) };
      await answer(exchange, body ? { ...(result as Document), ...body } : result, params);
    } catch (error) {
      // What does not exist is 404 whatever the body (spec 5.5), and only then is a body worth a word.
      if (reader && isInvalid(error)) await broker.call(reader, readPath(exchange), options);
      throw inPath(error, names);
    }
  }

  return async (exchange: Exchange): Promise<void> => {
    exchange.state.route = route.path;
    const overLimit = await isOverLimit(exchange, route);
    const identity = await identify(exchange);
    const path = readPath(exchange);
    const params = { ...readQuery(exchange), ...(await readBody(exchange)), ...path };
    if (takesIdempotencyKey) setIdempotencyKey(exchange, params);
    const meta: Caller = identity
      ? await callerOf(exchange, identity, params)
      : { requestId: exchange.state.requestId, http: { ...httpOf(exchange), overLimit } };
    if (!route.upload) return run(exchange, params, meta, {});
    // The answer may come long after the last byte of the request.
    exchange.req.socket.setTimeout(0);
    await withUpload(exchange, tools.maxUploadBytes[route.upload], ({ params: file, stream }) =>
      run(exchange, { ...params, ...file, ...path }, meta, { stream, timeout: UPLOAD_TIMEOUT_MS } as CallingOptions),
    );
  };
}
