/**
 * `npm run demo`: a company's first campaign, over the API alone, to 1,000 subscribers on a mail server of its own.
 * Uses the service on PORT, or starts one for the occasion. Fails unless each of the 1,000 arrived exactly once.
 */
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, startService } from "../support/service-process.ts";
import { apiAt, type Send } from "./api.ts";
import { checkArrived } from "./check-arrived.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { newsletter } from "./newsletter.ts";
import { READ_AFTER_MS, read } from "./readers.ts";
import { progressBar, say, showHeaders, subjectsByLanguage } from "./show.ts";

const SUBSCRIBERS = 1_000;
const DELIVERY_TIMEOUT_MS = 120_000;
/** Below the 60 requests a minute that an address may make. */
const OPENS = 40;
const CLICKS = 15;
const COUNTED_WITHIN_MS = 10_000;

interface Campaign {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error?: string | null;
}

interface Analytics {
  opens: { unique: number };
  clicks: { unique: number };
}

async function isFlockmail(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  return answer?.ok ?? false;
}

async function service(): Promise<{ url: string; own: boolean; stop(): Promise<void> }> {
  const url = `http://localhost:${process.env.PORT || 3000}`;
  if (await isFlockmail(url)) {
    say(`Using the service at ${url}`);
    return { url, own: false, stop: async () => {} };
  }
  say("No service is running here; starting one with a database of its own …");
  const data = dataFolder();
  const env = { DATA_DIR: data.path, DATABASE_URL: "", TRANSPORTER: "", REDIS_URL: "" };
  const own = await (await startService({ env })).ready();
  const stop = async () => {
    await own.child.stop();
    data.remove();
  };
  return { url: own.url, own: true, stop };
}

async function signUp(url: string): Promise<{ api: Send; key: string }> {
  const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    {
      email: `demo-${Date.now()}@example.com`,
      password: "a long demo password",
      company_name: "Lantern Books",
    },
  );
  const bearer = apiAt(url, { authorization: `Bearer ${access}` });
  const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "demo" });
  say(`Registered the company Lantern Books and made an API key (${key.slice(0, 8)}…)`);
  return { api: apiAt(url, { "x-api-key": key }), key };
}

async function importSubscribers(api: Send, listId: string): Promise<void> {
  const form = new FormData();
  form.set("list_id", listId);
  form.set("file", await openAsBlob(join(import.meta.dirname, "subscribers.csv")), "subscribers.csv");
  const started = performance.now();
  const result = await api<{ created: number; skipped: number }>("POST", "/api/emails/subscribers/bulk/", form);
  say(`Imported ${result.created} subscribers in ${Math.round(performance.now() - started)} ms`);
}

async function launch(api: Send, mailbox: Mailbox): Promise<Campaign> {
  const list = await api<{ id: string }>("POST", "/api/emails/lists/", { name: "Readers" });
  await importSubscribers(api, list.id);
  const template = await api<{ id: string }>("POST", "/api/emails/templates/", newsletter);
  const smtp = await api<{ id: string }>("POST", "/api/emails/smtp-configs/", {
    name: "Demo mail server",
    host: "127.0.0.1",
    port: mailbox.port,
    username: "",
    password: "",
    use_tls: false,
    sender_name: "Lantern Books",
    sender_email: "news@lantern-books.example",
  });
  return api<Campaign>("POST", "/api/emails/send/to-list/", {
    name: "Evening reading",
    template_id: template.id,
    smtp_config_id: smtp.id,
    list_id: list.id,
  });
}

async function untilDelivered(api: Send, id: string): Promise<Campaign> {
  const bar = progressBar(SUBSCRIBERS);
  const deadline = Date.now() + DELIVERY_TIMEOUT_MS;
  for (;;) {
    const campaign = await api<Campaign>("GET", `/api/emails/campaigns/${id}/`);
    bar(campaign.sent_count + campaign.failed_count);
    if (["completed", "partial", "failed"].includes(campaign.status)) return campaign;
    if (Date.now() > deadline) throw new Error(`Not delivered in time: ${JSON.stringify(campaign)}`);
    await sleep(100);
  }
}

/** Some of them are opened and clicked, and that is counted. */
async function untilRead(url: string, api: Send, id: string, mailbox: Mailbox): Promise<Analytics> {
  say(`\n${OPENS} recipients open their mail, ${CLICKS} of them follow a link …`);
  await sleep(READ_AFTER_MS);
  await read(url, mailbox.received, OPENS, CLICKS);
  const deadline = Date.now() + COUNTED_WITHIN_MS;
  for (;;) {
    const counted = await api<Analytics>("GET", `/api/emails/campaigns/${id}/analytics/`);
    if (counted.opens.unique >= OPENS && counted.clicks.unique >= CLICKS) return counted;
    if (Date.now() > deadline) throw new Error(`Not all of that was counted: ${JSON.stringify(counted)}`);
    await sleep(100);
  }
}

function sayNextStep(url: string, own: boolean, key: string, id: string): void {
  if (own) {
    say("\nNext: start a service that stays with `npm start`, and run `npm run demo` again or the tour in README.md.");
    return;
  }
  say("\nNext: look at what is kept of it, or send a campaign of your own with the tour in README.md.");
  say(`  curl -H 'X-API-Key: ${key}' ${url}/api/emails/campaigns/${id}/analytics/`);
  say(`  ${url}/docs/`);
}

async function demo(url: string, own: boolean, mailbox: Mailbox): Promise<string[]> {
  const { api, key } = await signUp(url);
  const { id } = await launch(api, mailbox);
  say(`Sending to the mail server on 127.0.0.1:${mailbox.port} …`);
  const started = performance.now();
  const campaign = await untilDelivered(api, id);
  const seconds = (performance.now() - started) / 1_000;
  say(`\nThe campaign after ${seconds.toFixed(1)} s:\n${JSON.stringify(campaign, null, 2)}`);
  for (const mail of mailbox.received.slice(0, 3)) showHeaders(mail);
  say("\nOne subject per language:");
  for (const [language, subject] of await subjectsByLanguage(mailbox.received)) say(`  ${language}  ${subject}`);
  const wrong = checkArrived(SUBSCRIBERS, campaign.sent_count, mailbox.received);
  if (wrong.length > 0) return wrong;
  const counted = await untilRead(url, api, id, mailbox);
  say(`Counted: ${JSON.stringify({ ...counted, timeline: undefined, links: undefined })}`);
  say("\nEach of the 1,000 arrived exactly once.");
  sayNextStep(url, own, key, id);
  return [];
}

const mailbox = await openMailbox();
const { url, own, stop } = await service();
try {
  const wrong = await demo(url, own, mailbox);
  if (wrong.length > 0) throw new Error(wrong.join("; "));
} catch (error) {
  say(`\nFAILED: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await stop();
  await mailbox.stop();
}
