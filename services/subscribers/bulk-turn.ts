import type { Client } from "../../models/database/db.ts";

/**
 * One writer of many subscribers at a time per company, to the end of the transaction: two that write the same addresses
 * in different order would wait for each other until PostgreSQL ends one of them (deadlock, after a second).
 */
export async function takeTurn(client: Client, companyId: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('bulk subscribers ' || $1, 0))", [companyId]);
}
