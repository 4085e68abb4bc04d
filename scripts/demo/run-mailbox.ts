/** `npm run mailbox -- [PORT]`: a mail server for experiments that prints every mail it receives. */
import { simpleParser } from "mailparser";
import { openMailbox } from "./mailbox.ts";

const given = process.argv[2] ?? (process.env.SMTP_PORT || "2525");
const port = Number(given);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  process.stderr.write(`"${given}" is not a port: npm run mailbox -- 2525\n`);
  process.exit(1);
}
const mailbox = await openMailbox(port, async ({ recipients, raw }) => {
  const { from, subject, text } = await simpleParser(raw);
  process.stdout.write(
    `${from?.text} → ${recipients.join(", ")}: ${subject}\n${text?.trim().replaceAll(/^/gm, "  ")}\n\n`,
  );
});
process.stdout.write(`Accepting mail on 127.0.0.1:${mailbox.port}, without login or TLS. Ctrl-C ends it.\n`);
