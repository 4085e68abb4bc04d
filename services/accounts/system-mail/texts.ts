/** Texts of system emails: plain text without tracking or external content. */
import { config } from "../../lib/config.ts";
import type { AccountTokenKind } from "../../lib/secrets.ts";
import type { SystemMailData, SystemMailKind } from "../../lib/system-mail-kinds.ts";
import { accountToken } from "../../lib/tokens/account-token.ts";

interface Text {
  subject: string;
  body: string;
}

const PAGES = { verify: "verify", invitation: "invitation", reset: "reset", sign_in: "sign-in-link" } as const;

/** URL of the page where a person uses this token. */
export const linkTo = (kind: Exclude<AccountTokenKind, "device">, id: string): string =>
  `${config().BASE_URL}/app/${PAGES[kind]}?token=${accountToken(kind, id)}`;

/**
 * Formats an ISO time to the minute. `at` is optional, because earlier releases may have written rows without a time.
 */
const utc = (at = "") => `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`;

const TEXTS: { [K in SystemMailKind]: (data: SystemMailData[K], service: string) => Text } = {
  invitation: ({ invitationId, company, inviter, role }, service) => ({
    subject: `Invitation to join ${company}`,
    body: `${inviter} invited you to join ${company} on ${service} with the role "${role}".

Accept the invitation within 7 days:
${linkTo("invitation", invitationId)}

If you don't want to join, ignore this email.`,
  }),
  verify: ({ tokenId }, service) => ({
    subject: `Confirm your email address for ${service}`,
    body: `Somebody created an account at ${service} with this email address. If this was you, confirm it within 7 days:
${linkTo("verify", tokenId)}

If it wasn't you, ignore this email.`,
  }),
  reset: ({ tokenId }, service) => ({
    subject: `Reset your password for ${service}`,
    body: `You, or someone else, asked to reset the password of your account at ${service}. Set a new one within an hour:
${linkTo("reset", tokenId)}

A new password signs you out everywhere. If you didn't ask for this, ignore this email. Your password stays the same.`,
  }),
  password_changed: ({ at }, service) => ({
    subject: `Your password for ${service} was changed`,
    body: `The password of your account at ${service} was changed on ${utc(at)}. All other sessions were signed out.

If this wasn't you, reset your password now:
${config().BASE_URL}/app/forgotten`,
  }),
  locked_out: ({ at }, service) => ({
    subject: `Too many wrong passwords for your account at ${service}`,
    body: `On ${utc(at)}, too many wrong passwords were entered for your account at ${service}. None of these attempts succeeded.

Browsers in which you have signed in before are not affected. Others may have to wait up to 5 minutes.`,
  }),
  key_created: ({ company, key, by }, service) => ({
    subject: `New API key for ${company}`,
    body: `${by} created the API key "${key}" for ${company} on ${service}.

If you didn't expect this, delete the key in the console under Settings, API keys.`,
  }),
  member_joined: ({ company, member, role }, service) => ({
    subject: `${member} joined ${company}`,
    body: `${member} is now a member of ${company} on ${service} with the role "${role}".`,
  }),
  confirmation_unsent: ({ company, reason }, service) => ({
    subject: `Confirmation emails for ${company} cannot be sent`,
    body: `Someone signed up for emails from ${company} on ${service}, or changed their address, but the confirmation email could not be sent:
${reason}

They saw the usual page and can try again once this is solved. You get this notice once a day at most.`,
  }),
  smtp_host_changed: ({ company, config: name, host, by }, service) => ({
    subject: `Mail server of ${company} changed`,
    body: `${by} changed the host of the mail server "${name}" of ${company} on ${service} to ${host}.

If you didn't expect this, change it back and set a new password at your mail provider.`,
  }),
  campaign_stopped: ({ company, campaign, reason }, service) => ({
    subject: `Campaign "${campaign}" was stopped`,
    body: `The campaign "${campaign}" of ${company} on ${service} was stopped.

${reason}`,
  }),
};

/** `data` comes from a row that another release may have written: it may lack fields, which must not cause an error. */
export function systemMailText(kind: string, data: Record<string, string>): Text | null {
  if (!Object.hasOwn(TEXTS, kind)) return null;
  const text = TEXTS[kind as SystemMailKind] as (data: Record<string, string>, service: string) => Text;
  return text(data, config().SERVICE_NAME);
}
