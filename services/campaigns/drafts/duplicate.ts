/** A draft of a campaign that exists: the request that would make another one like it. */
import { campaignRequest } from "../../../models/statements/campaign-request.ts";
import { notFound } from "../../lib/errors.ts";
import { createDraft } from "./drafts.ts";

const MAX_NAME = 255;

/** As long as a send's name may be, and no half of a character at its end. */
const copyOf = (name: string): string =>
  `Copy of ${name}`
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, "")
    .trim();

export async function duplicate(companyId: string, campaignId: string) {
  const request = await campaignRequest(companyId, campaignId);
  if (!request) throw notFound();
  const name = copyOf(request.name);
  return createDraft(companyId, { name, kind: request.kind, body: { ...request.body, name } });
}
