/** Creates a draft with the request of an existing campaign. */

import { notFound } from "../../lib/errors.ts";
import { campaignRequest } from "../campaign-request.ts";
import { cutName } from "../send/send-params.ts";
import { createDraft } from "./drafts.ts";

export async function duplicate(companyId: string, campaignId: string) {
  const request = await campaignRequest(companyId, campaignId);
  if (!request) throw notFound();
  const name = cutName(`Copy of ${request.name}`);
  return createDraft(companyId, { name, kind: request.kind, body: { ...request.body, name } });
}
