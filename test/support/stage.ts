/**
 * A cluster with its own servers, a counting mail server and a sending company, for tests that break things. Everything
 * may be killed; `sink.doubled` and the counts of `outcome` tell the fate of each recipient.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SENT_EMAIL_STATUSES, type SentEmailStatus } from "../../models/sent-email-status.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { apiAt, type Send } from "./api.ts";
import { type Cluster, layoutTogether, startCluster, whenAvailable } from "./cluster.ts";
import { type Server, startNats, startRedis } from "./servers.ts";
import { dataFolder, untilDatabaseStarts } from "./service-process.ts";
import { type SilentProxy, startSilentProxy } from "./silent-proxy.ts";
import { type SmtpServer, startSmtpServer } from "./smtp-server.ts";

export const MAX_IN_DOUBT = 50;
const LEASE_SECONDS = 3;

export interface Stage {
  cluster: Cluster;
  sink: SmtpServer;
  redis: Server;
  nats: Server;
  api: Send;
  headers: Record<string, string>;
  companyId: string;
  smtpConfigId: string;
  templateId: string;
  /** Proxy between PostgreSQL and the processes in `throughProxy`. */
  databaseProxy: SilentProxy;
  query<T>(sql: string, values?: unknown[]): Promise<T[]>;
  killPostgres(): void;
  startPostgres(): Promise<void>;
  stop(): Promise<void>;
}

export type Counts = Record<SentEmailStatus, number>;

/** Slow enough to interrupt a run of thousands; fewer, slower mails would cost less CPU time. */
const DOT_MS = 10;

interface StageOptions {
  /** Time that the mail server takes per mail. */
  dotMs?: number;
  env?: NodeJS.ProcessEnv;
  /** Processes that reach PostgreSQL only through `databaseProxy`. */
  throughProxy?: readonly string[];
  /** Service folders by process, besides the senders. */
  layout?: Record<string, string[]>;
  /** Replaces the stage's own PostgreSQL. */
  databaseUrl?: string;
}

/** If a step fails, everything opened so far is closed. */
export async function openStage(senders: number, options: StageOptions = {}): Promise<Stage> {
  const endings: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return await open(senders, options, { endings, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(
  senders: number,
  { dotMs = DOT_MS, env, throughProxy = [], layout = layoutTogether, databaseUrl: given }: StageOptions,
  { endings, stop }: { endings: (() => unknown)[]; stop(): Promise<void> },
): Promise<Stage> {
  const opened = <T extends { stop(): unknown }>(part: T): T => {
    endings.push(() => part.stop());
    return part;
  };
  const folder = dataFolder();
  endings.push(() => folder.remove());
  const port = await unusedPort();
  const startDatabase = () => startEmbeddedPostgres(folder.path, { port, max_connections: 300, fsync: "off" });
  let postgres: EmbeddedPostgres | undefined = given ? undefined : await startDatabase();
  endings.push(() => postgres?.stop());
  const [redis, nats] = [await startRedis({ own: true }), await startNats({ own: true })];
  // Processes that a test started as replacements.
  let stage: Stage | undefined;
  endings.push(() => Promise.all([(stage?.redis ?? redis).stop(), (stage?.nats ?? nats).stop()]));
  const sink = opened(await startSmtpServer({ keep: false, delayMs: { DOT: dotMs } }));
  const databaseUrl = given ?? postgres!.url;
  const databaseProxy = opened(await startSilentProxy(port));
  const throughIt = { DATABASE_URL: databaseUrl.replace(`:${port}/`, `:${databaseProxy.port}/`) };
  const cluster = await startCluster({
    databaseUrl,
    redisUrl: redis.url,
    natsUrl: nats.url,
    senders,
    layout,
    env: { MAX_IN_DOUBT: `${MAX_IN_DOUBT}`, SEND_LEASE_SECONDS: `${LEASE_SECONDS}`, RETRY_BASE_SECONDS: "1", ...env },
    envOf: (name) => (throughProxy.includes(name) ? throughIt : {}),
  });
  opened(cluster);

  const query = async <T>(sql: string, values: unknown[] = []): Promise<T[]> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as T[];
    } finally {
      await client.end();
    }
  };
  const { api, headers, companyId, smtpConfigId, templateId } = await signUp(cluster, sink.port);
  stage = {
    cluster,
    sink,
    redis,
    nats,
    api,
    headers,
    companyId,
    smtpConfigId,
    templateId,
    databaseProxy,
    query,
    killPostgres() {
      process.kill(
        Number(readFileSync(join(folder.path, "postgres/postmaster.pid"), "utf8").split("\n")[0]),
        "SIGKILL",
      );
    },
    async startPostgres() {
      postgres = await untilDatabaseStarts(startDatabase);
    },
    stop,
  };
  return stage;
}

async function signUp(cluster: Cluster, smtpPort: number) {
  const { url } = cluster;
  const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    { email: "ann@example.com", password: "a password for tests", company_name: "Unbreakable" },
  );
  const bearer = apiAt(url, { authorization: `Bearer ${access}` });
  const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" });
  const headers = { "x-api-key": key };
  const api = apiAt(url, headers);
  const create = (path: string, body: object) =>
    whenAvailable(cluster, () => api<{ id: string }>("POST", `/api/emails/${path}/`, body));
  const smtp = await create("smtp-configs", {
    name: "Sink",
    host: "127.0.0.1",
    port: smtpPort,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@unbreakable.example",
  });
  const template = await create("templates", {
    name: "T",
    subject: "Hello [[first_name]]",
    body: "<p>Hello [[first_name]], <a href='https://example.com/'>look</a></p>",
  });
  return { api, headers, companyId: company.id, smtpConfigId: smtp.id, templateId: template.id };
}

interface CampaignOptions {
  isTransactional?: boolean;
  /** Assigned to recipients in turn; mail goes out when their local time is as late as in an hour in UTC. */
  timezones?: readonly string[];
}

/** Creates a list of this many people and a campaign to it. */
export async function startCampaign(
  stage: Stage,
  recipients: number,
  { isTransactional = false, timezones = [] }: CampaignOptions = {},
): Promise<string> {
  const { api, companyId } = stage;
  const list = await api<{ id: string }>("POST", "/api/emails/lists/", { name: `${recipients} people` });
  await stage.query(
    `with people as (
       insert into subscribers (company_id, email, first_name, attributes)
       select $1, 'p' || n || '-' || left($2::text, 13) || '@example.com', 'P' || n,
         jsonb_strip_nulls(jsonb_build_object('timezone', ($4::text[])[1 + n % greatest(cardinality($4::text[]), 1)]))
       from generate_series(1, $3::int) n
       returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2::uuid, id from people`,
    [companyId, list.id, recipients, timezones],
  );
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const campaign = await api<{ id: string }>("POST", "/api/emails/send/to-list/", {
    name: "C",
    template_id: stage.templateId,
    smtp_config_id: stage.smtpConfigId,
    list_id: list.id,
    is_transactional: isTransactional,
    ...(timezones.length > 0 ? { timezone: "recipient", scheduled_for: inAnHour } : {}),
  });
  return campaign.id;
}

export interface CampaignView {
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error: string | null;
}

const FINAL = ["completed", "partial", "failed"];

/** Waits for the campaign's end by asking the database, because the gateway may be dead. */
export async function untilFinal(stage: Stage, id: string, timeoutMs: number): Promise<CampaignView> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const [campaign] = await stage
      .query<CampaignView>(
        "select status, total_emails, sent_count, failed_count, error from campaigns where id = $1",
        [id],
      )
      .catch(() => []);
    if (campaign && FINAL.includes(campaign.status)) return campaign;
    if (Date.now() > deadline) {
      const counts = JSON.stringify(await outcome(stage, id));
      throw new Error(`Not final after ${timeoutMs} ms: ${JSON.stringify(campaign)}, recipients ${counts}`);
    }
    await sleep(100);
  }
}

export async function outcome(stage: Stage, campaignId: string): Promise<Counts> {
  const rows = await stage.query<{ status: number; n: string }>(
    "select status, count(*) n from sent_emails where campaign_no = (select no from campaigns where id = $1) group by status",
    [campaignId],
  );
  const counts = Object.fromEntries(SENT_EMAIL_STATUSES.map((name) => [name, 0])) as Counts;
  for (const { status, n } of rows) counts[SENT_EMAIL_STATUSES[status]!] = Number(n);
  return counts;
}
