/** An SMTP configuration as the engine uses it, read from its row. */
import { queryOne } from "../../../models/database/db.ts";
import { unseal } from "../../lib/secrets.ts";
import type { Endpoint, TlsMode } from "../smtp/session.ts";

export interface TransportConfig extends Endpoint {
  id: string;
  companyId: string;
  maxConnections: number;
  maxPerSecond: number | null;
  /** Milliseconds since which it cannot be used; null: all is well. */
  failingForMs: number | null;
  /** A session with this server and these settings was opened at some time. */
  workedBefore: boolean;
  /** Changes with every edit. */
  version: string;
}

interface Row {
  host: string;
  port: number;
  username: string;
  password_sealed: Buffer | null;
  use_tls: boolean;
  max_connections: number;
  max_per_second: number | null;
  tls_mode: TlsMode;
  worked_at: Date | null;
  failing_for_ms: number | null;
  updated_at: Date;
}

const READ = `select host, port, username, password_sealed, use_tls, max_connections, max_per_second, updated_at, tls_mode, worked_at,
    extract(epoch from now() - failing_since)::float8 * 1000 as failing_for_ms
  from smtp_configs where id = $1 and company_id = $2`;

/** Undefined: it was deleted. */
export async function readTransportConfig(companyId: string, id: string): Promise<TransportConfig | undefined> {
  const row = await queryOne<Row>(READ, [id, companyId]);
  if (!row) return undefined;
  return {
    id,
    companyId,
    host: row.host,
    port: row.port,
    useTls: row.use_tls,
    tlsMode: row.tls_mode,
    username: row.username,
    password: row.password_sealed ? unseal(row.password_sealed, id) : "",
    maxConnections: row.max_connections,
    maxPerSecond: row.max_per_second,
    failingForMs: row.failing_for_ms,
    workedBefore: row.worked_at !== null,
    version: row.updated_at.toISOString(),
  };
}
