/** Many opens and clicks in one call: what a gateway got within one turn of its event loop. */
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Recorder } from "./hits.ts";
import { hitOf, readTarget } from "./hits.ts";

type Asked = ParamsOf<"tracking.hits">["hits"][number];
type Answer = ReturnsOf<"tracking.hits">["answers"][number];

const UNKNOWN: Answer = { outcome: "unknown", url: null };

async function record(asked: Asked, hits: Recorder): Promise<Answer> {
  const target = readTarget(asked.token);
  if (!target || asked.open !== (target.link === 0)) return UNKNOWN;
  const { found, url } = await hits.add(hitOf(target, asked));
  return found ? { outcome: "stored", url } : UNKNOWN;
}

/** One that fails does not fail the others; `failed` is told why. Where all fail, so does the call. */
export async function recordTogether(
  asked: readonly Asked[],
  hits: Recorder,
  failed: (error: unknown) => void,
): Promise<Answer[]> {
  const settled = await Promise.allSettled(asked.map((one) => record(one, hits)));
  const errors = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0 && errors.length === asked.length) throw errors[0];
  for (const error of errors) failed(error);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : { outcome: "failed", url: null }));
}
