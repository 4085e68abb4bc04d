/** `npm run mailbox`: a mail server on this machine that prints what it receives, for trying things out. */
import { simpleParser } from "mailparser";
import { openMailbox } from "./mailbox.ts";

const port = Number(process.env.SMTP_PORT || 2525);
const mailbox = await openMailbox(port, async ({ recipients, raw }) => {
  const { from, subject, text } = await simpleParser(raw);
  process.stdout.write(
    `${from?.text} → ${recipients.join(", ")}: ${subject}\n${text?.trim().replaceAll(/^/gm, "  ")}\n\n`,
  );
});
process.stdout.write(`Accepting mail on 127.0.0.1:${mailbox.port}, without login or TLS. Ctrl-C ends it.\n`);
