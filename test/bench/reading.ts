/**
 * Measures every read of the API in a large company.
 *
 *     node test/bench reading [subscribers=1000000] [mails=50000000] [events=20000000] [others=1000000] [times=20] [only]
 *
 * Fills the company by SQL, beside one of a tenth of its size. Requests each GET over HTTP, and each list with every
 * documented filter, ordering and search, on its first and later pages (`only` selects names that contain this text).
 * Prints, slowest first: p50 and p99 of consecutive requests, PostgreSQL pages (8 kB) touched by their statements, the
 * most rows in a node of a plan, and the slowest statements. Marks reads above the limit of 50 ms. `others` are
 * suppressions, webhook deliveries, inbound messages, audit log entries and single-mail campaigns. DATABASE_URL names a
 * database that is filled once and kept; without it, a temporary one is used.
 */
import type { ServiceBroker } from "moleculer";
import { queryOne } from "../../models/database/db.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { buffersOf, capturePlans, nodesOf, type Plan, rowsOf } from "../support/captured-plans.ts";
import { client, newCompany } from "../support/client.ts";
import { findLarge, type Large, makeLarge, settle } from "../support/large-installation.ts";
import { addressOf, callRead, type Read, readsOf, withLastPage } from "../support/reads.ts";
import { dataFolder } from "../support/service-process.ts";
import { API_SERVICES, benchEnvironment, startServices } from "./serve.ts";

const [people = 1_000_000, mails = 50_000_000, events = 20_000_000, others = 1_000_000, times = 20] = process.argv
  .slice(2, 7)
  .map(Number);
const only = process.argv[7] ?? "";
const LIMIT_MS = 50;
const SLOWEST = 12;

interface Cost {
  name: string;
  status: number;
  p50: number;
  p99: number;
  buffers: number;
  rows: number;
  slowest: Plan | undefined;
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

interface Asking {
  broker: ServiceBroker;
  large: Large;
  userId: string;
  get: (path: string, query: Record<string, string>, needsPerson: boolean) => Promise<{ status: number }>;
  plans: ReturnType<typeof capturePlans>;
}

async function costOf(given: Read, { broker, large, userId, get, plans }: Asking): Promise<Cost> {
  const read = await withLastPage(given, async (first) => {
    // Refused if it would have to sort too many rows.
    const page = (await callRead(broker, first, large, userId).catch(() => undefined)) as { count: number } | undefined;
    return page?.count ?? 1;
  });
  const took: number[] = [];
  let status = 0;
  // Measures only the statements of a download's first page; the whole download depends on its length.
  for (let n = 0; n <= times && read.route.answer !== "csv"; n++) {
    const startedMs = performance.now();
    status = (await get(addressOf(read, large), read.query, read.route.access !== "company")).status;
    if (n > 0) took.push(performance.now() - startedMs);
  }
  const found = await plans.of(() => callRead(broker, read, large, userId).catch(() => {}));
  const sorted = took.toSorted((a, b) => a - b);
  return {
    name: given.name,
    status,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    buffers: found.reduce((sum, plan) => sum + buffersOf(plan), 0),
    rows: Math.max(0, ...found.flatMap(({ root }) => nodesOf(root).map(rowsOf))),
    slowest: found.toSorted((a, b) => b.ms - a.ms)[0],
  };
}

const line = ({ name, status, p50, p99, buffers, rows }: Cost) =>
  [
    p99 > LIMIT_MS ? "*" : " ",
    p50.toFixed(1).padStart(8),
    p99.toFixed(1).padStart(8),
    String(buffers).padStart(9),
    String(rows).padStart(9),
    String(status),
    name,
  ].join(" ");

async function filled(url: string): Promise<{ large: Large; key: string; token: string; userId: string }> {
  const company = await newCompany({ url }, { plan: "unlimited", name: "Reader" });
  const known = await findLarge();
  const size = { people, mails, events, others };
  const part = (n: number) => Math.max(1_000, Math.round(n / 10));
  if (!known) {
    const other = await newCompany({ url }, { plan: "unlimited" });
    await makeLarge(other.id, "b", {
      people: part(people),
      mails: part(mails),
      events: part(events),
      others: part(others),
    });
    const large = await makeLarge(company.id, "a", size);
    await settle(process.env.DATABASE_URL!);
    return { large, ...company };
  }
  // Uses the credentials of the company that was filled earlier.
  const { key, token } = company;
  await queryOne("update memberships set company_id = $1 where user_id = $2", [known.company, company.userId]);
  await queryOne("update api_keys set company_id = $1 where company_id = $2", [known.company, company.id]);
  return { large: known, key, token, userId: company.userId };
}

const folder = dataFolder();
const postgres = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres(folder.path);
Object.assign(process.env, benchEnvironment(process.env.DATABASE_URL ?? postgres!.url, folder.path), {
  ALLOW_PRIVATE_NETWORKS: "true",
  TRUST_PROXY: "1",
});
const { broker, url } = await startServices(API_SERVICES);
try {
  const { large, key, token, userId } = await filled(url);
  const byKey = client({ url }, { key });
  const byPerson = client({ url }, { token });
  const get: Asking["get"] = (path, query, needsPerson) => (needsPerson ? byPerson : byKey).get(path, { query });
  const plans = capturePlans();
  const costs: Cost[] = [];
  for (const read of readsOf(large).filter(({ name }) => name.includes(only))) {
    process.stderr.write(`${read.name}\r`);
    costs.push(await costOf(read, { broker, large, userId, get, plans }));
    process.stderr.write(`${line(costs.at(-1)!)}\n`);
  }
  plans.stop();
  const sorted = costs.toSorted((a, b) => b.p99 - a.p99);
  console.log("     p50 ms   p99 ms     pages      rows");
  for (const cost of sorted) console.log(line(cost));
  for (const { name, slowest } of sorted.filter(({ slowest }) => slowest).slice(0, SLOWEST)) {
    console.log(
      `\n${name}: ${slowest!.ms.toFixed(1)} ms, ${buffersOf(slowest!)} pages\n${slowest!.text.replaceAll(/\s+/g, " ")}`,
    );
  }
} finally {
  await broker.stop();
  await postgres?.stop();
  folder.remove();
}
