/** An SMTP configuration as a transport uses it, read from its row. */
import { query } from "../../../models/database/db.ts";
import type { DomainLimit, TlsMode } from "../../../models/smtp-config.ts";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import { openableKeyIds, unseal } from "../../lib/secrets.ts";
import type { Endpoint } from "../smtp/session.ts";

export interface TransportConfig extends Endpoint {
  id: string;
  companyId: string;
  maxConnections: number;
  maxPerSecond: number | null;
  warmup: Warmup | null;
  domainLimits: readonly DomainLimit[];
  /** Time since the server became unusable, in milliseconds; null: it works. */
  failingForMs: number | null;
  /** A session with these settings has succeeded at least once. */
  workedBefore: boolean;
  /** Changes with every edit. */
  version: string;
}

/** The password was sealed with a key this process does not have, or is damaged. The message is shown to the user. */
export class UnreadablePassword extends Error {
  constructor(cause: unknown) {
    super("The stored SMTP password can no longer be read. Enter it again.", { cause });
    this.name = "UnreadablePassword";
  }
}

interface Row {
  id: string;
  company_id: string;
  host: string;
  port: number;
  username: string;
  password_sealed: Buffer | null;
  use_tls: boolean;
  max_connections: number;
  max_per_second: number | null;
  domain_limits: DomainLimit[];
  tls_mode: TlsMode;
  warmup: Warmup | null;
  worked_at: Date | null;
  failing_for_ms: number | null;
  updated_at: Date;
}

const READ = `
  select c.id, c.company_id, c.host, c.port, c.username, c.password_sealed, c.use_tls, c.max_connections,
    c.max_per_second, c.updated_at, c.tls_mode, c.warmup, c.domain_limits, c.worked_at, extract(epoch from now() - c.failing_since)::float8 * 1000 as failing_for_ms
  from unnest($1::uuid[], $2::uuid[]) w (id, company_id)
  join smtp_configs c on c.id = w.id and c.company_id = w.company_id`;

function password({ id, password_sealed: sealed }: Row): string {
  if (!sealed) return "";
  // Failing to load the keys is an error of this process, not of the stored password.
  openableKeyIds();
  try {
    return unseal(sealed, id);
  } catch (error) {
    throw new UnreadablePassword(error);
  }
}

const toConfig = (row: Row): TransportConfig => ({
  id: row.id,
  companyId: row.company_id,
  host: row.host,
  port: row.port,
  useTls: row.use_tls,
  tlsMode: row.tls_mode,
  username: row.username,
  password: password(row),
  maxConnections: row.max_connections,
  maxPerSecond: row.max_per_second,
  warmup: row.warmup,
  domainLimits: row.domain_limits,
  failingForMs: row.failing_for_ms,
  workedBefore: row.worked_at !== null,
  version: row.updated_at.toISOString(),
});

/** Reads configurations by id in one statement. Deleted ones are missing. */
export async function readTransportConfigs(
  wanted: readonly { id: string; companyId: string }[],
): Promise<Map<string, TransportConfig | UnreadablePassword>> {
  const rows = await query<Row>(READ, [wanted.map(({ id }) => id), wanted.map(({ companyId }) => companyId)]);
  const configs = new Map<string, TransportConfig | UnreadablePassword>();
  for (const row of rows) {
    try {
      configs.set(row.id, toConfig(row));
    } catch (error) {
      if (!(error instanceof UnreadablePassword)) throw error;
      configs.set(row.id, error);
    }
  }
  return configs;
}

/** Undefined if it was deleted. Throws UnreadablePassword. */
export async function readTransportConfig(companyId: string, id: string): Promise<TransportConfig | undefined> {
  const config = (await readTransportConfigs([{ companyId, id }])).get(id);
  if (config instanceof UnreadablePassword) throw config;
  return config;
}
