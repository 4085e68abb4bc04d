/** Unsubscribing: the page asks, a POST does it. Never refused, never throttled, and the second time changes nothing. */
import { queryOne, transaction } from "../../models/database/db.ts";
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import { emitWebhookQueued } from "../call.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Caller, Ctx } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import { json, page, problemPage, wantsJson } from "./pages/page.ts";
import { type PageCompany, pageCompany } from "./pages/page-company.ts";
import { type UnsubscribeMethod, unsubscribePerson } from "./unsubscribed-event.ts";

interface Mail {
  company_id: string;
  campaign_id: string;
  email: string;
  subscriber_id: string | null;
}

interface Shown extends Record<string, unknown> {
  company: PageCompany;
  email: string;
  preferencesUrl: string | null;
}

/** The id stands in place of credentials (spec 5.6): it is all that the link carries. */
const mailOf = (id: string) =>
  queryOne<Mail>("select company_id, campaign_id, email, subscriber_id from sent_emails where id = $1", [id]);

async function shown({ company_id, email, subscriber_id }: Mail): Promise<Shown> {
  const token = subscriber_id && personToken("preferences", company_id, subscriber_id);
  return {
    company: await pageCompany(company_id),
    email,
    preferencesUrl: token && `${config().BASE_URL}/api/emails/public/preferences/${token}/`,
  };
}

export async function unsubscribePage(ctx: Ctx<ParamsOf<"tracking.unsubscribePage">>): Promise<Document> {
  const mail = await mailOf(ctx.params.sent_email_id);
  if (!mail) throw notFound();
  return page("unsubscribe", ctx.meta.http, await shown(mail));
}

const methodOf = (params: ParamsOf<"tracking.unsubscribe">): UnsubscribeMethod =>
  params.from === "page" && params["List-Unsubscribe"] === undefined ? "page" : "one_click";

/** Whom the link was for gets nothing any more, which is all that is asked: providers count a one-click that fails. */
const nobody = (http: Caller["http"]) =>
  wantsJson(http) ? json({ detail: "Nobody gets emails by this link." }) : problemPage(404, http, 200);

export async function unsubscribe(ctx: Ctx<ParamsOf<"tracking.unsubscribe">>): Promise<Document> {
  const { sent_email_id: sentEmailId } = ctx.params;
  const mail = await mailOf(sentEmailId);
  if (!mail) return nobody(ctx.meta.http);
  const { company_id: companyId, campaign_id: campaignId, email } = mail;
  const person = { companyId, campaignId, sentEmailId, email, method: methodOf(ctx.params) };
  await emitWebhookQueued(ctx, await retryOnConflict(() => transaction((client) => unsubscribePerson(client, person))));
  if (wantsJson(ctx.meta.http)) return json({ detail: "Unsubscribed.", email });
  return page("unsubscribed", ctx.meta.http, await shown(mail));
}
