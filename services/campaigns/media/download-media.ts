/**
 * Public download. Browsers display only types that cannot run scripts and save all others; `nosniff` prevents type
 * guessing, and the policy keeps a directly opened file from loading or running anything.
 */
import { queryOne } from "../../../models/database/db.ts";
import { Media } from "../../../models/media.ts";
import { type Caller, requireOwnHost } from "../../lib/caller.ts";
import { notFound } from "../../lib/errors.ts";
import type { Document, DownloadPage } from "../../lib/shapes.ts";

const DISPLAYED = /^(image\/(png|jpeg|gif|webp|avif|x-icon)|audio\/.*|video\/.*|application\/pdf|text\/plain)$/;
const isText = (type: string) => type.startsWith("text/") || type === "application/json";

function disposition(type: string, filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const full = encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${DISPLAYED.test(type) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${full}`;
}

/** The id is the credential: every email that shows the file contains it, so no company is checked. */
export async function downloadMedia(id: string, caller: Caller): Promise<Document> {
  const media = await Media.findOne({ where: { id, deletedAt: null } });
  if (!media) throw notFound();
  requireOwnHost(caller, media.companyId);
  return {
    content_type: isText(media.contentType) ? `${media.contentType}; charset=utf-8` : media.contentType,
    body: "",
    body_from: { action: "campaigns.mediaBytes", params: { id } },
    headers: {
      "Content-Length": String(media.size),
      "Content-Disposition": disposition(media.contentType, media.filename),
      "X-Content-Type-Options": "nosniff",
      // PDF viewers of browsers do not start with "sandbox".
      "Content-Security-Policy": `default-src 'none'${media.contentType === "application/pdf" ? "" : "; sandbox"}`,
      // Webmail of any origin may show the images.
      "Cross-Origin-Resource-Policy": "cross-origin",
      // A month: the bytes behind an id never change, but a deleted file must leave all caches eventually.
      "Cache-Control": "public, max-age=2592000",
      ETag: `"${media.sha256.toString("hex")}"`,
    },
  };
}

const PART = `
  select p.data from media m left join media_parts p on p.media_id = m.id and p.no = $2
  where m.id = $1 and m.deleted_at is null`;

/** Returns one part as a page. A cursor past the last part yields an empty page. */
export async function mediaBytes(id: string, cursor = "0"): Promise<DownloadPage> {
  const part = await queryOne<{ data: Buffer | null }>(PART, [id, Number(cursor)]);
  if (!part) throw notFound();
  return { body: part.data ?? "", next: part.data ? String(Number(cursor) + 1) : null };
}
