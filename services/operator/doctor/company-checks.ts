/**
 * Finds problems of companies that are not caused by the machine: waiting mail, unrecorded hits, unknown time zones.
 */
import { readRow, readRows } from "../database-state.ts";
import { type Check, type Finding, findingsOf } from "./finding.ts";

const AREA = "companies";
const { ok, warn, fail } = findingsOf(AREA);

const MAX_SHOWN = 5;
const HOUR_MS = 3_600_000;

const listed = (all: readonly string[]): string =>
  all.slice(0, MAX_SHOWN).join("; ") + (all.length > MAX_SHOWN ? ` and ${all.length - MAX_SHOWN} more` : "");

interface FailingServer {
  company: string;
  host: string;
  last_error: string | null;
  campaigns: number;
}

const FAILING_SERVERS = `
  select o.name as company, s.host || ':' || s.port as host, s.last_error, count(*)::int as campaigns
  from campaigns c
  join smtp_configs s on s.company_id = c.company_id and s.id = c.smtp_config_id and s.failing_since is not null
  join companies o on o.id = c.company_id
  where c.status in ('pending', 'sending')
  group by s.id, o.id order by s.failing_since limit 1000`;

function failingServersFinding(servers: readonly FailingServer[]): Finding {
  if (servers.length === 0) return ok("mail servers", "no campaign waits for one");
  const found = servers.map(({ company, host, last_error, campaigns }) => {
    const waiting = campaigns === 1 ? "1 campaign" : `${campaigns} campaigns`;
    return `${waiting} of ${company} for ${host} (${last_error ?? "no answer"})`;
  });
  return warn(
    "mail servers",
    `waiting: ${listed(found)}`,
    "Nothing is lost and sending resumes by itself. Check why the server refuses mail, or correct its settings.",
  );
}

interface UnrecordedHits {
  hits: number;
  campaigns: number;
}

const UNRECORDED_HITS = `
  select coalesce(sum(n), 0)::float8 as hits, count(distinct campaign_id)::int as campaigns from campaign_counts
  where metric in ('opened_unrecorded', 'clicked_unrecorded') and bucket > $1`;

function unrecordedHitsFinding({ hits, campaigns }: UnrecordedHits): Finding {
  if (hits === 0) return ok("opens and clicks", "all recorded in the last 24 hours");
  return warn(
    "opens and clicks",
    `${hits} of the last 24 hours not recorded, in ${campaigns === 1 ? "1 campaign" : `${campaigns} campaigns`}`,
    "At most 60 a minute are recorded per address and mail: either a machine follows the links, or TRUST_PROXY is too low and all readers share the proxy's address.",
  );
}

const UNKNOWN_ZONES = `
  select name, timezone from companies
  where timezone not in (select n from time_zone_names() n) order by name, id limit 1000`;

function timeZonesFinding(unknown: readonly { name: string; timezone: string }[]): Finding {
  if (unknown.length === 0) return ok("time zones", "all known to PostgreSQL");
  return fail(
    "time zones",
    `unknown to PostgreSQL: ${listed(unknown.map(({ name, timezone }) => `${timezone} of ${name}`))}`,
    "Update PostgreSQL's time zones (tzdata), or set another in the company's settings: its pages and filters of days fail.",
  );
}

export function companyChecks(): Check[] {
  const check = (name: string, work: () => Promise<Finding>): Check => ({
    area: AREA,
    check: name,
    advice: "Try again when the database answers.",
    work: async () => [await work()],
  });
  return [
    check("mail servers", async () => failingServersFinding(await readRows<FailingServer>(FAILING_SERVERS))),
    check("opens and clicks", async () => {
      const since = Math.floor(Date.now() / HOUR_MS) - 24;
      return unrecordedHitsFinding(await readRow<UnrecordedHits>(UNRECORDED_HITS, [since]));
    }),
    check("time zones", async () => timeZonesFinding(await readRows(UNKNOWN_ZONES))),
  ];
}
