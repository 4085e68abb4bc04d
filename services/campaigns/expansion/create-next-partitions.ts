/** Creates the next partitions of recipients (models/sent-email.ts) and hits (models/hit.ts) in advance. */
import { query } from "../../../models/database/db.ts";

export async function createNextPartitions(): Promise<void> {
  await query("select prepare_recipient_parts()");
  await query("select prepare_hit_parts()");
}
