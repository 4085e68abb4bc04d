/** Collects warnings about a send that is accepted anyway, as sentences. */
import { query } from "../../../models/database/db.ts";
import { call } from "../../call.ts";
import { domainOf } from "../../lib/address.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { forbidden } from "../../lib/errors.ts";
import { isLoopbackHost, isReservedDomain } from "../../lib/ssrf/local-host.ts";
import type { Content } from "../contract-content.ts";
import { asSent } from "./body-as-sent.ts";

interface Server {
  sender_email: string;
  is_checked_today: boolean;
  check_failures: { name: string; help: string }[];
  require_authentication: boolean;
}

const READ = `
  select s.sender_email, s.check_failures, c.require_authentication,
    coalesce(s.checked_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', false) as is_checked_today
  from smtp_configs s join companies c on c.id = s.company_id where s.company_id = $1 and s.id = $2`;

/** Checks that a company may require before anything is sent. */
const AUTHENTICATION = new Set(["spf", "dkim", "dmarc", "alignment"]);

/** DNS is checked within 5 s; a sender that does not answer stops no send. */
const CHECK_MS = 6_000;

/**
 * The first send of a day waits for the DNS, even with a local relay, because a local Postfix delivers to the internet,
 * too. Reserved domains are not checked. Throws 403.
 */
export async function sendWarnings(ctx: Ctx, companyId: string, smtpConfigId: string): Promise<string[]> {
  const [server] = await query<Server>(READ, [companyId, smtpConfigId]);
  if (!server || isReservedDomain(domainOf(server.sender_email))) return [];
  const failures = server.is_checked_today ? server.check_failures : await failuresOf(ctx, smtpConfigId);
  const refused = server.require_authentication ? failures.filter(({ name }) => AUTHENTICATION.has(name)) : [];
  if (refused.length > 0) {
    throw forbidden(`Not sent, because this company requires authenticated mail. ${refused.map(sentence).join(" ")}`);
  }
  const links = linkWarnings();
  const others = links.length > 0 ? failures.filter(({ name }) => name !== "links") : failures;
  return [...links, ...others.map(sentence)];
}

/** The warnings that saving a template with this content would return. What cannot be checked stops no send. */
export async function contentWarnings(
  ctx: Ctx,
  contents: readonly Content[],
  to: { list_id: string | undefined; is_transactional: boolean },
): Promise<string[]> {
  const { list_id, is_transactional } = to;
  const warningsOf = async (content: Content) => {
    const { subject, body = "", preheader = null, text_body = null, design } = content;
    try {
      const made = design ? await asSent(companyOf(ctx), content) : { body, text_body };
      const texts = { subject, preheader, is_transactional, ...made };
      return (await call(ctx, "renderer.previewDraft", { ...texts, ...(list_id ? { list_id } : {}) })).warnings;
    } catch (error) {
      ctx.broker.logger.warn(`Content could not be checked, so the send is admitted: ${(error as Error).message}`);
      return [];
    }
  };
  return [...new Set((await Promise.all(contents.map(warningsOf))).flat())];
}

const TRACKS = "select tracking_enabled from companies where id = $1";

/** Warns if variants are compared by opens or clicks. */
export async function winnerWarnings(companyId: string): Promise<string[]> {
  const [company] = await query<{ tracking_enabled: boolean }>(TRACKS, [companyId]);
  return company?.tracking_enabled
    ? []
    : ["This company tracks neither opens nor clicks (tracking_enabled), so the first variant will win."];
}

const sentence = ({ name, help }: { name: string; help: string }) => `Deliverability (${name}): ${help}`;

const failuresOf = async (ctx: Ctx, id: string): Promise<Server["check_failures"]> => {
  try {
    return (await call(ctx, "smtp-sender.checkDeliverability", { id }, { timeout: CHECK_MS })).failures;
  } catch (error) {
    ctx.broker.logger.warn(`Deliverability could not be checked, so the send is admitted: ${(error as Error).message}`);
    return [];
  }
};

function linkWarnings(): string[] {
  const { BASE_URL } = config();
  if (!isLoopbackHost(new URL(BASE_URL).hostname)) return [];
  return [
    `The links in these mails, including the unsubscribe link, start with ${BASE_URL} and open only on this machine. Set BASE_URL to its public address.`,
  ];
}
