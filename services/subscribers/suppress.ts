/** SQL for the strength of suppressions: an existing one is only ever strengthened. */
import { SUBSCRIBER_STATUSES } from "../../models/subscriber.ts";

/** Order of strength: unsubscribe, bounce, complaint, manual. */
export const STRENGTH = (kind: string) =>
  `array_position(array['unsubscribed', 'bounced', 'complained', 'manual'], ${kind})`;

/** Condition for `on conflict … do update` with the alias `x`. */
export const IS_STRONGER = `(${STRENGTH("excluded.kind")} > ${STRENGTH("x.kind")}
  and (x.kind = 'unsubscribed' or excluded.kind <> 'manual'))`;

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

/**
 * A subscriber's status follows the kind if that is more restrictive; `said` is a table of `email_key` and `kind`. $1:
 * company.
 */
export const RESTRICT_SUBSCRIBERS = (source: string) => `
  update subscribers s set status = w.kind, updated_at = now()
  from (select email_key, max(array_position(${STATUSES}, kind)) as rank, (${STATUSES})[max(array_position(${STATUSES}, kind))] as kind
    from ${source} given group by email_key) w
  where s.company_id = $1 and s.email_key = w.email_key and w.rank > array_position(${STATUSES}, s.status)`;
