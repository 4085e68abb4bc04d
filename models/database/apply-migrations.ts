/** `node models/database/apply-migrations.ts`: applies what is pending to DATABASE_URL, for a job that runs before new nodes start. */
import { awaitPostgres } from "../../services/lib/processes/await-postgres.ts";
import { migrate } from "./migrate.ts";
import { refuseUnusable } from "./pooler.ts";

const url = process.env.DATABASE_URL;
if (!url) {
  process.stderr.write("DATABASE_URL is not set.\n");
  process.exit(78);
}
try {
  // A signal ends a process that has no handler for it, also while it waits.
  const signal = new AbortController().signal;
  await awaitPostgres(url, { waiting: (text) => process.stderr.write(`${text}\n`), signal });
  await refuseUnusable(url);
  const applied = await migrate(url);
  process.stdout.write(`${applied.length === 0 ? "Nothing is pending." : `Applied ${applied.join(", ")}.`}\n`);
} catch (error) {
  process.stderr.write(`Cannot apply migrations: ${(error as Error).message}\n`);
  process.exitCode = (error as { exitCode?: number }).exitCode ?? 1;
}
