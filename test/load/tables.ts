/**
 * Growth of PostgreSQL's tables and connections in a run: bytes early and late, dead rows, and free space beyond the
 * fillfactor. Uses pgstattuple from PostgreSQL's contrib modules.
 */
import type pg from "pg";
import type { Period } from "./period.ts";

const KIBIBYTE = 1024;
/** In smaller tables the last page dominates. */
const LEAST_BYTES = 1024 * 1024;

interface Table {
  name: string;
  bytes: string;
  index_bytes: string;
  rows: string;
  dead_percent: number;
  free_percent: number;
  fillfactor: number;
  autovacuums: string;
}

const TABLES = `
  select c.oid::regclass::text as name, pg_relation_size(c.oid) as bytes, pg_indexes_size(c.oid) as index_bytes,
    t.tuple_count as rows, t.dead_tuple_percent as dead_percent, t.free_percent,
    coalesce((select option_value::int from pg_options_to_table(c.reloptions) where option_name = 'fillfactor'), 100) as fillfactor,
    coalesce(s.autovacuum_count, 0) as autovacuums
  from pg_class c left join pg_stat_user_tables s on s.relid = c.oid, pgstattuple(c.oid) t
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and pg_relation_size(c.oid) > 0`;

export class Tables {
  readonly #database: pg.Client;
  readonly #early = new Map<string, number>();
  #last: Table[] = [];
  #connections: Record<"early" | "late", number> = { early: 0, late: 0 };

  constructor(database: pg.Client) {
    this.#database = database;
  }

  prepare = () => this.#database.query("create extension if not exists pgstattuple");

  async look(period: Period): Promise<void> {
    const { rows } = await this.#database.query<Table>(TABLES);
    this.#last = rows;
    if (period === "early") for (const { name, bytes } of rows) this.#early.set(name, Number(bytes));
    if (!period) return;
    const { rows: counted } = await this.#database.query(
      "select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and datname = current_database()",
    );
    this.#connections[period] = Math.max(this.#connections[period], counted[0].n);
  }

  connections = () => ({ ...this.#connections });

  rows() {
    return this.#last
      .filter(({ bytes }) => Number(bytes) >= LEAST_BYTES)
      .sort((a, b) => Number(b.bytes) - Number(a.bytes))
      .map((table) => ({
        table: table.name,
        rows: Number(table.rows),
        early_kib: Math.round((this.#early.get(table.name) ?? 0) / KIBIBYTE),
        late_kib: Math.round(Number(table.bytes) / KIBIBYTE),
        indexes_kib: Math.round(Number(table.index_bytes) / KIBIBYTE),
        dead_percent: table.dead_percent,
        free_percent: table.free_percent,
        free_by_intent: 100 - table.fillfactor,
        autovacuums: Number(table.autovacuums),
      }));
  }
}
