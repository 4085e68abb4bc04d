/** Erases a person; the steps are in models/statements/erase-person.ts. */
import type { ServiceBroker } from "moleculer";
import { transaction } from "../../models/database/db.ts";
import { auditWithin } from "../../models/statements/audit-log.ts";
import { formerAddresses } from "../../models/statements/change-address.ts";
import {
  beginErasure,
  dueErasures,
  type ErasedCounts,
  type ErasedPerson,
  erasedPerson,
  eraseStep,
  postponeErasure,
} from "../../models/statements/erase-person.ts";
import { ERASED_KINDS } from "../../models/statements/erase-steps.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";

/** Time spent within the request; the rest continues in the background. */
const IN_REQUEST_MS = 10_000;
const BATCH = 20;
/** A periodic run ends after this time; the next one continues. */
const MAX_RUN_MS = 30_000;

async function steps(person: ErasedPerson, goOn: () => boolean): Promise<{ complete: boolean; counts: ErasedCounts }> {
  for (;;) {
    const { over, counts } = await eraseStep(person);
    if (over || !goOn()) return { complete: over, counts };
  }
}

/**
 * The audit log records that somebody was erased, and by whom, but not who. Former addresses of the person are erased,
 * too.
 */
export async function erase(ctx: Ctx<{ email: string }>): Promise<{ erased: ErasedCounts; complete: boolean }> {
  const companyId = companyOf(ctx);
  const addresses = [ctx.params.email, ...(await formerAddresses(companyId, ctx.params.email))];
  const persons = await Promise.all(addresses.map((address) => erasedPerson(companyId, address)));
  await transaction(async (client) => {
    await auditWithin(client, companyId, ctx.meta, { action: "subscribers.erased" });
    for (const [n, person] of persons.entries()) await beginErasure(client, person, addresses[n]!);
  });
  const until = Date.now() + IN_REQUEST_MS;
  const results: Awaited<ReturnType<typeof steps>>[] = [];
  for (const person of persons) results.push(await steps(person, () => Date.now() < until));
  const sum = (kind: keyof ErasedCounts) => results.reduce((n, { counts }) => n + counts[kind], 0);
  return {
    erased: Object.fromEntries(ERASED_KINDS.map((kind) => [kind, sum(kind)])) as ErasedCounts,
    complete: results.every(({ complete }) => complete),
  };
}

/** Returns how many were processed. */
export async function finishErasures(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  const due = await dueErasures(BATCH);
  for (const person of due) {
    if (broker.stopping || Date.now() > until) break;
    try {
      await steps(person, () => !broker.stopping && Date.now() < until);
    } catch (error) {
      broker.logger.error({ error, companyId: person.companyId }, "An erasure failed and will be retried");
      await postponeErasure(person);
    }
  }
  return due.length;
}
