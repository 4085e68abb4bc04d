/**
 * `npm run demo`: a company's first campaign, over the API alone, to 1,000 subscribers on a mail server of its own.
 * Uses the service on PORT, or starts one for the occasion. Fails unless each of the 1,000 arrived exactly once.
 */
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, startService } from "../support/service-process.ts";
import { apiAt, type Send } from "./api.ts";
import { faults } from "./faults.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { newsletter } from "./newsletter.ts";
import { progressBar, say, showHeaders, subjectsByLanguage } from "./show.ts";

const SUBSCRIBERS = 1_000;
const DELIVERY_TIMEOUT_MS = 120_000;

interface Campaign {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error?: string | null;
}

async function isFlockmail(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  return answer?.ok ?? false;
}

async function service(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = `http://localhost:${process.env.PORT || 3000}`;
  if (await isFlockmail(url)) {
    say(`Using the service at ${url}`);
    return { url, stop: async () => {} };
  }
  say("No service is running here; starting one with a database of its own …");
  const data = dataFolder();
  const env = { DATA_DIR: data.path, DATABASE_URL: "", TRANSPORTER: "", REDIS_URL: "" };
  const own = await (await startService({ env })).ready();
  const stop = async () => {
    await own.child.stop();
    data.remove();
  };
  return { url: own.url, stop };
}

async function signUp(url: string): Promise<Send> {
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
  return apiAt(url, { "x-api-key": key });
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

async function demo(url: string, mailbox: Mailbox): Promise<string[]> {
  const api = await signUp(url);
  const { id } = await launch(api, mailbox);
  say(`Sending to the mail server on 127.0.0.1:${mailbox.port} …`);
  const started = performance.now();
  const campaign = await untilDelivered(api, id);
  const seconds = (performance.now() - started) / 1_000;
  say(`\nThe campaign after ${seconds.toFixed(1)} s:\n${JSON.stringify(campaign, null, 2)}`);
  for (const mail of mailbox.received.slice(0, 3)) showHeaders(mail);
  say("\nOne subject per language:");
  for (const [language, subject] of await subjectsByLanguage(mailbox.received)) say(`  ${language}  ${subject}`);
  const counted = await api<object>("GET", `/api/emails/campaigns/${id}/analytics/`);
  say(`\nCounted: ${JSON.stringify({ ...counted, timeline: undefined, links: undefined })}`);
  return faults(SUBSCRIBERS, campaign.sent_count, mailbox.received);
}

const mailbox = await openMailbox();
const { url, stop } = await service();
try {
  const wrong = await demo(url, mailbox);
  say(wrong.length ? `\nFAILED: ${wrong.join("; ")}` : "\nEach of the 1,000 arrived exactly once.");
  if (wrong.length) process.exitCode = 1;
} catch (error) {
  say(`\nFAILED: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await stop();
  await mailbox.stop();
}
