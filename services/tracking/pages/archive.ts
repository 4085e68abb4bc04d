/**
 * Public archive of a list: a page, an RSS feed, and a page for each campaign. Requests are not throttled: each costs a
 * few index look-ups, and rendered content is cached (services/renderer/render-archived.ts).
 */
import { createHash } from "node:crypto";
import { activeTrackingDomain } from "../../../models/statements/tracking-domains.ts";
import { call } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { notFound } from "../../lib/errors.ts";
import { catalogueFor } from "../../lib/i18n/languages.ts";
import { linksBase } from "../../lib/links-base.ts";
import type { Document } from "../../lib/shapes.ts";
import { feedXml } from "./archive-feed.ts";
import { type ArchivedList, archivedList, hasIssue, type Issue, issuesOf } from "./archived-issues.ts";
import { mailDocument } from "./mail-document.ts";
import { page } from "./page.ts";
import { pageCompany } from "./page-company.ts";

const PAGE_SIZE = 20;
/** Maximum pages, because each further page costs more than the one before. */
const MAX_PAGES = 500;
/** Time for which readers and caches may show outdated content. */
const FRESH_SECONDS = 60;

/** Throws 404 for anything that is not an archive on this host. */
async function listOf(ctx: Ctx<{ list_id: string }>): Promise<ArchivedList> {
  const list = await archivedList(ctx.params.list_id);
  if (!list) throw notFound();
  requireOwnHost(ctx.meta, list.company_id);
  return list;
}

function cacheable(document: Document): Document {
  const tag = createHash("sha256").update(document.body).digest("base64url").slice(0, 22);
  const headers = { ...document.headers, "cache-control": `public, max-age=${FRESH_SECONDS}`, etag: `W/"${tag}"` };
  return { ...document, headers };
}

/** The campaign's own name is internal: a campaign without a subject is titled with the list's name. */
async function titled(ctx: Ctx, list: ArchivedList, issues: readonly Issue[]): Promise<(Issue & { title: string })[]> {
  const campaignIds = issues.map(({ id }) => id);
  const { subjects } = await call(ctx, "renderer.archivedSubjects", { companyId: list.company_id, campaignIds });
  return issues.map((issue, n) => ({ ...issue, title: subjects[n] || list.name }));
}

function pageNumber(given: ParamsOf<"tracking.archivePage">["page"] = 1): number {
  if (!Number.isInteger(given) || Number(given) < 1 || Number(given) > MAX_PAGES) throw notFound();
  return Number(given);
}

export async function archivePage(ctx: Ctx<ParamsOf<"tracking.archivePage">>): Promise<Document> {
  const list = await listOf(ctx);
  const number = pageNumber(ctx.params.page);
  // One extra row shows whether there is another page.
  const found = await issuesOf(list, { limit: PAGE_SIZE + 1, offset: (number - 1) * PAGE_SIZE });
  if (number > 1 && found.length === 0) throw notFound();
  const company = await pageCompany(list.company_id);
  const issues = await titled(ctx, list, found.slice(0, PAGE_SIZE));
  const { http } = ctx.meta;
  const { code } = catalogueFor(http?.acceptLanguage ?? "", company.language);
  const dates = new Intl.DateTimeFormat(code, { dateStyle: "long", timeZone: "UTC" });
  return cacheable(
    page("archive", http, {
      company,
      list: list.name,
      description: list.description,
      issues: issues.map(({ id, title, at, day }) => ({ id, title, at: at.toISOString(), date: dates.format(day) })),
      newer: number > 1 ? number - 1 : undefined,
      older: found.length > PAGE_SIZE && number < MAX_PAGES ? number + 1 : undefined,
    }),
  );
}

export async function archiveFeed(ctx: Ctx<ParamsOf<"tracking.archiveFeed">>): Promise<Document> {
  const list = await listOf(ctx);
  const issues = await titled(ctx, list, await issuesOf(list, { limit: PAGE_SIZE }));
  const base = linksBase(await activeTrackingDomain(list.company_id));
  const url = `${base}/api/emails/public/archive/${list.id}/`;
  const { name } = await pageCompany(list.company_id);
  const body = feedXml({
    title: `${list.name} – ${name}`,
    description: list.description,
    url,
    feedUrl: `${url}feed.xml`,
    items: issues.map(({ id, title, at }) => ({ title, at, url: `${url}${id}/` })),
  });
  const headers = { "x-content-type-options": "nosniff" };
  return cacheable({ content_type: "application/rss+xml; charset=utf-8", body, headers });
}

export async function archivedIssue(ctx: Ctx<ParamsOf<"tracking.archivedIssue">>): Promise<Document> {
  const list = await listOf(ctx);
  const { campaign_id: campaignId } = ctx.params;
  if (!(await hasIssue(list, campaignId))) throw notFound();
  const campaign = { companyId: list.company_id, campaignId, listId: list.id };
  const { html } = await call(ctx, "renderer.renderArchived", campaign);
  return cacheable(mailDocument(html));
}
