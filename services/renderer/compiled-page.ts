/** A campaign's mail as a page, compiled once and not for each reader: a large body takes 0.3 s. Snapshots never change. */
import { bodiesOf, htmlProgram, subjectProgram } from "./bodies/bodies.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { loadContent } from "./campaign-rows.ts";
import { installation } from "./compiled-campaign.ts";
import type { Content } from "./content.ts";
import type { Program } from "./program/program.ts";

export interface CompiledPage extends Pick<Content, "companyId" | "companyName" | "footerText"> {
  subject: Program;
  html: Program;
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_AGE_MS = 5 * 60_000;
/** As measured for compiled campaigns, which hold three programs of the same body. */
const OVERHEAD_BYTES = 16 * 1024;
const BYTES_PER_CHARACTER = 4;

const cache = new BoundedCache<CompiledPage>(MAX_BYTES);

/** Undefined where the campaign is gone. Throws Unrenderable. */
export async function compiledPage(campaignId: string): Promise<CompiledPage | undefined> {
  const cached = cache.get(campaignId);
  if (cached) return cached;
  const content = (await loadContent(campaignId, { toSend: false }))?.content;
  if (!content) return undefined;
  const { companyId, companyName, footerText } = content;
  const { baseUrl } = installation();
  const bodies = bodiesOf(content);
  const subject = subjectProgram(bodies.subject, baseUrl);
  const page = { companyId, companyName, footerText, subject, html: htmlProgram(bodies.html, baseUrl) };
  const bytes = OVERHEAD_BYTES + BYTES_PER_CHARACTER * (content.subject.length + content.body.length);
  cache.set(campaignId, page, { bytes, until: Date.now() + MAX_AGE_MS });
  return page;
}
