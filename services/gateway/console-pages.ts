/**
 * What stands below /app/: passes requests on to the console's actor and its documents back. The API never takes the
 * session's cookie, and the console takes nothing else.
 */
import { call } from "../call.ts";
import { CONSOLE_COOKIE } from "../lib/tokens/console-session.ts";
import { throttleLogin } from "./access/throttle.ts";
import { BODY_LIMITS } from "./http/body-cost.ts";
import { type Context, httpOf, type Next } from "./http/context.ts";
import { cookieNamed } from "./http/cookies.ts";
import { HttpRefusal } from "./http/problems.ts";
import { readForm } from "./http/request-body.ts";
import { writeDocument } from "./http/response.ts";
import type { ResourceRouter } from "./http/router.ts";
import type { SharedBudget } from "./http/shared-budget.ts";

interface ConsoleDeps {
  broker: Parameters<typeof call>[0];
  bodyBudget: SharedBudget;
}

const ROOT = "/app";
const ASSETS = "/app/assets/";

/** The last of those that a form sends twice; what is no text is left out. */
function texts(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return typeof last === "string" ? [[name, last]] : [];
    }),
  );
}

export function consolePages({ broker, bodyBudget }: ConsoleDeps, router: ResourceRouter) {
  async function submit(
    context: Context,
    asked: { path: string; query: Record<string, string>; cookie?: string },
    options: object,
  ) {
    const reservation = bodyBudget.open(context.state.ip);
    try {
      const form = texts(await readForm(context, { limits: BODY_LIMITS.small, reservation }));
      const header = context.get("x-csrf-token");
      return await call(
        broker,
        "console.submit",
        { ...asked, form, ...(header ? { formToken: header } : {}) },
        options,
      );
    } finally {
      reservation.release();
    }
  }

  return async (context: Context, next: Next): Promise<void> => {
    const { path, method } = context;
    const isConsole = path === ROOT || path.startsWith(`${ROOT}/`);
    // The pages that links of system mail lead to.
    if (!isConsole || router.has(path) || router.has(`${path}/`)) return next();
    context.state.route = "/app/";
    const { requestId } = context.state;
    const options = { meta: { requestId, http: httpOf(context) }, requestID: requestId };
    if (path.startsWith(ASSETS)) {
      writeDocument(context, await call(broker, "console.asset", { name: path.slice(ASSETS.length) }, options));
      return;
    }
    const cookie = cookieNamed(context, CONSOLE_COOKIE);
    const asked = {
      path: path.slice(ROOT.length).replace(/^\/|\/$/g, ""),
      query: texts(context.query),
      ...(cookie === undefined ? {} : { cookie }),
    };
    if (method === "POST" && asked.path === "login") await throttleLogin(context);
    if (method === "POST") writeDocument(context, await submit(context, asked, options));
    else if (method === "GET" || method === "HEAD")
      writeDocument(context, await call(broker, "console.page", asked, options));
    else throw new HttpRefusal(405, `Method "${method}" not allowed.`, { Allow: "GET, HEAD, POST" });
  };
}
