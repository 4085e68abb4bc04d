/** Logs in to an SMTP server with a password, using the first offered mechanism that the server actually supports. */
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { isAboutMechanism } from "../../lib/smtp-mechanism.ts";

/** Mechanisms in order of preference. */
const MECHANISMS = ["PLAIN", "LOGIN", "CRAM-MD5"];

/**
 * Mechanisms offered in these EHLO lines; undefined: no login offered. `AUTH=` is the spelling of servers from before
 * RFC 2554.
 */
export function offeredMechanisms(ehloLines: readonly string[]): string[] | undefined {
  const lists = ehloLines.flatMap((line) => /^AUTH(?:[\s=](.*))?$/i.exec(line)?.slice(1) ?? []);
  if (lists.length === 0) return undefined;
  return lists.flatMap((list) => (list ?? "").toUpperCase().split(/[\s=]+/)).filter((word) => word !== "");
}

/** Password mechanisms; a server that names none at all is tried with the first. */
export function passwordMechanisms(offered: readonly string[]): string[] {
  return offered.length === 0 ? MECHANISMS.slice(0, 1) : MECHANISMS.filter((name) => offered.includes(name));
}

/** Rejects with the refusal of the last mechanism tried. */
export async function logIn(
  connection: SMTPConnection,
  credentials: { user: string; pass: string },
  mechanisms: readonly string[],
  onRefusal: (refusal: Error) => void,
): Promise<void> {
  for (const [n, method] of mechanisms.entries()) {
    const refusal = await new Promise<Error | undefined>((done) => {
      connection.login({ method, credentials }, (error) => done(error ?? undefined));
    });
    if (!refusal) return;
    onRefusal(refusal);
    if (n === mechanisms.length - 1 || !isAboutMechanism(refusal)) throw refusal;
  }
}
