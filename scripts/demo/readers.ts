/** Simulates readers: loads images of some mails and follows a few links. */
import { simpleParser } from "mailparser";
import type { Received } from "./mailbox.ts";

const TIMEOUT_MS = 10_000;
/** Hits sooner after delivery count as those of a scanner. */
export const READ_AFTER_MS = 2_500;
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const PIXEL = /https?:\/\/[^"]+(\/api\/emails\/public\/open\/[^"]+)"/;
const LINK = /href="https?:\/\/[^"]+(\/api\/emails\/public\/click\/[^"]+)"/;

async function visit(url: string): Promise<void> {
  const response = await fetch(url, {
    redirect: "manual",
    headers: { "user-agent": BROWSER },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.arrayBuffer();
}

/** Loads the images of `opens` mails and follows the first link of `clicks` of them. `url` is the API's address. */
export async function read(url: string, mails: readonly Received[], opens: number, clicks: number): Promise<void> {
  for (const [i, { raw }] of mails.slice(0, opens).entries()) {
    const { html } = await simpleParser(raw);
    const [, pixel] = PIXEL.exec(html || "") ?? [];
    const [, link] = LINK.exec(html || "") ?? [];
    if (!pixel || !link) throw new Error("A mail arrived without its tracking links");
    await visit(url + pixel);
    if (i < clicks) await visit(url + link);
  }
}
