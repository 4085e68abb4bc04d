/** Texts of system mails: plain text without tracking or external content. */
import { config } from "../../lib/config.ts";
import type { AccountTokenKind } from "../../lib/secrets.ts";
import type { SystemMailData, SystemMailKind } from "../../lib/system-mail-kinds.ts";
import { accountToken } from "../../lib/tokens/account-token.ts";

interface Text {
  subject: string;
  body: string;
}

const PAGES = { verify: "verify", invitation: "invitation", reset: "reset", sign_in: "sign-in-link" } as const;

/** Page where a person uses a token. */
export const linkTo = (kind: Exclude<AccountTokenKind, "device">, id: string): string =>
  `${config().BASE_URL}/app/${PAGES[kind]}?token=${accountToken(kind, id)}`;

const IF_NOT_YOU = "If this was not you, change your password now and check your sessions.";

const TEXTS: { [K in SystemMailKind]: (data: SystemMailData[K], service: string) => Text } = {
  invitation: ({ invitationId, company, inviter, role }, service) => ({
    subject: `You are invited to ${company}`,
    body: `${inviter} invites you to ${company} on ${service}, as ${role}.

Accept the invitation within 7 days:
${linkTo("invitation", invitationId)}

If you expected nothing of the kind, ignore this mail: nothing happens without you.`,
  }),
  verify: ({ tokenId }, service) => ({
    subject: `Confirm your address for ${service}`,
    body: `Somebody, probably you, registered this address with ${service}. Confirm it within 7 days:
${linkTo("verify", tokenId)}

If it was not you, ignore this mail.`,
  }),
  reset: ({ tokenId }, service) => ({
    subject: `Set a new password for ${service}`,
    body: `A new password was asked for. Set it within an hour:
${linkTo("reset", tokenId)}

All sessions end then. If it was not you who asked, ignore this mail: the password stays as it is.`,
  }),
  password_changed: ({ at }, service) => ({
    subject: `Your password for ${service} was changed`,
    body: `It was changed at ${at}. ${IF_NOT_YOU}`,
  }),
  locked_out: ({ at }, service) => ({
    subject: `Wrong passwords for your account at ${service}`,
    body: `Since ${at} so many wrong passwords were tried for your account that logins from unknown browsers must wait. The
browsers from which you logged in before are not held up. Nobody got in.`,
  }),
  key_created: ({ company, key, by }, service) => ({
    subject: `A new API key for ${company}`,
    body: `${by} made the API key "${key}" for ${company} on ${service}. If nobody should have, delete it.`,
  }),
  member_joined: ({ company, member, role }, service) => ({
    subject: `${member} joined ${company}`,
    body: `${member} is a member of ${company} on ${service} now, as ${role}.`,
  }),
  confirmation_unsent: ({ company, reason }, service) => ({
    subject: `${company} cannot ask subscribers to confirm`,
    body: `Somebody subscribed to ${company} on ${service} and should have been asked to confirm by mail. ${reason}
The form said thank you as usual, and nobody was mailed. You hear of this once a day at most.`,
  }),
  smtp_host_changed: ({ company, config: name, host, by }, service) => ({
    subject: `The mail server of ${company} was changed`,
    body: `${by} set the host of the SMTP configuration "${name}" of ${company} on ${service} to ${host}. If nobody should
have, change it back, and the password at your mail server, too.`,
  }),
  campaign_stopped: ({ company, campaign, reason }, service) => ({
    subject: `A campaign of ${company} was stopped`,
    body: `The campaign "${campaign}" of ${company} on ${service} was stopped. ${reason}`,
  }),
};

/** `data` comes from a row that another release may have written: missing fields must not fail. */
export function systemMailText(kind: string, data: Record<string, string>): Text | null {
  if (!Object.hasOwn(TEXTS, kind)) return null;
  const text = TEXTS[kind as SystemMailKind] as (data: Record<string, string>, service: string) => Text;
  return text(data, config().SERVICE_NAME);
}
