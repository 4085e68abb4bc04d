/** Counts whom a send to a list or segment would reach now. */

import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type FieldErrors, invalid, missingObject } from "../lib/errors.ts";
import { countAudience } from "./send/count-audience.ts";

type AudienceParams = ParamsOf<"campaigns.audience">;

const ONE_OF_BOTH = "Give either list_id or segment_id.";

export function audienceErrors({ list_id, segment_id }: AudienceParams): FieldErrors {
  return (list_id === undefined) === (segment_id === undefined) ? { list_id: [ONE_OF_BOTH] } : {};
}

export async function audience(
  companyId: string,
  { list_id, segment_id, is_transactional = false }: AudienceParams,
): Promise<ReturnsOf<"campaigns.audience">> {
  const found = await countAudience({
    companyId,
    listId: list_id,
    segmentId: segment_id,
    isTransactional: is_transactional,
  });
  if (!found) throw invalid({ [list_id ? "list_id" : "segment_id"]: [missingObject((list_id ?? segment_id)!)] });
  const { leftOut, isEstimate, ...counts } = found;
  return { ...counts, left_out: leftOut, is_estimate: isEstimate };
}
