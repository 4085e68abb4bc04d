/** Saves the receivers of sends as subscribers, as far as the plan allows. */
import type { ServiceBroker } from "moleculer";
import { saveTransaction } from "../../models/database/bulk.ts";
import { type Client, query, transaction } from "../../models/database/db.ts";
import { erasedAmong } from "../../models/statements/erased-addresses.ts";
import {
  COMPANIES_TO_SAVE,
  insertReceivers,
  linkMails,
  takeUnsaved,
  type UnsavedRow,
} from "../../models/statements/save-receivers.ts";
import { call } from "../call.ts";
import { isAddress } from "../lib/address.ts";
import { toOneLine } from "../lib/one-line.ts";
import { type Limit, lockBulkWrites, roomFor, tryLockBulkWrites } from "./company-locks.ts";

interface Receiver {
  email: string;
  first_name?: string;
  last_name?: string;
}

const MAX_NAME = 255;
const nameOf = (text = "") => toOneLine(text).slice(0, MAX_NAME).toWellFormed();

async function save(client: Client, companyId: string, limit: Limit, receivers: readonly Receiver[]): Promise<void> {
  const erased = await erasedAmong(
    companyId,
    receivers.map(({ email }) => email),
    client,
  );
  const valid = receivers
    .filter(({ email }) => !erased.has(email))
    .map(({ email, first_name, last_name }) => ({
      email: email.trim(),
      first_name: nameOf(first_name),
      last_name: nameOf(last_name),
    }))
    .filter(({ email }) => isAddress(email));
  if (valid.length > 0) await insertReceivers(client, companyId, valid, await roomFor(client, companyId, limit));
}

/** Of one company and in one transaction; each takes some 50 ms. */
const AT_ONCE = 1_000;
/** A run of the repeating action ends after this time and continues with the next. */
const MAX_RUN_MS = 10_000;

/** The rows that were saved; none where another writer holds the company, an import say: nobody waits for it here. */
async function saveSome(companyId: string, limit: Limit): Promise<UnsavedRow[]> {
  return saveTransaction(companyId, async (client) => {
    if (!(await tryLockBulkWrites(client, companyId))) return [];
    const rows = await takeUnsaved(client, companyId, AT_ONCE);
    if (rows.length === 0) return [];
    await save(client, companyId, limit, rows);
    await linkMails(client, companyId, rows);
    return rows;
  });
}

/** What waits of each company in turn, until nothing is left or the rest has to wait for other writers. */
export async function saveWaiting(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  const failures: Error[] = [];
  const ended = (saved: number) => {
    const [first] = failures;
    if (first)
      broker.logger.warn(`Receivers were not saved as subscribers, ${failures.length} times: ${first.message}`);
    return saved;
  };
  for (let saved = 0; ; ) {
    const before = saved;
    for (const { company_id: companyId } of await query<{ company_id: string }>(COMPANIES_TO_SAVE)) {
      if (broker.stopping || Date.now() > until) return ended(saved);
      try {
        const { limits } = await call(broker, "accounts.planOf", {}, { meta: { companyId } });
        saved += (await saveSome(companyId, limits.subscribers)).length;
      } catch (error) {
        // One company's trouble must not hold up the others; its rows are still there.
        failures.push(error as Error);
      }
    }
    if (saved === before) return ended(saved);
  }
}

const IDS = `
  select s.id from unnest($2::text[]) with ordinality g (email, no)
  left join subscribers s on s.company_id = $1 and s.email_key = address_key(g.email)
  order by g.no`;

/** Their mail waits for this. */
const WAIT_FOR_IMPORT_MS = 500;

/**
 * For nodes of the release before, which save receivers ahead of their mail. Ids in the order of the receivers; null for one
 * beyond the limit or without a valid address.
 */
export async function saveReceivers(companyId: string, limit: Limit, receivers: Receiver[]) {
  await transaction(async (client) => {
    await lockBulkWrites(client, companyId, WAIT_FOR_IMPORT_MS);
    await save(client, companyId, limit, receivers);
  });
  const emails = receivers.map(({ email }) => email.trim());
  return (await query<{ id: string | null }>(IDS, [companyId, emails])).map(({ id }) => id);
}
