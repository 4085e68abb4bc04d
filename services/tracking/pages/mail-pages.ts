/** The pages that links in a mail lead to: unsubscribe, view in the browser, confirm. GET only shows; a POST acts. */
import { queryOne, transaction } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { mailOf } from "../../../models/statements/mail-key.ts";
import { call, emitWebhookQueued } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { type Caller, type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { gone, notFound } from "../../lib/errors.ts";
import type { Document } from "../../lib/shapes.ts";
import { readPersonToken } from "../../lib/tokens/person-token.ts";
import { json, page, problemPage, wantsJson } from "./page.ts";
import { type PageCompany, pageCompany } from "./page-company.ts";
import { type UnsubscribeMethod, unsubscribePerson } from "./unsubscribe-person.ts";

interface Mail {
  company_id: string;
  campaign_id: string;
  email: string;
}

interface UnsubscribeValues extends Record<string, unknown> {
  company: PageCompany;
  email: string;
}

const RECIPIENT = `
  select c.company_id, c.id as campaign_id, coalesce(e.email, s.email) as email
  from sent_emails e join campaigns c on c.no = e.campaign_no
  left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
  where e.campaign_no = $1 and e.seq = $2`;

/**
 * The id stands in place of credentials: it is all that the link carries, and nobody can guess one. Of an erased person
 * nothing is known.
 */
async function recipientOf(id: string): Promise<Mail | undefined> {
  const { campaign_no, seq } = await mailOf(id);
  const mail = await queryOne<Mail>(RECIPIENT, [campaign_no, seq]);
  return mail?.email === "" ? undefined : mail;
}

/** The id opens this mail and its unsubscribe for as long as the mail is kept, and must hand out nothing that opens more. */
async function unsubscribeValues({ company_id, email }: Mail): Promise<UnsubscribeValues> {
  return { company: await pageCompany(company_id), email };
}

export async function unsubscribePage(ctx: Ctx<ParamsOf<"tracking.unsubscribePage">>): Promise<Document> {
  const mail = await recipientOf(ctx.params.sent_email_id);
  if (!mail) throw notFound();
  requireOwnHost(ctx.meta, mail.company_id);
  return page("unsubscribe", ctx.meta.http, await unsubscribeValues(mail));
}

const methodOf = (params: ParamsOf<"tracking.unsubscribe">): UnsubscribeMethod =>
  params.from === "page" && params["List-Unsubscribe"] === undefined ? "page" : "one_click";

/** A success: whom the link was for gets nothing any more, and mailbox providers hold a failed one-click against the sender. */
const nobodyToUnsubscribe = (http: Caller["http"]) =>
  wantsJson(http) ? json({ detail: "Nobody gets emails by this link." }) : problemPage(404, http, 200);

/**
 * Never refused, never throttled, and the second time changes nothing. A wish for no more mail holds on whatever host it
 * comes, also on one that has passed to another company since; that company's host just says nothing of whose mail it was.
 */
export async function unsubscribe(ctx: Ctx<ParamsOf<"tracking.unsubscribe">>): Promise<Document> {
  const { sent_email_id: sentEmailId } = ctx.params;
  const mail = await recipientOf(sentEmailId);
  if (!mail) return nobodyToUnsubscribe(ctx.meta.http);
  const { company_id: companyId, campaign_id: campaignId, email } = mail;
  const person = { companyId, campaignId, sentEmailId, email, method: methodOf(ctx.params) };
  const unsubscribing = () => transaction((client) => unsubscribePerson(client, person), { owner: companyId });
  await emitWebhookQueued(ctx, await retryOnConflict(unsubscribing));
  const { http } = ctx.meta;
  if (http?.hostOf && http.hostOf !== companyId) return json({ detail: "Unsubscribed." });
  if (wantsJson(http)) return json({ detail: "Unsubscribed.", email });
  return page("unsubscribed", http, await unsubscribeValues(mail));
}

// The mail's HTML is the tenant's, on the service's own address: the policy gives it pictures and styles and nothing else,
// and `sandbox` an origin of its own that can reach nothing of ours.
const VIEW_CSP = [
  "default-src 'none'",
  "img-src https: http: data:",
  "media-src https: http:",
  "font-src https: http: data:",
  "style-src 'unsafe-inline' https: http:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation",
].join("; ");

export async function view(ctx: Ctx<{ sent_email_id: string }>): Promise<Document> {
  const { html, companyId } = await call(ctx, "renderer.renderView", { sentEmailId: ctx.params.sent_email_id });
  requireOwnHost(ctx.meta, companyId);
  return {
    content_type: "text/html; charset=utf-8",
    body: html,
    headers: {
      "content-security-policy": VIEW_CSP,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex",
      "cache-control": "no-store",
    },
  };
}

/** After a public form; the same whoever the address belongs to. */
export async function subscribedPage(
  ctx: Ctx<{ company_id: string; email: string; asks_to_confirm: boolean }>,
): Promise<Document> {
  const { company_id, email, asks_to_confirm: asksToConfirm } = ctx.params;
  const company = await pageCompany(company_id);
  return { ...page("subscribed", ctx.meta.http, { company, email, asksToConfirm }), status: 201 };
}

export async function confirmPage(ctx: Ctx<{ token: string }>): Promise<Document> {
  const person = readPersonToken("confirm", ctx.params.token);
  if (!person) throw notFound();
  const { companyId, subscriberId, expired } = person;
  requireOwnHost(ctx.meta, companyId);
  const sql = "select email from subscribers where company_id = $1 and id = $2";
  const found = await queryOne<{ email: string }>(sql, [companyId, subscriberId]);
  if (!found) throw notFound();
  if (expired) throw gone("This link has expired. Please subscribe again.");
  return page("confirm", ctx.meta.http, { company: await pageCompany(companyId), email: found.email });
}

export async function confirm(ctx: Ctx<{ token: string }>): Promise<Document> {
  const person = readPersonToken("confirm", ctx.params.token);
  if (person) requireOwnHost(ctx.meta, person.companyId);
  const { company_id, email } = await call(ctx, "subscribers.confirm", { token: ctx.params.token });
  if (wantsJson(ctx.meta.http)) return json({ detail: "Subscription confirmed.", email });
  return page("confirmed", ctx.meta.http, { company: await pageCompany(company_id), email });
}
