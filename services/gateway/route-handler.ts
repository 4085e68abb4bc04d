/** Turns one row of routes.ts into a Koa handler: throttle, credentials, parameters, company, action, response. */
import type { CallingOptions } from "moleculer";
import type { ActionContract } from "../define.ts";
import type { Caller } from "../lib/caller.ts";
import type { Release } from "../lib/concurrency-limit.ts";
import { downloadFrom } from "../lib/download.ts";
import { isServiceError, notFound } from "../lib/errors.ts";
import { MAX_REQUEST_WAIT_MS, type WaitBudget } from "../lib/owner.ts";
import type { Permission } from "../lib/rights.ts";
import type { Document, DownloadPage } from "../lib/shapes.ts";
import { admit } from "./access/admission.ts";
import { type Authentication, callerOfKey, type Identity } from "./access/authentication.ts";
import { companyReader } from "./access/company-of-request.ts";
import type { DailyQuota } from "./access/daily-quota.ts";
import { throttle } from "./access/throttle.ts";
import { BODY_LIMITS, type BodyLimits } from "./http/body-cost.ts";
import { type Context, httpOf } from "./http/context.ts";
import { deviceOf } from "./http/device-cookie.ts";
import { prefersHtml } from "./http/error-handler.ts";
import { withUpload } from "./http/multipart-upload.ts";
import { formReader, type Params, pathNames, pathReader, propertiesOf, queryReader } from "./http/params.ts";
import { problemOf } from "./http/problems.ts";
import { type BodyBounds, mediaTypeOf, readForm, readJson, readRaw } from "./http/request-body.ts";
import { responseWriter } from "./http/response.ts";
import type { SharedBudget, UploadBudgets } from "./http/shared-budget.ts";
import { unknownFieldsOf } from "./http/unknown-fields.ts";
import { feedOf, type ProgressStreams } from "./progress-streams.ts";
import type { Route } from "./routes.ts";

export interface RouteDeps {
  broker: { call(action: string, params: unknown, options: CallingOptions): Promise<unknown> };
  authentication: Authentication;
  quota: DailyQuota;
  bodyBudget: SharedBudget;
  uploadBudgets: UploadBudgets;
  streams: ProgressStreams;
  baseUrl: string;
  routes: readonly Route[];
  permissionOf: (action: string) => Permission | undefined;
  maxUploadBytes: Record<NonNullable<Route["upload"]>, number>;
}

/** Importing a gigabyte takes minutes, and the client waits for the result. */
export const UPLOAD_TIMEOUT_MS = 15 * 60_000;

/** Retries of reads. With Moleculer's growing delays (0.1 s, 0.2 s …) they outlast a restart of NATS. */
const READ_RETRIES = 3;

/** All parameters, and the subset from the body. */
interface Read {
  params: Params;
  body?: Params | undefined;
}

type ReadBody = (context: Context, bounds: BodyBounds) => Params | Promise<Params>;

const limitsOf = ({ access, path, body }: Route): BodyLimits => {
  if (!body && (access === "public" || path.startsWith("/api/auth/"))) return BODY_LIMITS.small;
  return BODY_LIMITS[body ?? "ordinary"];
};

const isJson = (context: Context) => mediaTypeOf(context) === "application/json";
const readIfJson: ReadBody = (context, bounds) => (isJson(context) ? readJson(context, bounds) : {});

/** Undefined for requests whose body is ignored. */
function bodyReader(route: Route): ReadBody | undefined {
  if (route.method === "GET" || (route.method === "DELETE" && !route.deleteBody)) return undefined;
  if (route.upload) return route.orJson ? readIfJson : undefined;
  const { rawWith } = route;
  if (rawWith) return (context, bounds) => readRaw(context, bounds, rawWith);
  // Mailbox providers must never be refused: an unreadable body counts as empty.
  if (route.anyBody) return (context, bounds) => readForm(context, bounds).catch(() => ({}));
  return route.path.startsWith("/api/emails/public/") ? readForm : readJson;
}

/** Sends take the key from the header; a body field with this name is ignored. */
function setIdempotencyKey(context: Context, params: Params): void {
  const key = context.req.headers["idempotency-key"];
  if (key === undefined) delete params.idempotency_key;
  else params.idempotency_key = key;
}

/** A path value that the schema refuses names nothing that exists, so the answer is 404. */
function notFoundIfInPath(error: unknown, names: string[]): unknown {
  if (!isServiceError(error, "INVALID")) return error;
  return names.some((name) => name in error.data.fields) ? notFound() : error;
}

/** The action that reads the resource which a PATCH or PUT would change. */
function readingAction({ method, path, access }: Route, routes: readonly Route[]): string | undefined {
  if (access === "public" || (method !== "PATCH" && method !== "PUT")) return undefined;
  return routes.find((other) => other.method === "GET" && other.path === path)?.action;
}

/** The owner whose memory share a body uses. */
const ownerOf = ({ state }: Context, identity: Identity | undefined): string =>
  identity?.key?.companyId ?? identity?.person?.userId ?? state.ip;

/** Undefined for routes without a company. */
function requiredPermission({ access, action }: Route, deps: RouteDeps): Permission | undefined {
  if (access !== "company" && access !== "user") return undefined;
  const permission = deps.permissionOf(action);
  if (!permission) throw new Error(`${action} has no line in the table of permissions`);
  if ((access === "user") !== (permission.scopes.length === 0)) {
    throw new Error(`${action} is for people only in one of routes.ts and permissions.ts`);
  }
  return permission;
}

/** True for a page's form: the person should see what was wrong. */
const isPersonsForm = (context: Context): boolean =>
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/.test(mediaTypeOf(context) ?? "") &&
  prefersHtml(context);

export function routeHandler(route: Route, contract: ActionContract, deps: RouteDeps) {
  if (contract.visibility) throw new Error(`${route.action} is ${contract.visibility}: no route may lead to it`);
  const { broker, authentication, quota } = deps;
  const permission = requiredPermission(route, deps);
  const readPath = pathReader(route, contract);
  const readQuery = queryReader(route, contract);
  const readBody = bodyReader(route);
  const readUploadFields = formReader(contract);
  const unknownFields = unknownFieldsOf(route, contract);
  const limits = limitsOf(route);
  const company = companyReader(route, contract);
  const writeResponse = responseWriter(route, deps.baseUrl);
  const names = pathNames(route.path);
  const reading = readingAction(route, deps.routes);
  const takesIdempotencyKey = "idempotency_key" in propertiesOf(contract);

  const isJsonInstead = (context: Context) => route.orJson === true && isJson(context);

  /** A key's call is charged as soon as the key is verified: requests with errors cost a call, too. */
  async function chargeKey(context: Context, { key }: Identity): Promise<void> {
    if (!key) return;
    const { companyId, apiKeyId } = key;
    context.state.companyId = companyId;
    await quota.charge(context, { companyId, apiKeyId, requestId: context.state.requestId });
  }

  function noted(caller: Caller, context: Context): Caller {
    caller.requestId = context.state.requestId;
    caller.ip = context.state.ip;
    context.state.companyId = caller.companyId;
    return caller;
  }

  async function callerIn(companyId: string, context: Context, identity: Identity): Promise<Caller> {
    if (identity.key) return noted(callerOfKey(companyId, identity.key), context);
    const caller = noted(await authentication.callerIn(companyId, identity, permission!), context);
    await quota.charge(context, caller);
    return caller;
  }

  // Reads are safe to repeat on another node after one died.
  const retries = route.method === "GET" && route.access !== "public" ? READ_RETRIES : 0;

  /** Returns the signed-in person on routes without a company. */
  function personOf(context: Context): Promise<Caller> | undefined {
    const { access } = route;
    const isSignedIn = access === "person" || (access === "anyone" && context.req.headers.authorization !== undefined);
    return isSignedIn ? authentication.personOf(context) : undefined;
  }

  async function callFirst(action: string, { state }: Context, path: Params): Promise<void> {
    await broker.call(action, path, { requestID: state.requestId }).catch((error: unknown) => {
      throw notFoundIfInPath(error, names);
    });
  }

  function watch(context: Context, companyId: string, first: unknown): void {
    const allowed = async () => {
      const identity = await authentication.identifyAgain(context, permission!);
      return authentication.callerIn(companyId, identity, permission!);
    };
    const params = readPath(context);
    deps.streams.open(context, feedOf(broker, { companyId, action: route.action, params, allowed }), first);
  }

  /** Streams a result of several pages as one response. */
  async function wholeAnswer(result: unknown, params: Params, options: CallingOptions): Promise<unknown> {
    if (route.answer === "csv") {
      return downloadFrom(broker, { action: route.action, params }, options, result as DownloadPage);
    }
    const { body_from, ...document } = (route.answer === "bytes" ? result : {}) as Partial<Document>;
    return body_from ? { ...document, body: await downloadFrom(broker, body_from, options) } : result;
  }

  async function run(context: Context, { params, body }: Read, meta: Caller, more: CallingOptions): Promise<void> {
    // Reported together with the action's own errors (mixins/ajv-validator.ts).
    const unknown = unknownFields?.(context, body) ?? {};
    const refused = Object.keys(unknown).length > 0 ? { refused: unknown } : {};
    const options = { meta: { ...meta, ...refused }, requestID: context.state.requestId, retries, ...more };
    try {
      const result = await broker.call(route.action, params, options);
      if (route.answer === "events") return watch(context, meta.companyId!, result);
      await writeResponse(context, await wholeAnswer(result, params, options), params);
    } catch (error) {
      // A missing resource is a 404 whatever the body says; errors of the body are reported only for existing
      // resources.
      if (reading && isServiceError(error, "INVALID"))
        await broker.call(reading, readPath(context), { ...options, meta });
      throw notFoundIfInPath(error, names);
    }
  }

  async function upload(context: Context, read: Read, meta: Caller, path: Params): Promise<void> {
    // The response may start long after the last byte of the request.
    context.req.socket.setTimeout(0);
    const owner = meta.companyId!;
    const space = { maxBytes: deps.maxUploadBytes[route.upload!], budgets: deps.uploadBudgets, owner, budget: meta };
    await withUpload(context, space, async ({ params: file, stream }) => {
      const release = await admit(context, owner, meta);
      const params = { ...read.params, ...readUploadFields(file), ...path };
      const options = { stream, timeout: UPLOAD_TIMEOUT_MS } as CallingOptions;
      await run(context, { params, body: file }, meta, options).finally(release);
    });
  }

  /** Uploads are admitted once their body has arrived: a client may send it for an hour. */
  const admitIdentified = (context: Context, identity: Identity | undefined, budget: WaitBudget) =>
    identity && (!route.upload || isJsonInstead(context))
      ? admit(context, ownerOf(context, identity), budget)
      : undefined;

  /** Admitted after reading: slow bodies from strangers must not use up the limit of a company's public form. */
  const admitForm = (context: Context, { company_id: companyId }: Params, budget: WaitBudget) =>
    route.access === "public" && typeof companyId === "string"
      ? admit(context, `form ${companyId}`, budget)
      : undefined;

  const deviceIn = (context: Context) => {
    const device = route.deviceCookie ? deviceOf(context) : undefined;
    return device ? { device } : {};
  };

  /** Undefined for errors that the form cannot show, such as an unknown company. */
  async function formAgain(context: Context, error: unknown): Promise<Document | undefined> {
    const isInvalid = isServiceError(error, "INVALID");
    if (!isInvalid && !isServiceError(error, "THROTTLED")) return undefined;
    const { typed = {} } = context.state;
    const { list_id } = typed;
    const params = {
      ...readPath(context),
      ...(typeof list_id === "string" ? { list_id } : {}),
      typed,
      errors: isInvalid ? error.data.fields : {},
      busy: !isInvalid,
      status: isInvalid ? 400 : 429,
    };
    const options = { meta: { http: httpOf(context) }, requestID: context.state.requestId };
    return (await broker.call(route.formAgain!, params, options).catch(() => undefined)) as Document | undefined;
  }

  const handle = async (context: Context): Promise<void> => {
    context.state.route = route.path;
    const overLimit = route.throttle && (await throttle(context, route.throttle));
    const identity = permission && (await authentication.identify(context, permission));
    if (identity) await chargeKey(context, identity);
    const person = await personOf(context);
    const path = readPath(context);
    if (route.first) await callFirst(route.first, context, path);
    const budget: WaitBudget = { waitLeftMs: MAX_REQUEST_WAIT_MS };
    let release: Release | undefined = await admitIdentified(context, identity, budget);
    const reservation = readBody && deps.bodyBudget.open(ownerOf(context, identity));
    try {
      const known = identity?.person && company.beforeBody(path, context);
      const early = known && (await callerIn(known, context, identity));
      const body = reservation && (await readBody!(context, { limits, reservation }));
      release ??= await admitForm(context, path, budget);
      if (route.formAgain && body) context.state.typed = body;
      const params: Params = { ...readQuery(context), ...body, ...path };
      if (takesIdempotencyKey) setIdempotencyKey(context, params);
      const caller = identity && (early || (await callerIn(company.of(identity, params, context), context, identity)));
      const meta: Caller = caller ?? {
        ...person,
        requestId: context.state.requestId,
        http: { ...httpOf(context), overLimit, ...deviceIn(context) },
      };
      meta.waitLeftMs = budget.waitLeftMs;
      const read = { params, body };
      await (route.upload && !isJsonInstead(context)
        ? upload(context, read, meta, path)
        : run(context, read, meta, {}));
    } finally {
      reservation?.release();
      release?.();
    }
  };

  if (!route.formAgain) return handle;
  return async (context: Context): Promise<void> => {
    try {
      await handle(context);
    } catch (error) {
      const document = isPersonsForm(context) ? await formAgain(context, error) : undefined;
      if (!document) throw error;
      context.set(problemOf(error, context.state.requestId).headers);
      await writeResponse(context, document, {});
    }
  };
}
