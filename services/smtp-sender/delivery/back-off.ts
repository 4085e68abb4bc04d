/**
 * A server that cannot be reached, or refuses everyone for now, is left alone by all senders; in its row, so that all
 * know and a restart remembers. Its mail is not touched. After a day its campaigns are stopped with the reason.
 */
import { query, queryOne } from "../../../models/database/db.ts";
import type { TransportConfig } from "../configs/transport-config.ts";
import { backOffMs } from "./retry.ts";

const GIVE_UP_AFTER = "24 hours";

export interface BackOff {
  ms: number;
  /** It has been failing for a day. */
  hopeless: boolean;
}

/** Doubles with the time it has been failing, so that no count must be shared. */
function pauseMs(failingForMs: number, baseMs: number): number {
  const first = baseMs / 30;
  return backOffMs(Math.floor(Math.log2(1 + failingForMs / first)) + 1, baseMs);
}

export async function backOff({ id, companyId }: TransportConfig, error: string, baseMs: number): Promise<BackOff> {
  const row = await queryOne<{ failing_for_ms: number; hopeless: boolean }>(
    `update smtp_configs set failing_since = coalesce(failing_since, now()), last_error = $3
     where id = $1 and company_id = $2
     returning extract(epoch from now() - failing_since)::float8 * 1000 as failing_for_ms,
       failing_since < now() - interval '${GIVE_UP_AFTER}' as hopeless`,
    [id, companyId, error],
  );
  const ms = pauseMs(row?.failing_for_ms ?? 0, baseMs);
  await query(
    "update smtp_configs set backoff_until = now() + $3 * interval '1 millisecond' where id = $1 and company_id = $2",
    [id, companyId, ms],
  );
  return { ms, hopeless: row?.hopeless ?? false };
}

export async function worksAgain({ id, companyId }: TransportConfig): Promise<void> {
  await query(
    `update smtp_configs set failing_since = null, backoff_until = null, last_error = null
     where id = $1 and company_id = $2 and failing_since is not null`,
    [id, companyId],
  );
}
