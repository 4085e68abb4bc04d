/** An uploaded file as the API shows it; its bytes are rows of media_parts. */
import { config } from "../services/lib/config.ts";

export interface MediaRow {
  id: string;
  filename: string;
  content_type: string;
  size: number;
  sha256: Buffer;
  created_at: Date;
}

/** For a statement whose media have the alias m. */
export const MEDIA_COLUMNS = "m.id, m.filename, m.content_type, m.size, m.sha256, m.created_at";

export const mediaView = (row: MediaRow) => ({
  id: row.id,
  filename: row.filename,
  content_type: row.content_type,
  size: row.size,
  sha256: row.sha256.toString("hex"),
  url: `${config().BASE_URL}/api/emails/public/media/${row.id}/${encodeURIComponent(row.filename)}`,
  created_at: row.created_at.toISOString(),
});
