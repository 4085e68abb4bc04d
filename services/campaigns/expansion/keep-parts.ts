/** Creates the next tables of recipients (models/sent-email.ts) and of hits (models/hit.ts) before they are needed. */
import { query } from "../../../models/database/db.ts";

export async function keepParts(): Promise<void> {
  await query("select prepare_recipient_parts()");
  await query("select prepare_hit_parts()");
}
