/** Operations on a campaign, each with the numbers of its effect. */
import { type CampaignStatus, isFinished } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { newId } from "../../lib/ids.ts";
import { requirePermission } from "../../permissions.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, download, may, type Outcome } from "../request.ts";
import { campaignId } from "./campaign-place.ts";

type Campaign = ReturnsOf<"campaigns.get">;

const t = messages.campaigns;

const mails = (n: number): string => t.mails(n, formatted(n));
const people = (n: number): string => t.people(n, formatted(n));

type Name = "stop" | "resume" | "cancel" | "duplicate" | "resend" | "delete";

export interface Operation {
  name: Name;
  button: string;
  hint: string;
  path: string;
  /** Cannot be undone, so it needs a confirmation. */
  isFinal: boolean;
  /** Idempotency key: submitting the same form again has no effect. */
  key?: string;
}

const FINAL: readonly Name[] = ["cancel", "delete", "resend"];

const CAN_BE_SENT_AGAIN: readonly CampaignStatus[] = ["completed", "partial", "failed"];

/** `retryable`: recipients to whom a resume would send. */
export function operationsOf(visit: CompanyVisit, campaign: Campaign, retryable: number): Operation[] {
  const { status, total_emails, sent_count, opens, clicks } = campaign;
  // People who clicked have read the mail even if the open pixel was not loaded.
  const readers = Math.max(opens ?? 0, clicks ?? 0);
  const rows = [
    {
      name: "stop",
      action: "campaigns.stop",
      fits: status === "pending" || status === "sending",
      hint: sent_count > 0 ? t.stopHint : t.stopAllHint,
    },
    {
      name: "resume",
      action: "campaigns.resume",
      fits: retryable > 0,
      hint: t.resumeHint(mails(retryable)),
    },
    {
      name: "cancel",
      action: "campaigns.cancel",
      fits: status === "scheduled",
      hint: t.cancelHint(mails(total_emails)),
    },
    { name: "duplicate", action: "campaigns.duplicate", fits: true, hint: t.duplicateHint },
    {
      name: "resend",
      action: "campaigns.resend",
      // Non-openers are unknown without individual tracking.
      fits: CAN_BE_SENT_AGAIN.includes(status) && opens !== null && sent_count > readers,
      hint: t.resendHint(people(sent_count - readers)),
    },
    { name: "delete", action: "campaigns.remove", fits: isFinished(status), hint: t.deleteHint(mails(total_emails)) },
  ] as const;
  return rows
    .filter(({ fits, action }) => fits && may(visit, action))
    .map(({ name, hint }) => ({
      name,
      hint,
      button: t[name],
      path: companyPath(visit, `campaigns/${campaign.id}/${name}`),
      isFinal: FINAL.includes(name),
      ...(name === "resend" ? { key: newId() } : {}),
    }));
}

const toCampaign = (visit: CompanyVisit, id: string) => companyPath(visit, `campaigns/${id}`);

export async function stopCampaign(visit: CompanyVisit): Promise<Answer> {
  const { id } = await callIn(visit, "campaigns.stop", { id: visit.params.id! });
  return { goTo: toCampaign(visit, id) };
}

export async function resumeCampaign(visit: CompanyVisit): Promise<Answer> {
  const { id } = await callIn(visit, "campaigns.resume", { id: visit.params.id! });
  return { goTo: toCampaign(visit, id), notice: "campaignResumed" };
}

export async function cancelCampaign(visit: CompanyVisit): Promise<Answer> {
  const { id } = await callIn(visit, "campaigns.cancel", { id: visit.params.id! });
  return { goTo: toCampaign(visit, id), notice: "campaignCancelled" };
}

export async function duplicateCampaign(visit: CompanyVisit): Promise<Answer> {
  const { id } = await callIn(visit, "campaigns.duplicate", { id: visit.params.id! });
  return { goTo: companyPath(visit, `campaigns/drafts/${id}`), notice: "draftMade" };
}

export async function resendCampaign(visit: CompanyVisit): Promise<Outcome | Answer> {
  const { subject = "", key = "" } = visit.form;
  const resent = await callIn(visit, "campaigns.resend", {
    id: visit.params.id!,
    to: "non_openers",
    ...(subject.trim() === "" ? {} : { subject }),
    ...(key === "" ? {} : { idempotency_key: key }),
  });
  return { goTo: toCampaign(visit, resent.id), notice: "campaignMade" };
}

export async function deleteCampaign(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "campaigns.remove", { id: visit.params.id! });
  return { goTo: companyPath(visit, "campaigns"), notice: "deleted" };
}

const fileNameOf = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60);

export async function exportCampaign(visit: CompanyVisit): Promise<Answer> {
  requirePermission("campaigns.export", { role: visit.company.role });
  const { id, name } = await callIn(visit, "campaigns.get", { id: campaignId(visit) });
  return download(visit, "campaigns.export", { id }, `${fileNameOf(name) || "campaign"}-recipients.csv`);
}
