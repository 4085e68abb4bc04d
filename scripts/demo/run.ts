/**
 * `npm run demo`: sends a company's first campaign, through the API alone, to 1,000 subscribers on its own mail server.
 * Uses the service on PORT, or starts one. Fails unless each recipient gets exactly one mail.
 */
import { once } from "node:events";
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../services/lib/config.ts";
import { connectOperator } from "../../services/operator/ask.ts";
import { type Client, createClient } from "../../test/client/client.ts";
import type { Analytics, Campaign, NewCampaign } from "../../test/client/generated.ts";
import { dataFolder, startService } from "../../test/support/service-process.ts";
import { checkArrived } from "./check-arrived.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { newsletter } from "./newsletter.ts";
import { READ_AFTER_MS, read } from "./readers.ts";
import { progressBar, say, showHeaders, subjectsByLanguage } from "./show.ts";

const PASSWORD = "a long demo password";
const SUBSCRIBERS = 1_000;
const DELIVERY_TIMEOUT_MS = 120_000;
/** Pause that stays below the limit of 60 requests a minute per address. */
const OPENS = 40;
const CLICKS = 15;
const COUNTED_WITHIN_MS = 10_000;

async function isFlockmail(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  return answer?.ok ?? false;
}

interface Service {
  url: string;
  /** Data folder, if the demo started the service. */
  data?: string;
  stop(): Promise<void>;
}

async function service(): Promise<Service> {
  const url = `http://localhost:${process.env.PORT || 3000}`;
  if (await isFlockmail(url)) {
    say(`Using the service at ${url}`);
    return { url, stop: async () => {} };
  }
  say("No service is running here; starting one with its own database …");
  const data = dataFolder();
  const env = { DATA_DIR: data.path, DATABASE_URL: "", TRANSPORTER: "", REDIS_URL: "" };
  const ownService = await (await startService({ env })).ready();
  const stop = async () => {
    await ownService.child.stop();
    data.remove();
  };
  return { url: ownService.url, data: data.path, stop };
}

const onRetry = (reason: string, pauseMs: number) =>
  say(`  (${reason}, continuing in ${Math.ceil(pauseMs / 1_000)} s)`);

async function signUp(baseUrl: string): Promise<{ api: Client; key: string; email: string }> {
  const email = `demo-${Date.now()}@example.com`;
  const { company, access } = await createClient({ baseUrl, onRetry }).registerCompany({
    body: {
      email,
      password: PASSWORD,
      company_name: "Lantern Books",
    },
  });
  const person = createClient({ baseUrl, token: access, onRetry });
  const { key } = await person.createApiKey({ path: { id: company.id }, body: { name: "demo" } });
  say(`Registered the company Lantern Books and created an API key (${key.slice(0, 8)}…)`);
  return { api: createClient({ baseUrl, apiKey: key, onRetry }), key, email };
}

async function importSubscribers(api: Client, listId: string): Promise<void> {
  const csv = await openAsBlob(join(import.meta.dirname, "subscribers.csv"));
  const started = performance.now();
  const file = new File([csv], "subscribers.csv");
  const result = await api.importSubscribers({ body: { list_id: listId, file } });
  const created = "created" in result ? result.created : 0;
  say(`Imported ${created} subscribers in ${Math.round(performance.now() - started)} ms`);
}

async function launch(api: Client, mailbox: Mailbox): Promise<NewCampaign> {
  const list = await api.createList({ body: { name: "Readers" } });
  await importSubscribers(api, list.id);
  const template = await api.createTemplate({ body: newsletter });
  const smtp = await api.createSmtpConfig({
    body: {
      name: "Demo mail server",
      host: "127.0.0.1",
      port: mailbox.port,
      username: "",
      password: "",
      use_tls: false,
      sender_name: "Lantern Books",
      sender_email: "news@lantern-books.example",
    },
  });
  return api.sendToList({
    body: { name: "Evening reading", template_id: template.id, smtp_config_id: smtp.id, list_id: list.id },
  });
}

async function untilDelivered(api: Client, id: string): Promise<Campaign> {
  const bar = progressBar(SUBSCRIBERS);
  const deadline = Date.now() + DELIVERY_TIMEOUT_MS;
  for (;;) {
    const campaign = await api.getCampaign({ path: { id } });
    bar(campaign.sent_count + campaign.failed_count);
    if (["completed", "partial", "failed"].includes(campaign.status)) return campaign;
    if (Date.now() > deadline) throw new Error(`Not delivered in time: ${JSON.stringify(campaign)}`);
    await sleep(100);
  }
}

/** Opens and clicks some mails and waits until the campaign counts them. */
async function untilRead(url: string, api: Client, id: string, mailbox: Mailbox): Promise<Analytics> {
  say(`\n${OPENS} recipients open their mail, ${CLICKS} of them follow a link …`);
  await sleep(READ_AFTER_MS);
  await read(url, mailbox.received, OPENS, CLICKS);
  const deadline = Date.now() + COUNTED_WITHIN_MS;
  for (;;) {
    const counted = await api.getCampaignAnalytics({ path: { id } });
    if ((counted.opens.unique ?? 0) >= OPENS && (counted.clicks.unique ?? 0) >= CLICKS) return counted;
    if (Date.now() > deadline) throw new Error(`Opens or clicks are missing: ${JSON.stringify(counted)}`);
    await sleep(100);
  }
}

/** A one-time sign-in link, or instructions if operator commands cannot reach the service. */
async function signInAddress(url: string, email: string, dataDir: string | undefined): Promise<string> {
  const settings = readConfig({ ...process.env, ...(dataDir ? { DATA_DIR: dataDir } : {}) }, { console: true });
  try {
    const connection = await connectOperator(settings);
    try {
      const [link] = await connection.ask("accounts.signInLink", { email });
      return `${link!.url}\n  (works once, within 5 minutes)`;
    } finally {
      await connection.close();
    }
  } catch {
    return `${url}/app/\n  with the address ${email} and the password "${PASSWORD}"`;
  }
}

/** `ends` is true if the service stops with the demo, so nobody can sign in afterwards. */
async function demo({ url, data }: Service, mailbox: Mailbox, ends: boolean): Promise<string[]> {
  const { api, email } = await signUp(url);
  const { id } = await launch(api, mailbox);
  say(`Sending to the mail server on 127.0.0.1:${mailbox.port} …`);
  const started = performance.now();
  const campaign = await untilDelivered(api, id);
  const seconds = (performance.now() - started) / 1_000;
  say(`\nThe campaign after ${seconds.toFixed(1)} s:\n${JSON.stringify(campaign, null, 2)}`);
  for (const mail of mailbox.received.slice(0, 3)) showHeaders(mail);
  say("\nOne subject per language:");
  for (const [language, subject] of await subjectsByLanguage(mailbox.received)) say(`  ${language}  ${subject}`);
  const problem = checkArrived(SUBSCRIBERS, campaign.sent_count, mailbox.received);
  if (problem.length > 0) return problem;
  const counted = await untilRead(url, api, id, mailbox);
  say(`Counted: ${JSON.stringify({ ...counted, timeline: undefined, links: undefined })}`);
  say("\nEach of the 1,000 arrived exactly once.");
  if (!ends) say(`\nSign in to the console as Lantern Books:\n  ${await signInAddress(url, email, data)}`);
  return [];
}

const mailbox = await openMailbox();
const used = await service();
try {
  const ends = used.data !== undefined && !process.stdin.isTTY;
  const problem = await demo(used, mailbox, ends);
  if (problem.length > 0) throw new Error(problem.join("; "));
  if (used.data && !ends) {
    say("\nThe service runs until you press Ctrl-C; its data is deleted then.");
    await once(process, "SIGINT");
  } else if (ends) {
    say("\nNext: start a permanent service with `npm start`, and run `npm run demo` again or the tour in docs/api.md.");
  }
} catch (error) {
  say(`\nFAILED: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await used.stop();
  await mailbox.stop();
}
