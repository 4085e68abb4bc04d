/** Logs in to an SMTP server with a password, by the first of the offered mechanisms that the server really has. */
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { isAboutMechanism } from "../../lib/smtp-mechanism.ts";

/** In the order in which they are tried. */
const MECHANISMS = ["PLAIN", "LOGIN", "CRAM-MD5"];

/**
 * Offered by these lines of the answer to EHLO; undefined: it offers no login. `AUTH=` is the spelling of servers from
 * before RFC 2554.
 */
export function offeredMechanisms(ehloLines: readonly string[]): string[] | undefined {
  const lists = ehloLines.flatMap((line) => /^AUTH(?:[\s=](.*))?$/i.exec(line)?.slice(1) ?? []);
  if (lists.length === 0) return undefined;
  return lists.flatMap((list) => (list ?? "").toUpperCase().split(/[\s=]+/)).filter((word) => word !== "");
}

/** Those that work with a password; a server that names none at all is tried with the first. */
export function passwordMechanisms(offered: readonly string[]): string[] {
  return offered.length === 0 ? MECHANISMS.slice(0, 1) : MECHANISMS.filter((name) => offered.includes(name));
}

/** Rejects with the refusal of the mechanism that was tried last. */
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
