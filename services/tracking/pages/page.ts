/** Renders the public pages: plain HTML without scripts, cookies or external resources. */
import nunjucks from "nunjucks";
import type { Caller, Ctx } from "../../lib/caller.ts";
import { isServiceError } from "../../lib/errors.ts";
import { catalogueFor, parseAccept } from "../../lib/i18n/languages.ts";
import { PAGE_CSS, pageCsp } from "../../lib/page-style/page-style.ts";
import type { Document } from "../../lib/shapes.ts";
import type { PageCompany } from "./page-company.ts";

const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), {
  autoescape: true,
  trimBlocks: true,
  lstripBlocks: true,
});

/** Inserts values for `{…}`, isolated (bidi), so that a Latin address does not break an Arabic sentence. */
environment.addFilter("fill", function (this: { ctx: Record<string, unknown> }, text: string): string {
  const { company, email, list } = this.ctx as Pick<Values, "company" | "email" | "list">;
  const values: Record<string, string | undefined> = { company: company?.name, email, list };
  return text.replace(/\{(\w+)\}/g, (_, name: string) => `\u2068${values[name] ?? ""}\u2069`);
});

const headers = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  vary: "Accept, Accept-Language",
};

type PageName =
  | "unsubscribe"
  | "unsubscribed"
  | "confirm"
  | "confirmed"
  | "change-address"
  | "changed-address"
  | "preferences"
  | "subscribed"
  | "subscribe"
  | "left-list"
  | "archive";

type Http = Caller["http"];

interface Values {
  company?: PageCompany;
  email?: string;
  list?: string | undefined;
  [name: string]: unknown;
}

/** `framed`: shown inside a page of the console. */
interface Use {
  status?: number;
  framed?: boolean;
  /** Further origins that the page's form may redirect to. */
  leadsTo?: string | undefined;
}

function html(
  template: string,
  http: Http,
  values: Values,
  { status = 200, framed = false, leadsTo }: Use = {},
): Document {
  const { company } = values;
  const t = catalogueFor(http?.acceptLanguage ?? "", company?.language);
  const body = environment.render(`${template}.njk`, { ...values, t, css: PAGE_CSS });
  const policy = pageCsp({ css: company?.css, imageSource: company?.logo?.source, framed, leadsTo });
  return {
    status,
    content_type: "text/html; charset=utf-8",
    body,
    headers: {
      ...headers,
      "content-security-policy": policy,
      "content-language": t.code,
      ...(framed ? { "x-frame-options": "SAMEORIGIN" } : {}),
    },
  };
}

export const page = (name: PageName, http: Http, values: Values, use: Use = {}) => html(name, http, values, use);

/** Page for an invalid or expired link. */
export function problemPage(reason: 404 | 410, http: Http, status: number = reason): Document {
  const { problem } = catalogueFor(http?.acceptLanguage ?? "");
  const [title, sentence] =
    reason === 410 ? [problem.expiredTitle, problem.expired] : [problem.missingTitle, problem.missing];
  return html("problem", http, { title, sentence }, { status });
}

export const json = (body: unknown, status = 200): Document => ({
  status,
  content_type: "application/json; charset=utf-8",
  body: JSON.stringify(body),
  headers: { "cache-control": "no-store", vary: "Accept" },
});

/** Browsers accept HTML; programs accept JSON, or anything if they send JSON. */
export function wantsJson(http: Http): boolean {
  const weight = (type: string) => parseAccept(http?.accept ?? "").find(({ tag }) => tag === type)?.weight ?? 0;
  const [asJson, asHtml] = [weight("application/json"), weight("text/html")];
  if (asJson !== asHtml) return asJson > asHtml;
  return asJson > 0 ? false : (http?.contentType ?? "").startsWith("application/json") || http?.method === "PUT";
}

type PageHandler<P> = (ctx: Ctx<P>) => Promise<Document>;

/** Shows errors as a page in the reader's language, or as JSON to programs. */
export const withProblemPage =
  <P>(handler: PageHandler<P>): PageHandler<P> =>
  async (ctx) => {
    try {
      return await handler(ctx);
    } catch (error) {
      const status = isServiceError(error, "NOT_FOUND") ? 404 : isServiceError(error, "GONE") ? 410 : undefined;
      const acceptsHtml = (ctx.meta.http?.accept ?? "").includes("text/html");
      if (!status || !acceptsHtml || wantsJson(ctx.meta.http)) throw error;
      return problemPage(status, ctx.meta.http);
    }
  };
