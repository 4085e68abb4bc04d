/**
 * Runs the delivery engine on real rows, without other services: its own database, one company, SMTP configurations and
 * campaigns written like the services would, any number of engines.
 */
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import type { DomainLimit } from "../../models/smtp-config.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { settle } from "../../services/campaigns/lifecycle/settle.ts";
import { copiesOf } from "../../services/campaigns/send/inline-receivers.ts";
import type { Ctx } from "../../services/lib/caller.ts";
import { newId } from "../../services/lib/ids.ts";
import type { Limiter } from "../../services/lib/limits/limiter.ts";
import { MemoryLimiter } from "../../services/lib/limits/limiter-memory.ts";
import { seal } from "../../services/lib/secrets.ts";
import type { Rendered } from "../../services/renderer/contract.ts";
import { claimableCampaigns } from "../../services/smtp-sender/claim/claim-statements.ts";
import type { ClaimableCampaign, RecipientRow } from "../../services/smtp-sender/delivery/rows.ts";
import { Engine, type EngineOutputs } from "../../services/smtp-sender/engine/engine.ts";
import { PinnedConnection } from "../../services/smtp-sender/engine/pinned-connection.ts";
import { type EngineSettings, engineSettings } from "../../services/smtp-sender/engine/settings.ts";
import { createDatabase, type TestDatabase } from "./database.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "./smtp-server.ts";

const DOMAIN = "sender.example";

/** The context of an owner's call, for functions of actions. */
export const asOwner = <P>(companyId: string, params: P): Ctx<P> =>
  ({ meta: { companyId, role: "owner" }, params }) as unknown as Ctx<P>;

export const messageId = (id: string) => `<${id}@${DOMAIN}>`;

/** A minimal message, without the renderer. */
export function plainMail({ id, email }: RecipientRow): Rendered {
  const raw = `Message-ID: ${messageId(id)}\r\nTo: ${email}\r\nSubject: Hello\r\n\r\nHello ${email}\r\n`;
  return { ok: true, raw, copy: raw, smtputf8: false, eightBit: false };
}

export const plainMails: EngineOutputs["render"] = async (_campaignId, rows) => rows.map((row) => () => plainMail(row));

export interface Recipient {
  email: string;
  cc?: string[];
  bcc?: string[];
}

export interface CampaignOptions {
  companyId: string;
  smtpConfigId: string;
  recipients: number | Recipient[];
  transactional?: boolean;
  chunk?: number;
}

export interface Counts {
  status: string;
  error: string | null;
  sent_count: number;
  failed_count: number;
  total_emails: number;
}

export class Sending {
  readonly engines: Engine[] = [];
  readonly servers: SmtpServer[] = [];
  #database: TestDatabase | undefined;

  get databaseUrl(): string {
    return this.#database!.url;
  }

  async start(): Promise<void> {
    this.#database = await createDatabase();
    Object.assign(process.env, {
      DATABASE_URL: this.databaseUrl,
      SECRET_KEY: "test-secret-test-secret-test-secret",
      ALLOW_PRIVATE_NETWORKS: "true",
      BASE_URL: "http://mail.example.com",
    });
    // Each of three engines reserves three connections (models/database/shares.ts: 13 of 30).
    openDatabase(this.databaseUrl, 30);
  }

  /** Starts a mail server that stops with the engines. */
  async startServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
    const server = await startSmtpServer(options);
    this.servers.push(server);
    return server;
  }

  async company(plan = "unlimited"): Promise<string> {
    const id = newId();
    await query("insert into companies (id, name, plan) values ($1, 'Company', $2)", [id, plan]);
    return id;
  }

  async smtpConfig(
    companyId: string,
    server: { host: string; port: number },
    options: {
      username?: string;
      password?: string;
      useTls?: boolean;
      maxConnections?: number;
      maxPerSecond?: number;
      domainLimits?: DomainLimit[];
    } = {},
  ): Promise<string> {
    const id = newId();
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, username, password_sealed, use_tls, sender_email,
         max_connections, max_per_second, domain_limits) values ($1, $2, 'Relay', $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        id,
        companyId,
        server.host,
        server.port,
        options.username ?? "",
        seal(options.password ?? "", id),
        options.useTls ?? false,
        `news@${DOMAIN}`,
        options.maxConnections ?? 10,
        options.maxPerSecond ?? null,
        JSON.stringify(options.domainLimits ?? []),
      ],
    );
    return id;
  }

  /**
   * Creates a campaign with all recipients written (r1@to.example …); fixtures.test.ts compares it with a real send.
   */
  async campaign({ companyId, smtpConfigId, recipients, transactional = false, chunk = 500 }: CampaignOptions) {
    const id = newId();
    const list = Array.isArray(recipients) ? recipients : undefined;
    const n = list?.length ?? (recipients as number);
    await query(
      `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, is_transactional,
         worker_task_id, next_seq, no, expansion_began_at, expanded_at, copies_asked)
       values ($1, $2, 'Campaign', 'custom', 'pending', $3, $4, $5, $1, $3 + 1, next_campaign_no(), now(), now(), $6)`,
      [id, companyId, n, smtpConfigId, transactional, copiesOf((list ?? []).map((one) => ({ ...one })))],
    );
    await query(
      `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
         list_id_ref, company_name, tracking_enabled) values ($1, $2, 'Hello', '<p>Hello</p>', 'News', $3, 'News', $2, 'Company', false)`,
      [id, companyId, `news@${DOMAIN}`],
    );
    await query(
      `insert into sent_emails (campaign_no, seq, email)
       select no, n, 'r' || n || '@to.example'
       from campaigns, generate_series(1, $2::int) n where id = $1`,
      [id, n],
    );
    for (const [i, { email, cc, bcc }] of (list ?? []).entries()) {
      await query(
        "update sent_emails set email = $3, cc = $4, bcc = $5 where campaign_no = (select no from campaigns where id = $1) and seq = $2",
        [id, i + 1, email, cc ?? null, bcc ?? null],
      );
    }
    await query(
      `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state)
       select $1, row_number() over (), $2, $3, $4, lo, least(lo + $6 - 1, $5), lo - 1, 0
       from generate_series(1, $5::int, $6::int) lo`,
      [id, companyId, smtpConfigId, transactional, n, chunk],
    );
    return id;
  }

  engine(
    options: Partial<EngineSettings> & {
      limiter?: Limiter;
      render?: typeof plainMails;
      name?: string;
      slots?: EngineOutputs["slots"];
      log?: Partial<EngineOutputs["log"]>;
    } = {},
  ): Engine {
    const {
      limiter = new MemoryLimiter(),
      render = plainMails,
      name = `node-${this.engines.length}`,
      slots,
      log,
      ...settings
    } = options;
    const engine = new Engine(
      name,
      engineSettings({ pollMs: 50, retryBaseMs: 300, leaseMs: 5_000, stopMs: 1_000, ...settings }),
      {
        limiter,
        render,
        log: { error: () => {}, warn: () => {}, info: () => {}, ...log },
        campaignDrained: (campaignId) => void settle(campaignId).catch(() => {}),
        webhooksQueued: () => {},
        ...(slots ? { slots } : {}),
      },
    );
    this.engines.push(engine);
    engine.start();
    return engine;
  }

  /** The claimable campaigns among these, as a sender reads them. */
  async claimableCampaignsOf(campaignIds: readonly string[]): Promise<ClaimableCampaign[]> {
    const connection = new PinnedConnection();
    const nobody = { companyIds: [], smtpConfigIds: [], campaignIds: [], saturatedIds: [] };
    const found = await claimableCampaigns(nobody, connection).finally(() => connection.close());
    return found.filter(({ campaign_id }) => campaignIds.includes(campaign_id));
  }

  async waitingForLocks(): Promise<number> {
    const row = await queryOne<{ n: number }>(
      "select count(*) n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return row!.n;
  }

  async counts(campaignId: string): Promise<Counts> {
    return (await queryOne<Counts & Record<string, unknown>>(
      "select status, error, sent_count, failed_count, total_emails from campaigns where id = $1",
      [campaignId],
    ))!;
  }

  /** Number of recipients per state. */
  async states(campaignId: string): Promise<Record<string, number>> {
    const rows = await query<{ status: number; n: number }>(
      "select status, count(*) n from sent_emails where campaign_no = (select no from campaigns where id = $1) group by status",
      [campaignId],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [SENT_EMAIL_STATUSES[status], n]));
  }

  async recipients(campaignId: string) {
    const rows = await query<{
      id: string;
      campaign_no: number;
      seq: number;
      email: string;
      status: number;
      error: string | null;
      attempts: number;
      smtp_response: string;
    }>(
      `select e.campaign_no, e.seq, e.email, e.status, e.error, e.attempts, e.smtp_response
       from campaigns c join sent_emails e on e.campaign_no = c.no
       where c.id = $1 order by e.seq`,
      [campaignId],
    );
    return withIds(rows);
  }

  /** Polls until the condition holds; throws with the last value. */
  async until<T>(look: () => Promise<T>, holds: (seen: T) => boolean, timeoutMs = 50_000, pauseMs = 20): Promise<T> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const seen = await look();
      if (holds(seen)) return seen;
      if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs} ms; last seen: ${JSON.stringify(seen)}`);
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }

  /** Waits until the campaign has a final status. */
  finished(campaignId: string, timeoutMs?: number): Promise<Counts> {
    const look = async () => {
      await settle(campaignId);
      return this.counts(campaignId);
    };
    const isFinal = ({ status }: Counts) => ["completed", "partial", "failed"].includes(status);
    return this.until(look, isFinal, timeoutMs, 80);
  }

  async stopEngines(): Promise<void> {
    await Promise.all(this.engines.splice(0).map((engine) => engine.stop()));
  }

  async stopServers(): Promise<void> {
    await Promise.all(this.servers.splice(0).map((server) => server.stop()));
  }

  async stop(): Promise<void> {
    await this.stopEngines();
    await this.stopServers();
    await closeDatabase();
    await this.#database?.drop();
  }
}

export async function startSending(): Promise<Sending> {
  const sending = new Sending();
  await sending.start();
  return sending;
}

/** Sets up one database per test file; engines and mail servers end with each test. */
export function useSending(): Sending {
  const sending = new Sending();
  beforeAll(() => sending.start());
  afterAll(() => sending.stop());
  afterEach(async () => {
    await sending.stopEngines();
    await sending.stopServers();
  });
  return sending;
}
