import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { schemaOf } from "../../../scripts/schema-dump.ts";
import { createDatabase } from "../../support/database.ts";

test("models/schema.sql matches the migrations (else: npm run schema:dump)", async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const schema = await schemaOf(client);
  await client.end();
  await database.drop();
  expect(schema).toBe(readFileSync(join(import.meta.dirname, "../../../models/schema.sql"), "utf8"));
});
