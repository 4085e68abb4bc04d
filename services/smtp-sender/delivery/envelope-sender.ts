/** Builds envelope senders, the addresses to which bounces are sent. */
import { domainToASCII } from "node:url";
import { type BounceTokens, tokenAddress } from "../../lib/tokens/bounce-token.ts";
import type { MailNumber } from "../../lib/tokens/mail-id.ts";
import type { ClaimableCampaign } from "./rows.ts";

export interface WireAddress {
  /** ASCII or, with `smtpUtf8`, UTF-8 bytes as latin1 characters. */
  text: string;
  smtpUtf8: boolean;
}

const ASCII = /^[\x21-\x7e]*$/;

/**
 * An address in wire form: the domain in punycode; a non-ASCII local part as the latin1 characters of its UTF-8 bytes,
 * which needs SMTPUTF8 (RFC 6531).
 */
export function wireAddress(address: string): WireAddress {
  if (ASCII.test(address)) return { text: address, smtpUtf8: false };
  const at = address.lastIndexOf("@");
  const domain = domainToASCII(address.slice(at + 1)) || address.slice(at + 1);
  const text = `${address.slice(0, at)}@${domain}`;
  if (ASCII.test(text)) return { text, smtpUtf8: false };
  return { text: Buffer.from(text, "utf8").toString("latin1"), smtpUtf8: true };
}

/** `copy`: the sender used for an email's copies. */
export type EnvelopeSender = (mail: MailNumber, copy: boolean) => WireAddress;

/** Envelope senders of one campaign: one per email with a bounce address, otherwise the campaign's sender. */
export function envelopeSender(
  { sender_email, bounce_address }: Pick<ClaimableCampaign, "sender_email" | "bounce_address">,
  tokens: BounceTokens,
): EnvelopeSender {
  const sender = wireAddress(bounce_address ?? sender_email);
  if (bounce_address === null) return () => sender;
  return (mail, copy) => ({ text: tokenAddress(sender.text, tokens.of(mail, copy)), smtpUtf8: sender.smtpUtf8 });
}
