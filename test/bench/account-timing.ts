/**
 * Measures whether response times reveal who has an account or subscription: wrong logins, reset requests and public
 * subscribe, for known and unknown addresses alternately.
 *
 *     node test/bench account-timing [requests=500]
 *
 * Prints means and Welch's t for each pair; beyond ±2.6 they differ with 99 % certainty.
 */
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { benchEnvironment, startServices } from "./serve.ts";

const [requests = 500] = process.argv.slice(2).map(Number);
const PASSWORD = "correct horse battery";
/** An account slows down after ten wrong logins and may request three resets an hour. */
const USES_OF_A_USER = 8;

interface Series {
  known: number[];
  unknown: number[];
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values: number[]) => {
  const average = mean(values);
  return values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
};
const welch = (a: number[], b: number[]) =>
  (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length);

const someIp = () => `2001:db8:${[0, 0, 0, 0].map(() => randomInt(65_536).toString(16)).join(":")}::1`;

async function post(url: string, path: string, body: object) {
  const began = performance.now();
  const response = await fetch(`${url}/api/${path}/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": someIp() },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { ms: performance.now() - began, status: response.status, text };
}

async function inTurns(url: string, path: string, users: string[], bodyOf: (email: string) => object): Promise<Series> {
  const series: Series = { known: [], unknown: [] };
  for (let n = 0; n < 2 * requests; n++) {
    const isKnown = series.unknown.length === requests || (series.known.length < requests && randomInt(2) === 0);
    const email = isKnown ? users[series.known.length % users.length]! : `nobody-${n}@example.com`;
    const { ms, status } = await post(url, path, bodyOf(email));
    if (![200, 201, 401].includes(status)) throw new Error(`${path} answered ${status}`);
    series[isKnown ? "known" : "unknown"].push(ms);
  }
  return series;
}

const folder = mkdtempSync(join(tmpdir(), "flockmail-timing-"));
const postgres = await startEmbeddedPostgres(folder, { fsync: "off" });
try {
  Object.assign(process.env, benchEnvironment(postgres.url, folder), {
    TRUST_PROXY: "1",
    LOGLEVEL: "fatal",
    SYSTEM_SMTP_URL: "smtp://127.0.0.1:9",
  });
  const { broker, url } = await startServices(["gateway", "accounts", "subscribers", "campaigns"]);
  const users: string[] = [];
  let company = "";
  for (let n = 0; n < Math.ceil(requests / USES_OF_A_USER); n++) {
    const email = `user-${n}@example.com`;
    const made = await post(url, "auth/register", { email, password: PASSWORD, company_name: "Acme" });
    if (made.status !== 201) throw new Error(`register answered ${made.status}`);
    users.push(email);
    company = JSON.parse(made.text).company.id;
  }
  const show = (name: string, { known, unknown }: Series) =>
    console.log(
      `${name}: known ${mean(known).toFixed(2)} ms, unknown ${mean(unknown).toFixed(2)} ms, t = ${welch(known, unknown).toFixed(2)} (${known.length} each)`,
    );
  show("reset", await inTurns(url, "auth/password/reset", users, (email) => ({ email })));
  show("login", await inTurns(url, "auth/login", users, (email) => ({ email, password: "wrong horse battery" })));
  const form = `emails/public/subscribe/${company}`;
  for (const email of users) await post(url, form, { email });
  show("subscribe", await inTurns(url, form, users, (email) => ({ email })));
  const { query } = await import("../../models/database/db.ts");
  await query("update companies set double_opt_in = true where id = $1", [company]);
  show("subscribe with double opt-in", await inTurns(url, form, users, (email) => ({ email: `2-${email}` })));
  await broker.stop();
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
