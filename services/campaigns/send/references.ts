/** What a send request refers to must exist and be the company's own; another's is as good as missing. */
import { query, queryOne } from "../../../models/database/db.ts";
import { type FieldErrors, missingObject } from "../../lib/errors.ts";

/** Providers refuse larger mails (25 MB is the usual limit, and base64 adds a third). */
const MAX_ATTACHED_BYTES = 18 * 1024 * 1024;

export interface References {
  template_id?: string;
  smtp_config_id?: string;
  list_id?: string;
  segment_id?: string;
}

interface Found {
  template_id: boolean;
  smtp_config_id: boolean;
  list_id: boolean;
  segment_id: boolean;
}

/** One round trip for all of them; a reference that is not given (null) counts as found. */
export async function referenceFaults(companyId: string, ids: References): Promise<FieldErrors> {
  const found = await queryOne<Found>(
    `select $2::uuid is null or exists (select from templates where company_id = $1 and id = $2) as template_id,
            $3::uuid is null or exists (select from smtp_configs where company_id = $1 and id = $3) as smtp_config_id,
            $4::uuid is null or exists (select from lists where company_id = $1 and id = $4) as list_id,
            $5::uuid is null or exists (select from segments where company_id = $1 and id = $5) as segment_id`,
    [companyId, ids.template_id, ids.smtp_config_id, ids.list_id, ids.segment_id],
  );
  const fields = Object.keys(found!) as (keyof Found)[];
  return Object.fromEntries(
    fields.filter((field) => !found![field]).map((field) => [field, [missingObject(ids[field]!)]]),
  );
}

export async function attachmentFaults(companyId: string, ids: readonly string[]): Promise<string[]> {
  const media = await query<{ id: string; size: number }>(
    "select id, size from media where company_id = $1 and id = any($2) and deleted_at is null",
    [companyId, ids],
  );
  const known = new Set(media.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id.toLowerCase()));
  if (missing.length > 0) return missing.map(missingObject);
  const bytes = media.reduce((sum, { size }) => sum + size, 0);
  return bytes > MAX_ATTACHED_BYTES
    ? [`The attachments are ${bytes} bytes together, more than the ${MAX_ATTACHED_BYTES} that mail servers accept.`]
    : [];
}
