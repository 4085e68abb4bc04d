/** Reports what a failover of PostgreSQL could lose: once at start, and in the metrics. */
import { type Replication, readReplication } from "../../../models/database/history.ts";
import { gauge, refreshed } from "../../lib/metrics.ts";
import type { Log } from "./dependency-outage.ts";

const MODES: readonly Replication[] = ["none", "synchronous", "asynchronous"];

export async function reportReplication(log: Log): Promise<void> {
  const current = refreshed("database-replication", readReplication);
  gauge(
    "flockmail_database_replication",
    "1 for how PostgreSQL replicates what is committed: none, synchronous or asynchronous. Absent: this role may not see it.",
    () => {
      const known = current();
      return known === undefined ? [] : MODES.map((mode) => [{ mode }, mode === known ? 1 : 0]);
    },
  );
  // Unknown is not logged, and its metric is absent.
  if ((await readReplication().catch(() => undefined)) !== "asynchronous") return;
  log.warn(
    "PostgreSQL replicates asynchronously: a failover may lose the last results. Senders that live write them again; set synchronous_standby_names to lose none",
  );
}
