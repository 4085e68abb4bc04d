/**
 * Which recipients of a slice get which variant of their campaign, and in which chunks they go. The order in which they are
 * dealt to is that of a hash of campaign and subscriber (write-audience-slice.ts), so that it depends on neither time nor
 * process; how many each variant gets is counted over all slices (share-out.ts). The recipients of one variant stand side by
 * side, so that a chunk has one content, and the rest, which waits for the winner, is in chunks of its own.
 */
import type { Client } from "../../../models/database/db.ts";
import { addChunks, cutIntoRuns, type Run } from "../../../models/statements/add-chunks.ts";
import { countVariantRecipients } from "../../../models/statements/campaign-variants.ts";
import type { ExpandingCampaign } from "../../../models/statements/write-audience-slice.ts";
import { shareOut } from "./share-out.ts";

type Dealt = readonly (number | null)[];

/** A variant for each place of the next slice, as long as it may get; undefined where all get the same. */
export function dealNext({ variants, next_seq }: ExpandingCampaign, places: number): Dealt | undefined {
  if (!variants) return undefined;
  const given = variants.map(({ recipients }) => recipients);
  const rest = next_seq - 1 - given.reduce((sum, n) => sum + n, 0);
  return shareOut(
    variants.map(({ percent }) => percent),
    [...given, rest],
    places,
  );
}

/** One of each by turns: variants that are compared go out at the same time. */
function byTurns(runs: readonly (readonly Run[])[]): Run[] {
  const most = Math.max(...runs.map(({ length }) => length));
  return Array.from({ length: most }, (_, n) => runs.flatMap((own) => own[n] ?? [])).flat();
}

/** The recipients from `lo` on that were dealt to so, in the order in which they are numbered: by variant, the rest last. */
export function runsOf(dealt: Dealt, variants: number, lo: number): { given: number[]; test: Run[]; rest: Run[] } {
  const given = Array.from({ length: variants }, (_, index) => dealt.filter((variant) => variant === index).length);
  let at = lo;
  const runs = given.map((n) => {
    const own = cutIntoRuns(at, at + n - 1);
    at += n;
    return own;
  });
  return { given, test: byTurns(runs), rest: cutIntoRuns(at, lo + dealt.length - 1) };
}

/** The first `kept` of those dealt to were written. */
export async function addChunksByVariant(
  client: Client,
  campaign: ExpandingCampaign,
  dealt: Dealt,
  kept: number,
): Promise<void> {
  const { company_id, id, next_seq, variants } = campaign;
  const { given, test, rest } = runsOf(dealt.slice(0, kept), variants!.length, next_seq);
  await addChunks(client, campaign, test);
  await addChunks(client, campaign, rest, { held: true });
  await countVariantRecipients(client, company_id, id, given);
}
