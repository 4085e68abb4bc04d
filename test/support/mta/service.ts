/**
 * Runs the service like its users do, with one process per test file and one SMTP configuration per case: configures,
 * sends a campaign, reads results through the API.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt, type Send } from "../api.ts";
import { createDatabase } from "../database.ts";
import { startService } from "../service-process.ts";
import { type Delivery, SENDER_DOMAIN } from "./deliveries.ts";

export interface Receiver {
  email: string;
  cc?: string[];
  bcc?: string[];
}

export interface Endpoint {
  port: number;
  host?: string;
  use_tls?: boolean;
  tls_mode?: "auto" | "implicit" | "starttls" | "none";
  username?: string;
  password?: string;
  max_connections?: number;
  bounce_address?: string;
  bounce_mailbox?: object;
}

export interface CampaignView {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error: string | null;
}

const STATUSES = ["queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown"] as const;
export type Counts = Partial<Record<(typeof STATUSES)[number], number>>;

interface SentEmail {
  recipient: string;
  status: string;
  attempts: number;
  error: string | null;
  smtp_response: string | null;
  copies?: { email: string; kind: string; status: string; error: string | null }[];
}

export class MailService {
  readonly api: Send;
  readonly url: string;
  #child: { stop(): Promise<void> };
  #drop: () => Promise<void>;

  constructor(url: string, api: Send, child: { stop(): Promise<void> }, drop: () => Promise<void>) {
    this.url = url;
    this.api = api;
    this.#child = child;
    this.#drop = drop;
  }

  async configure(endpoint: Endpoint): Promise<string> {
    const { id } = await this.api<{ id: string }>("POST", "/api/emails/smtp-configs/", {
      name: "Relay",
      host: "localhost",
      username: "",
      password: "",
      use_tls: false,
      sender_email: `news@${SENDER_DOMAIN}`,
      ...endpoint,
    });
    return id;
  }

  /** A custom send. `transactional` mail is repeated after a lost answer, marketing mail is not. */
  async send(endpoint: Endpoint, receivers: Receiver[], options: { transactional?: boolean } = {}): Promise<string> {
    return this.sendBy(await this.configure(endpoint), receivers, options);
  }

  async sendBy(smtpConfigId: string, receivers: Receiver[], options: { transactional?: boolean } = {}) {
    const campaign = await this.api<CampaignView>("POST", "/api/emails/send/custom/", {
      name: "News",
      smtp_config_id: smtpConfigId,
      subject: "News for [[email]]",
      body: "<p>Hello [[email]]</p><p>.</p>",
      receivers,
      is_transactional: options.transactional ?? false,
    });
    return campaign.id;
  }

  campaign = (id: string) => this.api<CampaignView>("GET", `/api/emails/campaigns/${id}/`);

  /** Recipients per status, without empty ones. */
  async counts(campaignId: string): Promise<Counts> {
    const count = async (status: string) =>
      (await this.api<{ count: number }>("GET", `/api/emails/sent-emails/?campaign=${campaignId}&status=${status}`))
        .count;
    const found = await Promise.all(STATUSES.map(async (status) => [status, await count(status)] as const));
    return Object.fromEntries(found.filter(([, n]) => n > 0));
  }

  async sentEmails(campaignId: string): Promise<SentEmail[]> {
    const all: SentEmail[] = [];
    for (let page = 1; ; page++) {
      const path = `/api/emails/sent-emails/?campaign=${campaignId}&page=${page}`;
      const { results, next } = await this.api<{ results: SentEmail[]; next: string | null }>("GET", path);
      all.push(...results);
      if (!next) return all;
    }
  }

  async suppressions(): Promise<number> {
    return (await this.api<{ count: number }>("GET", "/api/emails/suppressions/")).count;
  }

  /** Polls until `holds` is true; otherwise throws with the last value. */
  async until<T>(look: () => T | Promise<T>, holds: (seen: T) => boolean, timeoutMs: number): Promise<T> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const seen = await look();
      if (holds(seen)) return seen;
      if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs} ms; last seen: ${JSON.stringify(seen)}`);
      await sleep(100);
    }
  }

  /** Waits for a final status; returns an unfinished campaign after the timeout. */
  async finished(campaignId: string, timeoutMs = 60_000): Promise<CampaignView> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const campaign = await this.campaign(campaignId);
      if (!["pending", "sending"].includes(campaign.status) || Date.now() > deadline) return campaign;
      await sleep(100);
    }
  }

  /** Waits until no delivery was added for a second, because a server files mail after accepting it. */
  async settled(read: () => Delivery[], timeoutMs = 20_000): Promise<Delivery[]> {
    const deadline = Date.now() + timeoutMs;
    for (let seen = read().length; ; ) {
      await sleep(1_000);
      const now = read();
      if (now.length === seen || Date.now() > deadline) return now;
      seen = now.length;
    }
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    await this.#drop();
  }
}

let groups = 0;

/** 1.g7@to.example, 2.g7@to.example …: unique per case, because another case may have suppressed its own. */
export function people(n: number, prefix = ""): Receiver[] {
  const group = ++groups;
  return Array.from({ length: n }, (_, i) => ({ email: `${prefix}${i + 1}.g${group}@to.example` }));
}

export const addresses = (receivers: readonly Receiver[]): string[] =>
  receivers.flatMap(({ email, cc = [], bcc = [] }) => [email, ...cc, ...bcc]);

export async function openService(env: NodeJS.ProcessEnv = {}): Promise<MailService> {
  const database = await createDatabase();
  const starting = await startService({
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: "test-secret-test-secret-test-secret",
      ALLOW_PRIVATE_NETWORKS: "true",
      BASE_URL: "http://mail.example.com",
      RETRY_BASE_SECONDS: "1",
      LOGLEVEL: "warn",
      REGISTRATION: "open",
      ...env,
    },
  });
  try {
    const { url } = await starting.ready();
    const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
      "POST",
      "/api/auth/register/",
      { email: "ann@example.com", password: "correct horse battery", company_name: "Real Servers" },
    );
    const bearer = apiAt(url, { authorization: `Bearer ${access}` });
    const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" });
    return new MailService(url, apiAt(url, { "x-api-key": key }), starting.child, database.drop);
  } catch (error) {
    await starting.child.stop();
    await database.drop();
    throw error;
  }
}
