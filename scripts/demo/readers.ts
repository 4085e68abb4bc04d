/** Some of the demo's recipients read their mail: the images are loaded, and a few follow a link. */
import { simpleParser } from "mailparser";
import type { Received } from "./mailbox.ts";

const TIMEOUT_MS = 10_000;
/** What comes sooner after the delivery counts as a scanner's, not a person's. */
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

/** `opens` of them load the images and `clicks` of those follow the first link; the address of the API is `url`. */
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
