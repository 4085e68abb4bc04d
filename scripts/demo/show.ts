/** Output of the demo. */
import { type ParsedMail, simpleParser } from "mailparser";
import type { Received } from "./mailbox.ts";

const BAR_WIDTH = 40;

export const say = (text: string) => process.stdout.write(`${text}\n`);

/** Redraws one line on a terminal; prints every tenth elsewhere. */
export function progressBar(total: number): (done: number) => void {
  let shownTenths = -1;
  return (done) => {
    const share = total === 0 ? 1 : done / total;
    const filled = Math.round(share * BAR_WIDTH);
    const line = `  [${"█".repeat(filled)}${"·".repeat(BAR_WIDTH - filled)}] ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    const tenths = Math.floor(share * 10);
    if (process.stdout.isTTY) process.stdout.write(`\r${line}${share === 1 ? "\n" : ""}`);
    else if (tenths > shownTenths) say(line);
    shownTenths = tenths;
  };
}

export function showHeaders({ raw, recipients }: Received): void {
  const text = raw.toString("latin1");
  say(`\n--- received for ${recipients.join(", ")}`);
  say(text.slice(0, text.indexOf("\r\n\r\n")));
}

/** The first mail in each language, as named by its HTML part. */
export async function subjectsByLanguage(received: Received[]): Promise<Map<string, string>> {
  const subjects = new Map<string, string>();
  for (const { raw } of received) {
    const mail: ParsedMail = await simpleParser(raw);
    const language = /<html lang="(\w+)"/.exec(mail.html || "")?.[1] ?? "?";
    if (!subjects.has(language)) subjects.set(language, mail.subject ?? "");
  }
  return subjects;
}
