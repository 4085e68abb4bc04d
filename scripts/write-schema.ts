/** `npm run schema:dump`: applies all migrations to a new database and writes models/schema.sql. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../models/database/migrate.ts";
import { startEmbeddedPostgres } from "../services/lib/processes/embedded-postgres.ts";
import { schemaOf } from "./schema-dump.ts";

const folder = mkdtempSync(join(tmpdir(), "flockmail-schema-"));
const postgres = await startEmbeddedPostgres(folder, { fsync: "off" });
try {
  await migrate(postgres.url);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  writeFileSync(join(import.meta.dirname, "../models/schema.sql"), await schemaOf(client));
  await client.end();
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
