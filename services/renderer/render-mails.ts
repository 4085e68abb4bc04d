/**
 * Renders emails for a group of recipients of one campaign: signed ones here, others on demand. A recipient that cannot
 * be rendered gets an individual error.
 */
import { setImmediate } from "node:timers/promises";
import { RawMessage } from "../lib/raw-message.ts";
import type { CompiledCampaign, CompiledCampaigns } from "./compiled-campaign.ts";
import { Unrenderable } from "./content.ts";
import type { MakeMail, Rendered } from "./contract.ts";
import type { Sign } from "./mime/dkim.ts";
import type { Mail } from "./mime/skeleton.ts";
import type { Recipient } from "./program/scope.ts";

const failed = (error: unknown): Rendered => ({ ok: false, error: (error as Error).message });

function renderOne({ skeleton, scope }: CompiledCampaign, recipient: Recipient): { mail: Mail; copy: Mail | null } {
  const hasCopies = Boolean(recipient.cc?.length || recipient.bcc?.length);
  return {
    mail: skeleton.make(recipient, scope(recipient), false),
    copy: hasCopies ? skeleton.make(recipient, scope(recipient), true) : null,
  };
}

type Message = string | RawMessage;

function rendered({ smtputf8 }: Mail, raw: Message, copy: Message | undefined, tail: string | null): Rendered {
  if (copy === undefined && !tail) return { ok: true, raw, smtputf8, eightBit: smtputf8 };
  const parts = { ...(copy === undefined ? {} : { copy }), ...(tail ? { tail } : {}) };
  return { ok: true, raw, ...parts, smtputf8, eightBit: smtputf8 };
}

function unsigned(campaign: CompiledCampaign, recipient: Recipient): Rendered {
  try {
    const { mail, copy } = renderOne(campaign, recipient);
    return rendered(mail, mail.text, copy?.text, campaign.skeleton.tail);
  } catch (error) {
    return failed(error);
  }
}

async function signed(campaign: CompiledCampaign, recipient: Recipient, sign: Sign): Promise<Rendered> {
  try {
    const { mail, copy } = renderOne(campaign, recipient);
    const whole = async ({ text: { pieces }, headPieces }: Mail) => {
      const body = new RawMessage(pieces.slice(headPieces)).toString();
      return (await sign(new RawMessage(pieces.slice(0, headPieces)).toString(), body)) + body;
    };
    return rendered(mail, await whole(mail), copy ? await whole(copy) : undefined, campaign.skeleton.tail);
  } catch (error) {
    return failed(error);
  }
}

/** Time slice of rendering: if emails take long, other work of the process runs in between. */
const SLICE_MS = 20;

async function allSigned(
  campaign: CompiledCampaign,
  recipients: readonly Recipient[],
  sign: Sign,
): Promise<Rendered[]> {
  const mails: Promise<Rendered>[] = [];
  let untilMs = performance.now() + SLICE_MS;
  for (const recipient of recipients) {
    if (performance.now() > untilMs) {
      await setImmediate();
      untilMs = performance.now() + SLICE_MS;
    }
    mails.push(signed(campaign, recipient, sign));
  }
  return Promise.all(mails);
}

export async function mailsOf(
  campaign: CompiledCampaign,
  recipients: readonly Recipient[],
): Promise<(Rendered | MakeMail)[]> {
  if (campaign.sign) return allSigned(campaign, recipients, campaign.sign);
  return recipients.map((recipient) => () => unsigned(campaign, recipient));
}

async function ofOneContent(
  campaigns: CompiledCampaigns,
  campaignId: string,
  variant: number | null,
  recipients: readonly Recipient[],
): Promise<(Rendered | MakeMail)[]> {
  try {
    return await mailsOf(await campaigns.get(campaignId, variant), recipients);
  } catch (error) {
    if (error instanceof Unrenderable) return recipients.map(() => failed(error));
    throw error;
  }
}

const variantOf = ({ variant }: Recipient): number | null => variant ?? null;

/** A chunk has one content; retries may be of several. */
export async function renderMails(
  campaigns: CompiledCampaigns,
  campaignId: string,
  recipients: readonly Recipient[],
): Promise<(Rendered | MakeMail)[]> {
  const first = recipients[0] ? variantOf(recipients[0]) : null;
  if (recipients.every((recipient) => variantOf(recipient) === first)) {
    return ofOneContent(campaigns, campaignId, first, recipients);
  }
  const mails = new Map<Recipient, Rendered | MakeMail>();
  for (const [variant, own] of Map.groupBy(recipients, variantOf)) {
    const rendered = await ofOneContent(campaigns, campaignId, variant, own);
    for (const [i, recipient] of own.entries()) mails.set(recipient, rendered[i]!);
  }
  return recipients.map((recipient) => mails.get(recipient)!);
}
