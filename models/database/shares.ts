/**
 * Divides DATABASE_POOL (minimum 3), in addition to the one connection of `/ready`. A process opens connections as
 * needed and closes those idle for 10 s.
 *
 * | share | of 3 | of 10 | of 20 | of 100 | who uses it |
 * |---|---|---|---|---|---|
 * | sql | 1 | 6 | 8 | 55 | `query`, `transaction` and PinnedConnection: senders, sends, lists, every hot or set-based statement |
 * | bulk | 0 | 0 | 6 | 38 | long work of one company: imports, exports, segments, searches, expansion (bulk.ts); with 0 it uses sql |
 * | prepared | 1 | 2 | 3 | 3 | `prepared`: opens and clicks, bounces, webhooks. Hits use at most two batches and one to resolve a conflict; webhooks one claim and one record |
 * | models | 1 | 2 | 3 | 4 | Sequelize: CRUD and settings. Short statements by key; more connections would not help, because CPU limits a process |
 *
 * One company gets at most half of sql and of bulk, and waits without holding a connection (shared-pool.ts).
 */
export interface Shares {
  sql: number;
  bulk: number;
  prepared: number;
  models: number;
}

/**
 * Minimum connections to divide: with fewer, the shares are too small, and an import would take all connections of its
 * company's transactional mail.
 */
const MIN_TO_DIVIDE = 15;

export function shareConnections(total: number): Shares {
  const prepared = Math.min(3, Math.max(1, Math.floor(total / 5)));
  const models = Math.min(4, 1 + Math.floor(total / 10));
  const bulk = total < MIN_TO_DIVIDE ? 0 : Math.floor((total - 3) * 0.4);
  return { sql: Math.max(1, total - prepared - models - bulk), bulk, prepared, models };
}

/** Maximum concurrent connections of one company. */
export const halfOf = (connections: number): number => Math.max(1, Math.ceil(connections / 2));

/** Maximum share of bulk for imports and costly reads; the rest is left to expansion. */
export const thirdOf = (connections: number): number => Math.max(1, Math.floor(connections / 3));
