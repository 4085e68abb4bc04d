/** Servers of a cluster: PostgreSQL, NATS, Redis and a mail server, each under a name in the cluster's DNS. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../services/lib/processes/embedded-postgres.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";
import { startNats, startRedis } from "../../support/servers.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { ADDRESS, POD_NETWORK } from "./network.ts";

const PORTS = { postgres: 5432, nats: 4222, redis: 6379, mail: 25, names: 53 };
const nameOf = (server: string) => `${server}.backends.example`;
export const MAIL_HOST = nameOf("mail");
export const MAIL_PORT = PORTS.mail;

/** The policy that docs/kubernetes.md requires for a mail server in a private network. */
export const MAIL_POLICY = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "our-mail-server" },
  spec: {
    podSelector: { matchLabels: { "flockmail/reaches": "internet" } },
    policyTypes: ["Egress"],
    egress: [{ to: [{ ipBlock: { cidr: `${ADDRESS.mail}/32` } }], ports: [{ protocol: "TCP", port: PORTS.mail }] }],
  },
};

export interface Backends {
  /** Values of the Secret that all pods reference. */
  secret(key: string): string | undefined;
  mail: SmtpServer;
  query<T>(sql: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

/** Accepts clients from the pods' network, not only from loopback. */
async function openPostgres(folder: string): Promise<EmbeddedPostgres> {
  const settings = { port: PORTS.postgres, listen_addresses: "*", max_connections: 700, fsync: "off" };
  const postgres = await startEmbeddedPostgres(folder, settings);
  appendFileSync(join(folder, "postgres/pg_hba.conf"), `host all all ${POD_NETWORK} scram-sha-256\n`);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query("select pg_reload_conf()");
  await client.end();
  return postgres;
}

export async function startBackends(folder: string): Promise<Backends> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.reverse()) await end();
  };
  try {
    const postgres = await openPostgres(folder);
    endings.push(() => postgres.stop());
    const redis = await startRedis({ own: true, port: PORTS.redis, open: true });
    endings.push(redis.stop);
    const nats = await startNats({ own: true, port: PORTS.nats, open: true });
    endings.push(nats.stop);
    const zones = Object.fromEntries(
      (["postgres", "nats", "redis", "mail"] as const).map((server) => [nameOf(server), { a: [ADDRESS[server]] }]),
    );
    const names: DnsServer = await startDnsServer(zones, { address: ADDRESS.names, port: PORTS.names });
    endings.push(names.stop);
    const mail = await startSmtpServer({ host: ADDRESS.mail, port: PORTS.mail, keep: false });
    endings.push(() => mail.stop());
    const admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    endings.push(() => admin.end());

    const database = new URL(postgres.url);
    database.hostname = nameOf("postgres");
    const secret = (key: string) => {
      if (key === "REDIS_URL") return `redis://${nameOf("redis")}:${PORTS.redis}`;
      if (key === "TRANSPORTER") return `nats://${nameOf("nats")}:${PORTS.nats}`;
      if (key === "SECRET_KEY") return "of the image's tests, and of nothing else";
      return key.endsWith("DATABASE_URL") ? database.href : undefined;
    };
    return {
      secret,
      mail,
      query: async <T>(sql: string, values: unknown[] = []) => (await admin.query(sql, values)).rows as T[],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
