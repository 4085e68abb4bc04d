/**
 * How DATABASE_POOL is shared out; never more than that in all (3 is its least value), beside the one connection that asks
 * for `/ready`. A process opens what it needs of its share, and closes what was idle for 10 s.
 *
 * | share    | of 3 | of 10 | of 20 | of 100 | who uses it |
 * |----------|------|-------|-------|--------|-------------|
 * | sql      | 1    | 6     | 8     | 55     | `query`, `transaction` and PinnedConnection: senders, sends, lists, every hot or set-based statement |
 * | bulk     | 0    | 0     | 6     | 38     | what takes long for one company: imports, exports, segments, searches, expansion (bulk.ts); of 0 it uses sql |
 * | prepared | 1    | 2     | 3     | 3      | `prepared`: opens and clicks, what came back, webhooks. Of hits two batches are in the air at most, and one more resolves a conflict; of webhooks one claim and one record |
 * | models   | 1    | 2     | 3     | 4      | Sequelize: CRUD and settings. Short statements by key, and one process has no CPU for more: measured 2,800 `findByPk` a second over 2, 3 and 4 connections alike |
 *
 * Of sql and of bulk one company has half at most, and who has to wait waits without a connection (shared-pool.ts).
 */
export interface Shares {
  sql: number;
  bulk: number;
  prepared: number;
  models: number;
}

/** With fewer the parts are too small: an import would take all that its own company has for its receipts. */
const MIN_TO_DIVIDE = 15;

export function shareConnections(total: number): Shares {
  const prepared = Math.min(3, Math.max(1, Math.floor(total / 5)));
  const models = Math.min(4, 1 + Math.floor(total / 10));
  const bulk = total < MIN_TO_DIVIDE ? 0 : Math.floor((total - 3) * 0.4);
  return { sql: Math.max(1, total - prepared - models - bulk), bulk, prepared, models };
}

/** What one company gets of a share at the same time. */
export const halfOf = (connections: number): number => Math.max(1, Math.ceil(connections / 2));

/** What imports, and costly reads, take of bulk at most; the rest is left to expansion. */
export const thirdOf = (connections: number): number => Math.max(1, Math.floor(connections / 3));
