/**
 * Measures the import of CSV.
 *
 *     node test/bench import [rows=1000000]
 *
 * Prints the rows per second of the whole import into a list, of importing the same file again, of the reader alone and
 * of csv-parse alone; the bytes on disk per person on a list (without the search index, which is written later); and
 * peak memory. Uses DATABASE_URL or an embedded PostgreSQL.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { closeDatabase, openDatabase, query } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { readCsv } from "../../services/subscribers/import/csv-reader.ts";
import { decodeText } from "../../services/subscribers/import/decode-text.ts";
import { importSubscribers } from "../../services/subscribers/import/import-subscribers.ts";

const rows = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
const file = join(folder, "subscribers.csv");

function* csv() {
  yield "email,first_name,last_name,city,signup_source\n";
  for (let from = 1; from <= rows; from += 1_000) {
    let text = "";
    for (let n = from; n < from + 1_000 && n <= rows; n++) {
      text += `person.${(n * 7_919) % 1_000_000_007}@mail${n % 97}.example.com,First${n % 1_000},Last${n},City ${n % 200},form\n`;
    }
    yield text;
  }
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const result = await work();
  const ms = performance.now() - began;
  const rate = Math.round((rows / ms) * 1_000).toLocaleString("en");
  console.log(`${name.padEnd(28)} ${(ms / 1_000).toFixed(1)} s, ${rate} rows/s ${JSON.stringify(result ?? "")}`);
}

const SIZES = `
  select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
  where relname in ('subscribers', 'list_members') and relkind = 'r'`;

let peakBytes = 0;
const watch = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 20);
const peak = () => console.log(`peak memory so far           ${Math.round(peakBytes / 1_048_576)} MB`);

const postgres = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres(folder);
const url = process.env.DATABASE_URL ?? postgres!.url;
try {
  await pipeline(Readable.from(csv()), createWriteStream(file));
  await migrate(url);
  openDatabase(url, 4);
  const [companyId, listId] = [newId(), newId()];
  await query("insert into companies (id, name, plan) values ($1, 'Bench', 'unlimited')", [companyId]);
  await query("insert into lists (id, company_id, name) values ($1, $2, 'All')", [listId, companyId]);
  const importFile = () => importSubscribers(createReadStream(file), { companyId, limit: null, listId });

  await timed("import of new rows", importFile);
  peak();
  for (const { name, bytes } of await query<{ name: string; bytes: number }>(SIZES)) {
    console.log(`${name.padEnd(28)} ${(bytes / rows).toFixed(0)} bytes per row, including the table's indexes`);
  }
  await timed("the same file again", importFile);
  peak();
  await timed("reader alone", async () => {
    for await (const _batch of readCsv(decodeText(createReadStream(file))));
  });
  await timed("csv-parse alone", async () => {
    for await (const _row of createReadStream(file).pipe(parse()));
  });
} finally {
  clearInterval(watch);
  await closeDatabase();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
