/**
 * Adds many suppressions from a CSV file or a list of items: copied into a temporary table and merged in one statement,
 * all or none. An existing suppression is only ever strengthened.
 */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { domainToUnicode } from "node:url";
import { from as copyFrom } from "pg-copy-streams";
import { importTransaction } from "../../../models/database/bulk.ts";
import { type Client, query, queryOne } from "../../../models/database/db.ts";
import { allowLonger } from "../../../models/database/silence.ts";
import { erasedTest } from "../../../models/statements/erased-addresses.ts";
import { lockBulkWrites } from "../../../models/statements/subscriber-locks.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { SUPPRESSION_KINDS, type SuppressionKind } from "../../../models/suppression.ts";
import { addressError, addressText, isAddress } from "../../lib/address.ts";
import { withoutGuard } from "../../lib/csv.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { IS_STRONGER, RESTRICT_SUBSCRIBERS, STRENGTH } from "../suppress.ts";
import { bareDomain } from "../suppressions.ts";
import { analyzeTables } from "./analyze-tables.ts";
import { addressColumn, missingColumn, namesOf } from "./columns.ts";
import { charsetErrors } from "./decode-text.ts";
import { copyText, isBlank, isUnreadable } from "./import-rows.ts";
import { openCsv } from "./import-subscribers.ts";
import { squashed, stateOfWord } from "./status-words.ts";

/** A suppression of the request. */
export interface BlockItem {
  email?: string | null;
  domain?: string | null;
  reason?: string | null;
  kind?: string | null;
}

interface BlockError {
  /** Line of the file (the header is line 1), or the item's index. */
  row: number;
  email: string;
  domain: string;
  error: string;
}

/** Equals the maximum number of items. */
const MAX_ERRORS = 10_000;
const MAX_REASON = 1_000;
const MAX_SHOWN = 254;

/** `manual` by default; undefined for an unknown word. */
function kindOf(word: string): SuppressionKind | undefined {
  const given = squashed(word);
  if (given === "") return "manual";
  if (SUPPRESSION_KINDS.includes(given as SuppressionKind)) return given as SuppressionKind;
  const status = SUBSCRIBER_STATUSES[stateOfWord(word) ?? 0]!;
  return SUPPRESSION_KINDS.find((kind) => kind === status);
}

class Blocks {
  total = 0;
  /** Entries of erased persons, who are blocked without a row. */
  blocked = 0;
  readonly errors: BlockError[] = [];
  #erased: (address: string) => boolean;

  constructor(wasErased: (address: string) => boolean) {
    this.#erased = wasErased;
  }

  #refuse(row: number, email: string, domain: string, error: string): string {
    const shown = (text: string) => text.slice(0, MAX_SHOWN).toWellFormed();
    if (this.errors.length < MAX_ERRORS) this.errors.push({ row, email: shown(email), domain: shown(domain), error });
    return "";
  }

  /** Returns the COPY line, or nothing if the entry is refused. */
  line(row: number, item: BlockItem, fault?: string): string {
    this.total++;
    const email = addressText(item.email ?? "");
    const [given, reason] = [(item.domain ?? "").trim(), (item.reason ?? "").trim()];
    const refuse = (error: string) => this.#refuse(row, email, given, error);
    if (fault) return refuse(fault);
    if ([email, given, reason].some(isUnreadable)) return refuse("The row is not valid text.");
    if ((email === "") === (given === "")) return refuse("Give exactly one of email and domain.");
    if (email && !isAddress(email)) return refuse(`email: ${addressError(email)}`);
    const domain = given && bareDomain(given);
    if (domain === null) return refuse("domain: Enter a valid domain.");
    const kind = kindOf(item.kind ?? "");
    if (!kind) return refuse(`kind: "${(item.kind ?? "").slice(0, 100).toWellFormed()}" is not a valid choice.`);
    if (reason.length > MAX_REASON)
      return refuse(`reason: Ensure this field has no more than ${MAX_REASON} characters.`);
    if (email && this.#erased(email)) {
      this.blocked++;
      return "";
    }
    const unicode = domain && domainToUnicode(domain);
    const cells = [String(row), email, domain, unicode === domain ? "" : unicode, kind, reason];
    return `${cells.map((cell) => (cell === "" ? "\\N" : copyText(cell))).join("\t")}\n`;
  }
}

type Lines = (blocks: Blocks) => AsyncIterable<string> | Iterable<string>;

function linesOfItems(items: readonly BlockItem[]): Lines {
  return function* (blocks) {
    for (const [index, item] of items.entries()) {
      const line = blocks.line(index, item);
      if (line) yield line;
    }
  };
}

/** Refuses a file without a column of addresses or domains before anything is written. */
async function linesOfFile(stream: NodeJS.ReadableStream, charset: string | undefined): Promise<Lines> {
  const { columns, rows } = await openCsv(stream, { charset }, (header) => {
    const names = namesOf(header);
    const at = (column: string) => names.findIndex((name) => squashed(name) === column);
    const [email, domain] = [addressColumn(names), at("domain")];
    if (email === -1 && domain === -1) throw missingColumn("email", names);
    return { email, domain, reason: at("reason"), kind: at("kind") };
  });
  return async function* (blocks) {
    for await (const batch of rows) {
      let text = "";
      for (const row of batch) {
        if (isBlank(row)) continue;
        const cell = (at: number) => withoutGuard(row.cells[at]?.trim() ?? "");
        const { email, domain, reason, kind } = columns;
        const item = { email: cell(email), domain: cell(domain), reason: cell(reason), kind: cell(kind) };
        text += blocks.line(row.line, item, row.error);
      }
      if (text) yield text;
    }
  };
}

const TABLE = `
  create temporary table blocks (
    line integer not null,
    email text,
    domain text,
    domain_unicode text,
    kind text not null,
    reason text,
    email_key text collate "C" generated always as (address_key(email)) stored
  ) on commit drop`;

const changes = (target: string) => `
  on conflict ${target} do update set
    kind = case when ${IS_STRONGER} then excluded.kind else x.kind end,
    reason = coalesce(nullif(excluded.reason, ''), x.reason)
  where ${IS_STRONGER} or excluded.reason not in ('', x.reason)
  returning xmax = 0 as is_new`;

// Uses the strongest of duplicates. Locks in key order, like all statements that write several.
const MERGE = `
  with addresses as (
    insert into suppressions as x (company_id, email, email_key, kind, reason)
    select distinct on (email_key) $1::uuid, email, email_key, kind, coalesce(reason, '') from blocks
    where email is not null order by email_key, ${STRENGTH("kind")} desc, line desc
    ${changes("(company_id, email_key) where email_key is not null")}),
  domains as (
    insert into suppressions as x (company_id, domain, domain_unicode, kind, reason)
    select distinct on (domain) $1::uuid, domain, domain_unicode, kind, coalesce(reason, '') from blocks
    where domain is not null order by domain, ${STRENGTH("kind")} desc, line desc
    ${changes("(company_id, domain) where domain is not null")})
  select (select count(*) from addresses where is_new) + (select count(*) from domains where is_new) as created,
    (select count(*) from blocks) as given`;

const STATEMENT_MS = 10 * 60_000;

async function merge(client: Client, companyId: string): Promise<{ created: number; given: number }> {
  await client.query("analyze blocks");
  await lockBulkWrites(client, companyId);
  const merged = await queryOne<{ created: number; given: number }>(MERGE, [companyId], client);
  const source = "(select email_key, kind from blocks where email is not null)";
  await query(RESTRICT_SUBSCRIBERS(source), [companyId], client);
  return merged!;
}

interface BlocksGiven {
  items?: readonly BlockItem[] | undefined;
  stream?: NodeJS.ReadableStream | null | undefined;
  charset?: string | undefined;
}

export const blocksErrors = ({ items, charset }: BlocksGiven, hasFile: boolean): FieldErrors => ({
  ...charsetErrors(charset),
  ...(hasFile || items ? {} : { items: ["This field is required."] }),
});

export async function importSuppressions(companyId: string, { items, stream, charset }: BlocksGiven) {
  const linesOf = stream ? await linesOfFile(stream, charset) : linesOfItems(items ?? []);
  const report = await importTransaction(companyId, async (client) => {
    await allowLonger(client, STATEMENT_MS);
    await client.query(TABLE);
    const blocks = new Blocks(await erasedTest(companyId, client));
    const copy = "copy blocks (line, email, domain, domain_unicode, kind, reason) from stdin";
    await pipeline(Readable.from(linesOf(blocks), { objectMode: true }), client.query(copyFrom(copy)));
    const { created, given } = await merge(client, companyId);
    return { total: blocks.total, created, existing: given - created + blocks.blocked, errors: blocks.errors };
  });
  await analyzeTables(report.created);
  return report;
}
