/**
 * Lists one recipient's history in chronological order: lists with the address, sent mails, the server's answers, opens
 * and clicks, suppressions. Also explains why somebody got nothing, such as a missing confirmation or a suppressed
 * domain.
 */
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { mailOf } from "../../models/statements/mail-key.ts";
import type { Ctx } from "../lib/caller.ts";
import { isUuid } from "../lib/ids.ts";
import { waitingSteps } from "./campaign-progress.ts";
import {
  copiesOf,
  copiesTo,
  copySteps,
  eventStep,
  eventsOf,
  inOrder,
  MAX_ROWS,
  type Mail,
  mailNumbered,
  mailSteps,
  mailsTo,
  type Step,
} from "./mail-steps.ts";

const INBOUND = `
  select co.name company, m.via, m.result, m.bounce_type, m.reason, m.diagnostic, m.received_at
  from companies co cross join lateral (
    select * from inbound_messages where company_id = co.id and lower(recipient) = lower($1)
    order by id desc limit ${MAX_ROWS}) m
  order by m.id desc limit ${MAX_ROWS}`;

// A domain covers its subdomains.
const SUPPRESSIONS = `
  select co.name company, s.kind, coalesce(s.email, s.domain) blocked, s.reason, s.created_at
  from companies co cross join lateral (
    select * from suppressions where company_id = co.id and email_key = address_key($1)
    union
    select * from suppressions where company_id = co.id and domain = any(domains_of(address_key($1)))
  ) s order by s.id limit ${MAX_ROWS}`;

const SUBSCRIBERS = `
  select co.name company, p.status, p.email, p.created_at
  from companies co join subscribers p on p.company_id = co.id and p.email_key = address_key($1)
  order by p.id limit ${MAX_ROWS}`;

/** Bounces, complaints and replies about the address, including those without effect. */
async function inboundSteps(address: string): Promise<Step[]> {
  type Row = Record<"company" | "via" | "result", string> &
    Record<"bounce_type" | "reason" | "diagnostic", string | null> & { received_at: Date };
  const rows = await query<Row>(INBOUND, [address]);
  return rows.map(({ company, via, result, bounce_type, reason, diagnostic, received_at }) => ({
    at: received_at.toISOString(),
    what: `inbound message (${result})`,
    detail: [`by ${via} to ${company}`, bounce_type, reason, diagnostic].filter(Boolean).join("; "),
  }));
}

async function blocks(address: string): Promise<Step[]> {
  const rows = await query<{ company: string; kind: string; blocked: string; reason: string; created_at: Date }>(
    SUPPRESSIONS,
    [address],
  );
  return rows.map(({ company, kind, blocked, reason, created_at }) => ({
    at: created_at.toISOString(),
    what: `suppressed (${kind})`,
    detail: [`${blocked} at ${company}`, reason].filter(Boolean).join(": "),
  }));
}

async function knownAs(address: string): Promise<Step[]> {
  const rows = await query<{ company: string; status: string; email: string; created_at: Date }>(SUBSCRIBERS, [
    address,
  ]);
  return rows.map(({ company, status, email, created_at }) => ({
    at: created_at.toISOString(),
    what: "subscriber",
    detail: `${email} at ${company}, ${status} now`,
  }));
}

/** Explains what queued mails wait for: each campaign once, however many of its mails are shown. */
async function waiting(ctx: Ctx, mails: readonly Mail[]): Promise<Step[]> {
  const campaigns = new Map(
    mails.filter(({ status }) => status === SENT_EMAIL_STATUS.queued).map((mail) => [mail.campaign_id, mail]),
  );
  const steps = [...campaigns.values()].map(async (mail) =>
    (await waitingSteps(ctx, mail)).map((step) => ({
      ...step,
      detail: `${step.detail}; "${mail.campaign}" of ${mail.company}`,
    })),
  );
  return (await Promise.all(steps)).flat();
}

export async function historyOf(ctx: Ctx, recipient: string): Promise<Step[]> {
  const searched = recipient.trim();
  const number = isUuid(searched) ? await mailOf(searched) : undefined;
  const mails = number ? await mailNumbered(number) : await mailsTo(searched);
  const copies = number ? await copiesOf(number) : await copiesTo(searched);
  const address = number ? mails[0]?.email : searched;
  const about = address
    ? [...(await knownAs(address)), ...(await blocks(address)), ...(await inboundSteps(address))]
    : [];
  const events = await eventsOf(mails);
  return inOrder([
    ...about,
    ...mails.flatMap(mailSteps),
    ...copies.flatMap(copySteps),
    ...events.map(eventStep),
    ...(await waiting(ctx, mails)),
  ]);
}
