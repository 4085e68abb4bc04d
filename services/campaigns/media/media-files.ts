import { queryOne } from "../../../models/database/db.ts";
import { listPage } from "../../../models/database/listing.ts";
import { MEDIA_COLUMNS, type MediaRow, mediaView } from "../../../models/media.ts";
import { notFound } from "../../lib/errors.ts";
import type { ListQuery } from "../../lib/shapes.ts";

export async function listMedia(companyId: string, asked: ListQuery & { content_type?: string }) {
  const { content_type } = asked;
  const page = await listPage<MediaRow>(
    {
      from: "media m",
      columns: MEDIA_COLUMNS,
      where: [
        "m.company_id = $1",
        "m.deleted_at is null",
        ...(content_type === undefined ? [] : ["m.content_type = $2"]),
      ],
      values: [companyId, ...(content_type === undefined ? [] : [content_type])],
      id: "m.id",
      orderings: { filename: "m.filename", size: "m.size", content_type: "m.content_type" },
      searchIn: ["m.filename"],
    },
    asked,
  );
  return { count: page.count, results: page.results.map(mediaView) };
}

export async function getMedia(companyId: string, id: string) {
  const row = await queryOne<MediaRow>(
    `select ${MEDIA_COLUMNS} from media m where m.company_id = $1 and m.id = $2 and m.deleted_at is null`,
    [companyId, id],
  );
  if (!row) throw notFound();
  return mediaView(row);
}
