/**
 * Claims DKIM keys whose records should be looked up. SQL, because each claim is one statement that gives a row to only
 * one node. Works for all companies.
 */
import { query } from "../../../models/database/db.ts";

export interface WaitingKey {
  id: string;
  company_id: string;
  smtp_config_id: string;
}

/** Together with the pause between a node's rounds, a record is found within a minute. */
const PAUSE_SECONDS = 30;
/** Pause for a key whose record has not appeared within a week. */
const LONG_PAUSE_SECONDS = 600;

const CLAIM = `
  with due as (
    select id, company_id from dkim_keys where not active and next_look_at <= now()
    order by next_look_at limit $1 for update skip locked)
  update dkim_keys k set next_look_at = now() + make_interval(secs =>
    case when k.created_at > now() - interval '7 days' then ${PAUSE_SECONDS} else ${LONG_PAUSE_SECONDS} end)
  from due where k.company_id = due.company_id and k.id = due.id
  returning k.id, k.company_id, k.smtp_config_id`;

export const claimWaitingKeys = (limit: number): Promise<WaitingKey[]> => query<WaitingKey>(CLAIM, [limit]);
