/**
 * Serves /app/: passes requests on to the console's actor and returns its documents. The API never accepts the session
 * cookie, and the console accepts nothing else.
 */
import type { CallingOptions } from "moleculer";
import { call } from "../call.ts";
import { isForOperators, type RawResponse, uploadKindOf } from "../console/contract.ts";
import type { Caller } from "../lib/caller.ts";
import { downloadFrom } from "../lib/download.ts";
import { notFound, unauthenticated } from "../lib/errors.ts";
import { escapeHtml } from "../lib/escape-html.ts";
import { isUuid } from "../lib/ids.ts";
import { MAX_REQUEST_WAIT_MS, type WaitBudget } from "../lib/owner.ts";
import { CONSOLE_COOKIE, OPERATOR_COOKIE, readSession } from "../lib/tokens/console-session.ts";
import { admit } from "./access/admission.ts";
import { throttleLink, throttleLogin } from "./access/throttle.ts";
import { consoleFiles, writePage } from "./console-files.ts";
import { consoleProgress, isProgressPath } from "./console-progress.ts";
import { BODY_LIMITS } from "./http/body-cost.ts";
import { type Context, httpOf, type Next } from "./http/context.ts";
import { cookieNamed } from "./http/cookies.ts";
import { htmlPage } from "./http/html-page.ts";
import { withUpload } from "./http/multipart-upload.ts";
import { HttpRefusal } from "./http/problems.ts";
import { mediaTypeOf, readForm } from "./http/request-body.ts";
import { writeDocument } from "./http/response.ts";
import { type RouteDeps, UPLOAD_TIMEOUT_MS } from "./route-handler.ts";

type ConsoleDeps = Pick<
  RouteDeps,
  "broker" | "bodyBudget" | "uploadBudgets" | "maxUploadBytes" | "authentication" | "streams" | "permissionOf"
>;

interface PageRequest {
  path: string;
  query: Record<string, string>;
  cookie?: string;
  isPoll?: boolean;
  wantsJson?: boolean;
}

const ROOT = "/app";
const ASSETS = "/app/assets/";

/** Keeps the last value of repeated fields and drops values that are not text. */
function texts(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return typeof last === "string" ? [[name, last]] : [];
    }),
  );
}

/**
 * Returns the person of the session, even if it has ended; undefined for strangers, whose requests must not contain
 * files.
 */
const personOf = ({ cookie }: PageRequest) =>
  cookie === undefined ? undefined : readSession(cookie, { alsoEnded: true })?.person;

/**
 * Body limits: small for strangers, except for a company's form, which is kept through the sign-in also if the cookie
 * is gone (console/kept-form.ts).
 */
const limitsFor = (asked: PageRequest) =>
  personOf(asked) || asked.path === "login" || isUuid(asked.path.split("/", 1)[0]!)
    ? BODY_LIMITS.ordinary
    : BODY_LIMITS.small;

/** Guesses of passwords and mailed links count together with those through the API. */
const THROTTLES: Record<string, (context: Context) => Promise<void>> = {
  login: throttleLogin,
  "operator/sign-in": throttleLogin,
  "login/invitation": throttleLogin,
  "sign-up": throttleLogin,
  forgotten: throttleLink,
  verify: throttleLink,
  reset: throttleLink,
  invitation: throttleLink,
};

/**
 * Makes the browser repeat a request that came from another site without the cookie (`SameSite=Strict`). Otherwise a
 * link from elsewhere would look like a sign-out.
 */
function askAgain(context: Context): void {
  const { pathname, search } = new URL(context.url, "http://console.invalid");
  const here = escapeHtml(pathname + search);
  context.type = "html";
  context.set({ "Cache-Control": "no-store", Refresh: "0" });
  context.body = htmlPage("One moment", `<h1>One moment</h1>\n<p><a href="${here}">Continue</a></p>`);
}

interface Options {
  meta: Caller;
  requestID: string;
}

/** Requests of a person count against the person's concurrency limit until they are answered. */
async function admitted(
  context: Context,
  asked: PageRequest,
  meta: WaitBudget,
  work: () => Promise<RawResponse>,
): Promise<RawResponse> {
  const person = personOf(asked);
  if (!person) return work();
  const release = await admit(context, person.userId, meta);
  return work().finally(release);
}

const comesFromElsewhere = (context: Context): boolean => context.get("sec-fetch-site") === "cross-site";

export function consolePages(deps: ConsoleDeps) {
  const { broker, bodyBudget, uploadBudgets, maxUploadBytes } = deps;
  const progress = consoleProgress(deps);

  async function submit(context: Context, asked: PageRequest, options: Options): Promise<RawResponse> {
    const person = personOf(asked);
    const reservation = bodyBudget.open(person?.userId ?? context.state.ip);
    try {
      const form = texts(await readForm(context, { limits: limitsFor(asked), reservation }));
      const header = context.get("x-csrf-token");
      const params = { ...asked, form, ...(header ? { formToken: header } : {}) };
      return await admitted(context, asked, options.meta, () => call(broker, "console.submit", params, options));
    } finally {
      reservation.release();
    }
  }

  async function upload(context: Context, asked: PageRequest, options: Options): Promise<RawResponse> {
    const kind = uploadKindOf(asked.path);
    const person = personOf(asked);
    if (!kind) throw notFound();
    if (!person) throw unauthenticated();
    // The response may start long after the last byte of the request.
    context.req.socket.setTimeout(0);
    const budget = options.meta;
    const space = { maxBytes: maxUploadBytes[kind], budgets: uploadBudgets, owner: person.userId, budget };
    return withUpload(context, space, ({ params: { filename, content_type, size, ...form }, stream }) => {
      const file = { filename: `${filename}`, content_type: `${content_type}`, size: Number(size) };
      const more = { ...options, stream, timeout: UPLOAD_TIMEOUT_MS } as CallingOptions;
      const params = { ...asked, form: texts(form), ...file };
      return admitted(context, asked, budget, () => call(broker, "console.upload", params, more));
    });
  }

  async function write(context: Context, { as, body_from, ...shown }: RawResponse, requestID: string): Promise<void> {
    if (!body_from) return writePage(context, shown);
    const body = await downloadFrom(broker, body_from, { meta: as ?? {}, requestID });
    writeDocument(context, { ...shown, body: body as unknown as Buffer });
  }

  const writeAsset = consoleFiles(broker);
  const isFile = (context: Context) => mediaTypeOf(context) === "multipart/form-data";

  async function answer(context: Context): Promise<void> {
    const { path, method } = context;
    context.state.route = "/app/";
    const { requestId } = context.state;
    const meta: Caller = { requestId, http: httpOf(context), waitLeftMs: MAX_REQUEST_WAIT_MS };
    const options = { meta, requestID: requestId };
    if (path.startsWith(ASSETS)) {
      return writeAsset(context, path.slice(ASSETS.length), options);
    }
    const below = path.slice(ROOT.length).replace(/^\/|\/$/g, "");
    const cookie = cookieNamed(context, isForOperators(below) ? OPERATOR_COOKIE : CONSOLE_COOKIE);
    const request = {
      path: below,
      query: texts(context.query),
      ...(cookie === undefined ? {} : { cookie }),
      ...(context.get("x-poll") === "" ? {} : { isPoll: true }),
      ...(context.get("accept") === "application/json" ? { wantsJson: true } : {}),
    };
    if (method === "GET" && isProgressPath(request.path)) return progress(context, request.path, cookie);
    if (method === "POST") {
      if (Object.hasOwn(THROTTLES, request.path)) await THROTTLES[request.path]!(context);
      await write(context, await (isFile(context) ? upload : submit)(context, request, options), requestId);
    } else if (method === "GET" || method === "HEAD") {
      if (cookie === undefined && comesFromElsewhere(context)) return askAgain(context);
      const page = () => call(broker, "console.page", request, options);
      await write(context, await admitted(context, request, meta, page), requestId);
    } else throw new HttpRefusal(405, `Method "${method}" not allowed.`, { Allow: "GET, HEAD, POST" });
  }

  return (context: Context, next: Next): Promise<void> => {
    const { path } = context;
    return path === ROOT || path.startsWith(`${ROOT}/`) ? answer(context) : next();
  };
}
