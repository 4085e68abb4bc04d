/** Pages that links in a message lead to: unsubscribe, view in browser, confirm. GET only shows; POST acts. */
import { type Client, queryOne, transaction } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { mailOf } from "../../../models/statements/mail-key.ts";
import { call, emitWebhookQueued } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { type Caller, type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { badRequest, gone, notFound } from "../../lib/errors.ts";
import type { Document } from "../../lib/shapes.ts";
import { readPersonToken } from "../../lib/tokens/person-token.ts";
import { leaveList, listToLeave } from "./leave-list.ts";
import { mailDocument } from "./mail-document.ts";
import { json, page, problemPage, wantsJson } from "./page.ts";
import { type PageCompany, pageCompany } from "./page-company.ts";
import { settleMail, type UnsubscribeMethod, unsubscribePerson } from "./unsubscribe-person.ts";

interface Mail {
  company_id: string;
  campaign_id: string;
  email: string;
}

interface UnsubscribeValues extends Record<string, unknown> {
  company: PageCompany;
  email: string;
}

type Unsubscribe = ParamsOf<"tracking.unsubscribe">;

const RECIPIENT = `
  select c.company_id, c.id as campaign_id, coalesce(e.email, s.email) as email
  from sent_emails e join campaigns c on c.no = e.campaign_no
  left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
  where e.campaign_no = $1 and e.seq = $2`;

/** The unguessable id is the only credential in the link. Erased persons are unknown. */
async function recipientOf(id: string): Promise<Mail | undefined> {
  const { campaign_no, seq } = await mailOf(id);
  const mail = await queryOne<Mail>(RECIPIENT, [campaign_no, seq]);
  return mail?.email === "" ? undefined : mail;
}

/** The id gives access to this message and its unsubscribe only, and must not reveal further credentials. */
async function unsubscribeValues({ company_id, email }: Mail): Promise<UnsubscribeValues> {
  return { company: await pageCompany(company_id), email };
}

export async function unsubscribePage(ctx: Ctx<ParamsOf<"tracking.unsubscribePage">>): Promise<Document> {
  const mail = await recipientOf(ctx.params.sent_email_id);
  if (!mail) throw notFound();
  requireOwnHost(ctx.meta, mail.company_id);
  return askToUnsubscribe(ctx, mail);
}

const askToUnsubscribe = async (ctx: Ctx, mail: Mail): Promise<Document> =>
  page("unsubscribe", ctx.meta.http, { ...(await unsubscribeValues(mail)), list: await listToLeave(mail) });

const methodOf = (params: Unsubscribe): UnsubscribeMethod =>
  params.from === "page" && params["List-Unsubscribe"] === undefined ? "page" : "one_click";

/**
 * Returns whether a request is about one list. One-click requests always mean everything that the company sends,
 * whatever else they contain.
 */
const isAboutListOnly = (params: Unsubscribe): boolean =>
  params["List-Unsubscribe"] === undefined && (params.only_this_list === true || params.only_this_list === "true");

/**
 * Answers with success: the recipient gets nothing any more, and mailbox providers count a failed one-click against the
 * sender.
 */
const nobodyToUnsubscribe = (http: Caller["http"]) =>
  wantsJson(http) ? json({ detail: "This link belongs to nobody who gets emails." }) : problemPage(404, http, 200);

/**
 * Never refused or throttled, and idempotent. Works on every host, even on one that belongs to another company now,
 * whose page then hides the recipient.
 */
export async function unsubscribe(ctx: Ctx<Unsubscribe>): Promise<Document> {
  const { sent_email_id: sentEmailId } = ctx.params;
  const mail = await recipientOf(sentEmailId);
  if (!mail) return nobodyToUnsubscribe(ctx.meta.http);
  if (isAboutListOnly(ctx.params)) return leave(ctx, mail);
  const { company_id: companyId, campaign_id: campaignId, email } = mail;
  const person = { companyId, campaignId, sentEmailId, email, method: methodOf(ctx.params) };
  const unsubscribing = () => transaction((client) => unsubscribePerson(client, person), { owner: companyId });
  await emitWebhookQueued(ctx, await retryOnConflict(unsubscribing));
  const { http } = ctx.meta;
  if (http?.hostOf && http.hostOf !== companyId) return json({ detail: "Unsubscribed." });
  if (wantsJson(http)) return json({ detail: "Unsubscribed.", email });
  return page("unsubscribed", http, await unsubscribeValues(mail));
}

/**
 * Writes no suppression and no event: the person stays subscribed to everything else, and a later one-click of the same
 * message still means everything.
 */
async function leave(ctx: Ctx<Unsubscribe>, mail: Mail): Promise<Document> {
  const { company_id: companyId, email } = mail;
  const { http } = ctx.meta;
  const leaving = async (client: Client) => ({
    companyIds: await settleMail(client, companyId, ctx.params.sent_email_id),
    list: await leaveList(client, mail),
  });
  const { companyIds, list } = await retryOnConflict(() => transaction(leaving, { owner: companyId }));
  await emitWebhookQueued(ctx, companyIds);
  if (!list) {
    if (wantsJson(http)) throw badRequest("This mail was not sent to a list, so nothing was changed.");
    requireOwnHost(ctx.meta, companyId);
    return askToUnsubscribe(ctx, mail);
  }
  const detail = "Unsubscribed from the list.";
  if (http?.hostOf && http.hostOf !== companyId) return json({ detail });
  if (wantsJson(http)) return json({ detail, email });
  return page("left-list", http, { ...(await unsubscribeValues(mail)), list: list.name ?? undefined });
}

export async function view(ctx: Ctx<{ sent_email_id: string }>): Promise<Document> {
  const { html, companyId } = await call(ctx, "renderer.renderView", { sentEmailId: ctx.params.sent_email_id });
  requireOwnHost(ctx.meta, companyId);
  const document = mailDocument(html);
  return { ...document, headers: { ...document.headers, "x-robots-tag": "noindex", "cache-control": "no-store" } };
}

/** Page after a public form; the same for every address. */
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
