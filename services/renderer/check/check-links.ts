/**
 * Checks the links of a template. Each hop goes through the SSRF guard and no body is read: a company's template must
 * neither reach a private network nor use memory. A link without an answer in time has no status.
 */
import type { IncomingMessage } from "node:http";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { config } from "../../lib/config.ts";
import { resolvePublic } from "../../lib/ssrf/guard.ts";
import { pinnedRequest } from "../../lib/ssrf/pinned-request.ts";

/** Limits, because the results stay readable and the servers belong to others. */
export const MAX_LINKS = 100;
const MAX_REDIRECTS = 5;
const LINK_MS = 10_000;

interface CheckedLink {
  url: string;
  /** Status of the last response; null without one. */
  status: number | null;
  ok: boolean;
}

/** Requests to other servers at a time. Their wait ends with the whole check's. */
const requests = new ConcurrencyLimit({ total: 40, perCompany: 10 });

async function head(url: URL, method: "GET" | "HEAD", signal: AbortSignal): Promise<IncomingMessage> {
  const [address] = await resolvePublic(url.hostname, { allowPrivate: config().ALLOW_PRIVATE_NETWORKS });
  const headers = { "user-agent": "Flockmail-Links/1.0", accept: "*/*" };
  const response = await pinnedRequest(url, address!, { method, headers, signal });
  response.on("error", () => {});
  response.destroy();
  return response;
}

/** Some servers do not support HEAD, and answer in many ways. */
async function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const answer = await head(url, "HEAD", signal).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET" || error.code?.startsWith("HPE_")) return undefined;
    throw error;
  });
  return answer && answer.statusCode! < 400 ? answer : head(url, "GET", signal);
}

const isWeb = (url: URL) => url.protocol === "http:" || url.protocol === "https:";

async function follow(link: string, signal: AbortSignal): Promise<Omit<CheckedLink, "url">> {
  let url = new URL(link);
  for (let redirects = 0; ; redirects++) {
    const { statusCode: status, headers } = await answerOf(url, signal);
    const { location } = headers;
    const isRedirect = status! >= 300 && status! < 400 && location !== undefined;
    if (!isRedirect) return { status: status!, ok: status! >= 200 && status! < 300 };
    if (redirects === MAX_REDIRECTS || !URL.canParse(location, url.href)) return { status: status!, ok: false };
    url = new URL(location, url);
    if (!isWeb(url)) return { status: status!, ok: false };
  }
}

async function check(companyId: string, url: string, end: AbortSignal): Promise<CheckedLink> {
  const none = { url, status: null, ok: false };
  const ask = async () => {
    if (end.aborted) return none;
    return { url, ...(await follow(url, AbortSignal.any([end, AbortSignal.timeout(LINK_MS)]))) };
  };
  return requests.run(companyId, ask, { budget: {} }).catch(() => none);
}

/** Checks each URL once, in order. Stops with `end`, even if URLs remain. */
export const checkLinks = (companyId: string, links: readonly string[], end: AbortSignal): Promise<CheckedLink[]> =>
  Promise.all([...new Set(links)].slice(0, MAX_LINKS).map((url) => check(companyId, url, end)));
