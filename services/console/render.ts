/** Renders a page's answer to an HTML document with its security policy and, if the session changes, a cookie. */
import { domainToUnicode } from "node:url";
import nunjucks from "nunjucks";
import { config } from "../lib/config.ts";
import { isServiceError } from "../lib/errors.ts";
import { escapeHtml } from "../lib/escape-html.ts";
import { readableName } from "../lib/readable-name.ts";
import { CONSOLE_COOKIE, formToken, OPERATOR_COOKIE } from "../lib/tokens/console-session.ts";
import { iconName, iconsName, scriptNames, styleName, visualStyleName } from "./assets.ts";
import { browserWords } from "./browser-words.ts";
import { isForOperators, type RawResponse } from "./contract.ts";
import { helpOf } from "./help.ts";
import { listLink } from "./list-link.ts";
import { messages } from "./messages.ts";
import { type Navigation, navigationOf, operatorNavigation, ownNavigation } from "./navigation.ts";
import type { Answer, CompanyVisit, KeptForm, OperatorVisit, PersonVisit, Visit } from "./request.ts";
import { agoOf, shortOf, timeOf } from "./times.ts";

const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(`${import.meta.dirname}/views`), {
  autoescape: true,
  trimBlocks: true,
  lstripBlocks: true,
  throwOnUndefined: false,
});

environment.addGlobal("t", messages);
environment.addGlobal("icons", `/app/assets/${iconsName}`);
environment.addGlobal("listLink", listLink);

// Created at first use: loading the language data takes 30 ms.
let numbers: Intl.NumberFormat | undefined;
export function formatted(n: number): string {
  numbers ??= new Intl.NumberFormat("en");
  return numbers.format(n);
}
environment.addFilter("number", (n: number | null) => (n === null ? "–" : formatted(n)));
export const percentOf = (part: number | null, whole: number): string =>
  part === null || whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
environment.addFilter("percent", percentOf);
/**
 * Time zone of the page being rendered. A module variable, because rendering is synchronous and imported macros have no
 * access to the page's context.
 */
let zone = "UTC";
environment.addFilter("time", (iso: string | null) => timeOf(iso, zone));
/** Formats a relative time, with the exact one on hover. */
environment.addFilter("ago", (iso: string | null) => {
  if (iso === null || iso === undefined) return "–";
  const text = `<time datetime="${escapeHtml(iso)}" title="${escapeHtml(timeOf(iso, zone))}">${agoOf(iso, zone)}</time>`;
  return new nunjucks.runtime.SafeString(text);
});
/** Formats a clock time without a zone, for campaigns sent in the recipients' time zones. */
environment.addFilter("anywhere", shortOf);
environment.addFilter("browser", browserWords);
environment.addFilter("readable", readableName);
/** Shows an internationalised domain in its own script, as its owner writes it. */
environment.addFilter("domain", (name: string) => domainToUnicode(name) || name);
environment.addFilter("clock", (iso: string) => `${iso.slice(11, 19)} UTC`);

/** Forbids resources of other sites, inline scripts and styles, and framing. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Builds a cookie that is sent only to the console, or only to its operator pages. `Strict` keeps it off requests that
 * other sites start.
 */
export function cookieOf(value: string, { path }: Visit): string {
  const secure = config().BASE_URL.startsWith("https:") ? "; Secure" : "";
  const [name, below] = isForOperators(path) ? [OPERATOR_COOKIE, "/app/operator"] : [CONSOLE_COOKIE, "/app"];
  return `${name}=${value}; Path=${below}; HttpOnly; SameSite=Strict${secure}`;
}

type Titled = { 400: string; 403: string; 404: string; 409: string; 429: string; 503: string };
const STATUS: Record<string, keyof Titled> = {
  INVALID: 400,
  BAD_REQUEST: 400,
  WRONG_STATE: 400,
  FORBIDDEN: 403,
  EMAIL_QUOTA: 403,
  SUBSCRIBER_LIMIT: 403,
  MEDIA_QUOTA: 403,
  FEATURE_NOT_AVAILABLE: 403,
  NOT_FOUND: 404,
  INVALID_PAGE: 404,
  GONE: 404,
  CONFLICT: 409,
  DAILY_QUOTA: 429,
  SMTP_RATE_LIMITED: 429,
  THROTTLED: 429,
  UNAVAILABLE: 503,
};

/** Describes an error to the user; undefined for unexpected errors. */
export function problemOf(error: unknown): Answer | undefined {
  if (!isServiceError(error)) return undefined;
  const isInvalid = isServiceError(error, "INVALID");
  const isWrongAddress = isInvalid && Object.keys(error.data.fields).every((name) => name === "id");
  const status = isWrongAddress ? 404 : STATUS[error.code];
  if (!status) return undefined;
  const sentences =
    isInvalid && !isWrongAddress
      ? Object.values(error.data.fields).flat()
      : [status === 404 ? messages.problems.notFound : error.message];
  return { view: "problem", title: messages.problems[status], values: { sentences }, status };
}

const isWithin = (visit: Visit): visit is CompanyVisit => "company" in visit;
const isPersons = (visit: Visit): visit is PersonVisit => "user" in visit;
const isOperators = (visit: Visit): visit is OperatorVisit => "operator" in visit;

function navigationFor(visit: Visit): Navigation {
  if (isWithin(visit)) return navigationOf(visit);
  if (isOperators(visit)) return operatorNavigation(visit);
  return isPersons(visit) ? ownNavigation(visit) : { sections: [], trail: [] };
}

function homeOf(visit: Visit): string {
  if (isForOperators(visit.path)) return "/app/operator";
  return isWithin(visit) ? `/app/${visit.company.id}` : "/app/";
}

function withNotice({ goTo, notice }: { goTo: string; notice?: string }): string {
  return notice === undefined ? goTo : `${goTo}${goTo.includes("?") ? "&" : "?"}notice=${notice}`;
}

const noticeOf = ({ query: { notice = "" } }: Visit): string | undefined =>
  Object.hasOwn(messages.notices, notice) ? messages.notices[notice as keyof typeof messages.notices] : undefined;

export function render(answer: Answer, visit: Visit, headers: Record<string, string>, kept?: KeptForm): RawResponse {
  if ("content_type" in answer) return { ...answer, headers: { ...answer.headers, ...headers } };
  if ("goTo" in answer) {
    return {
      status: 303,
      content_type: "text/plain; charset=utf-8",
      body: "",
      headers: { location: withNotice(answer), ...headers },
    };
  }
  zone = isWithin(visit) ? visit.company.timezone : "UTC";
  const body = environment.render(`${answer.view}.njk`, {
    ...answer.values,
    title: answer.title,
    style: styleName,
    visualStyle: visualStyleName,
    favicon: iconName,
    scripts: scriptNames,
    notice: noticeOf(visit),
    navigation: navigationFor(visit),
    guide: helpOf(visit.path),
    formToken: formToken(visit.session),
    home: homeOf(visit),
    operator: isOperators(visit) ? visit.operator : undefined,
    path: visit.path,
    kept: kept && { ...kept, page: `/app/${visit.path}` },
    company: isWithin(visit) ? visit.company : undefined,
    user: isPersons(visit) ? visit.user : undefined,
    companies: isPersons(visit) ? visit.companies : [],
  });
  return {
    status: answer.status ?? 200,
    content_type: "text/html; charset=utf-8",
    body,
    headers: { "content-security-policy": POLICY, "cache-control": "no-store", ...headers },
  };
}
