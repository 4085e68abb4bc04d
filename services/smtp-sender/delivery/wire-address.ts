import { domainToASCII } from "node:url";

const ASCII = /^[\x21-\x7e]*$/;

/**
 * An address as it goes over the wire: the domain in punycode; a local part beyond ASCII as the latin1 characters of its
 * UTF-8 bytes, which needs SMTPUTF8 (RFC 6531).
 */
export function wireAddress(address: string): { text: string; smtpUtf8: boolean } {
  if (ASCII.test(address)) return { text: address, smtpUtf8: false };
  const at = address.lastIndexOf("@");
  const domain = domainToASCII(address.slice(at + 1)) || address.slice(at + 1);
  const text = `${address.slice(0, at)}@${domain}`;
  if (ASCII.test(text)) return { text, smtpUtf8: false };
  return { text: Buffer.from(text, "utf8").toString("latin1"), smtpUtf8: true };
}
