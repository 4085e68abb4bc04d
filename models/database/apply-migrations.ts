/** `node models/database/apply-migrations.ts`: applies what is pending to DATABASE_URL, for a job that runs before new nodes start. */
import { migrate } from "./migrate.ts";

const url = process.env.DATABASE_URL;
if (!url) {
  process.stderr.write("DATABASE_URL is not set.\n");
  process.exit(78);
}
const applied = await migrate(url);
process.stdout.write(`${applied.length === 0 ? "Nothing is pending." : `Applied ${applied.join(", ")}.`}\n`);
