/** Inline receivers become subscribers of the company, as far as its plan allows. Never a reason for a send to fail. */
import type { ServiceBroker } from "moleculer";
import { query } from "../../../models/database/db.ts";
import { call } from "../../call.ts";

/** Mail does not wait longer than this; who is not saved by then is sent to without a link to a subscriber. */
const PATIENCE_MS = 3_000;

interface Unsaved {
  company_id: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
}

const text = (name: string) =>
  `case when jsonb_typeof(r.variables->'${name}') = 'string' then left(r.variables->>'${name}', 255) end as ${name}`;

/** Saves the receivers of the next slice, so that it finds them by their address. */
export async function saveReceivers(broker: ServiceBroker, campaignId: string, limit: number): Promise<void> {
  const unsaved = await query<Unsaved>(
    `select r.company_id, r.email, ${text("first_name")}, ${text("last_name")}
     from campaigns c join campaign_receivers r on r.company_id = c.company_id and r.campaign_id = c.id
     where c.id = $1 and c.campaign_type <> 'to_list' and c.expanded_at is null
       and r.no > coalesce(c.expand_cursor, '0')::int
     order by r.no limit $2`,
    [campaignId, limit],
  );
  if (unsaved.length === 0) return;
  const receivers = unsaved.map(({ email, first_name, last_name }) => ({
    email,
    ...(first_name === null ? {} : { first_name }),
    ...(last_name === null ? {} : { last_name }),
  }));
  const options = { meta: { companyId: unsaved[0]!.company_id }, timeout: PATIENCE_MS };
  try {
    await call(broker, "subscribers.saveReceivers", { receivers }, options);
  } catch (error) {
    broker.logger.warn(
      `Receivers of campaign ${campaignId} were not saved as subscribers: ${(error as Error).message}`,
    );
  }
}
