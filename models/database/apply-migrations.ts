/**
 * `node models/database/apply-migrations.ts`: applies pending migrations, for a job that runs before new nodes start.
 * Connects with MIGRATION_DATABASE_URL, or with DATABASE_URL if there is only one role.
 */
import { awaitPostgres } from "../../services/lib/processes/await-postgres.ts";
import { migrate } from "./migrate.ts";
import { refuseUnusable } from "./pooler.ts";

const variable = process.env.MIGRATION_DATABASE_URL ? "MIGRATION_DATABASE_URL" : "DATABASE_URL";
const url = process.env[variable];
if (!url) {
  process.stderr.write("Neither MIGRATION_DATABASE_URL nor DATABASE_URL is set.\n");
  process.exit(78);
}
try {
  // A signal ends a process that has no handler for it, also while it waits.
  const signal = new AbortController().signal;
  await awaitPostgres(url, { variable, waiting: (text) => process.stderr.write(`${text}\n`), signal });
  await refuseUnusable(url, { variable });
  const applied = await migrate(url);
  process.stdout.write(`${applied.length === 0 ? "Nothing is pending." : `Applied ${applied.join(", ")}.`}\n`);
} catch (error) {
  process.stderr.write(`Cannot apply migrations: ${(error as Error).message}\n`);
  process.exitCode = (error as { exitCode?: number }).exitCode ?? 1;
}
