/** Media files: list, read, change, delete, and clean-up of unused bytes. */

import type { CampaignStatus } from "../../../models/campaign.ts";
import { query } from "../../../models/database/db.ts";
import { isOneOf, listModels } from "../../../models/database/listing.ts";
import { MEDIA_COLUMNS, Media } from "../../../models/media.ts";
import { notFound } from "../../lib/errors.ts";
import type { ListQuery } from "../../lib/shapes.ts";
import { MAX_FOLDERS } from "../contract-media.ts";
import { usesOfMedia } from "./media-uses.ts";
import { cleanFilename, cleanFolder } from "./upload.ts";

interface MediaQuery extends ListQuery {
  content_type?: string | string[];
  folder?: string | string[];
  is_copy?: boolean;
}

export async function listMedia(companyId: string, asked: MediaQuery) {
  const { content_type, folder, is_copy } = asked;
  const values: unknown[] = [companyId];
  const listing = {
    from: "media m",
    columns: MEDIA_COLUMNS,
    where: [
      "m.company_id = $1",
      "m.deleted_at is null",
      ...(content_type === undefined ? [] : [isOneOf("m.content_type", content_type, values)]),
      ...(folder === undefined ? [] : [isOneOf("m.folder", [folder].flat().map(cleanFolder), values)]),
      ...(is_copy === undefined ? [] : [`m.copy_of is ${is_copy ? "not null" : "null"}`]),
    ],
    values,
    id: "m.id",
    orderings: { filename: "m.filename", size: "m.size", content_type: "m.content_type" },
    searchIn: ["m.filename", "m.alt"],
  };
  const { results, ...page } = await listModels(Media, listing, asked);
  return { ...page, results: results.map((media) => media.view()) };
}

export async function getMedia(companyId: string, id: string) {
  const media = await Media.findOne({ where: { companyId, id, deletedAt: null } });
  if (!media) throw notFound();
  return media.view();
}

/** Folders have no rows of their own: they are what the files say. */
export const listMediaFolders = (companyId: string) =>
  query<{ folder: string; count: number }>(
    `select folder, count(*)::int as count from media
     where company_id = $1 and deleted_at is null and folder <> '' group by folder order by lower(folder), folder
     limit ${MAX_FOLDERS}`,
    [companyId],
  );

interface MediaChange {
  id: string;
  filename?: string;
  folder?: string;
  alt?: string;
}

export async function updateMedia(companyId: string, { id, filename, folder, alt }: MediaChange) {
  const media = await Media.findOne({ where: { companyId, id, deletedAt: null } });
  if (!media) throw notFound();
  const name = filename === undefined ? media.filename : cleanFilename(filename);
  await media.update({
    filename: name,
    folder: folder === undefined ? media.folder : cleanFolder(folder),
    alt: alt?.trim() ?? media.alt,
  });
  return media.view();
}

/** Shows where the file is used. */
export async function mediaUsage(companyId: string, id: string) {
  await getMedia(companyId, id);
  const { templates, campaigns } = await usesOfMedia<CampaignStatus>(companyId, id);
  return {
    template_count: templates.count,
    templates: templates.uses,
    campaign_count: campaigns.count,
    campaigns: campaigns.uses,
  };
}

// A deleted file is inaccessible at once; its bytes stay while a campaign that attaches it may still send. Partial and
// failed campaigns may be resumed, so their files are kept for a month.
const UNUSED = `deleted_at is not null and not exists (
  select from campaign_contents k join campaigns c on c.company_id = k.company_id and c.id = k.campaign_id
  where k.company_id = m.company_id and k.media_ids @> array[m.id] and k.media_ids <> '{}'
    and (c.status in ('scheduled', 'pending', 'sending')
      or (c.status in ('partial', 'failed') and c.finished_at > now() - interval '30 days')))`;

export async function removeMedia(companyId: string, id: string): Promise<null> {
  const [removed] = await Media.update({ deletedAt: new Date() }, { where: { companyId, id, deletedAt: null } });
  if (removed === 0) throw notFound();
  // A separate statement: a send that attached the file concurrently has committed before the update.
  await query(`delete from media m where m.company_id = $1 and m.id = $2 and ${UNUSED}`, [companyId, id]);
  return null;
}

/** Deletes unused files of all companies, and the remains of interrupted uploads. */
export async function sweepMedia(): Promise<number> {
  const swept = await query(
    `delete from media m where m.id in (
       select m.id from media m where m.deleted_at < now() - interval '1 hour' and ${UNUSED} limit 1000)
     returning m.id`,
  );
  return swept.length;
}
