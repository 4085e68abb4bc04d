/**
 * Assigns the recipients of a slice to the variants of an A/B test, and groups them in chunks. The order is by a hash
 * of campaign and subscriber (write-audience-slice.ts), so that it depends on neither time nor process; counts per
 * variant span all slices (divide-by-share.ts). Recipients of one variant are numbered consecutively, so that a chunk has one
 * content. The remainder, which waits for the winner, has its own chunks.
 */
import type { Client } from "../../../models/database/db.ts";
import { addChunks, cutIntoRuns, type Run } from "../../../models/statements/add-chunks.ts";
import { countVariantRecipients } from "../../../models/statements/campaign-variants.ts";
import type { ExpandingCampaign } from "../../../models/statements/write-audience-slice.ts";
import { divideByShare } from "./divide-by-share.ts";

type Assigned = readonly (number | null)[];

/** Returns the variant for each recipient of a slice of the given maximum size; undefined without an A/B test. */
export function assignNext({ variants, next_seq }: ExpandingCampaign, count: number): Assigned | undefined {
  if (!variants) return undefined;
  const given = variants.map(({ recipients }) => recipients);
  const remainder = next_seq - 1 - given.reduce((sum, n) => sum + n, 0);
  return divideByShare(
    variants.map(({ percent }) => percent),
    [...given, remainder],
    count,
  );
}

/** Interleaves the runs, so that variants are sent at the same time. */
function interleave(runs: readonly (readonly Run[])[]): Run[] {
  const longest = Math.max(...runs.map(({ length }) => length));
  return Array.from({ length: longest }, (_, n) => runs.flatMap((run) => run[n] ?? [])).flat();
}

/** Numbers the recipients from `lo` on by variant, the remainder last. */
export function runsOf(
  assigned: Assigned,
  variants: number,
  lo: number,
): { given: number[]; test: Run[]; remainder: Run[] } {
  const given = Array.from({ length: variants }, (_, index) => assigned.filter((variant) => variant === index).length);
  let at = lo;
  const runs = given.map((n) => {
    const runs = cutIntoRuns(at, at + n - 1);
    at += n;
    return runs;
  });
  return { given, test: interleave(runs), remainder: cutIntoRuns(at, lo + assigned.length - 1) };
}

/** Adds chunks for the first `kept` recipients, the only ones that were written. */
export async function addChunksByVariant(
  client: Client,
  campaign: ExpandingCampaign,
  assigned: Assigned,
  kept: number,
): Promise<void> {
  const { company_id, id, next_seq, variants } = campaign;
  const { given, test, remainder } = runsOf(assigned.slice(0, kept), variants!.length, next_seq);
  await addChunks(client, campaign, test);
  await addChunks(client, campaign, remainder, { held: true });
  await countVariantRecipients(client, company_id, id, given);
}
