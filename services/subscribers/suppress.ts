/** How strong a block is, in SQL: one that is there is made stronger and never weaker, by whatever way another one comes. */
import { SUBSCRIBER_STATUSES } from "../../models/subscriber.ts";

/** A complaint is stronger than a bounce, a bounce than an unsubscribe, the company's own than all. */
export const STRENGTH = (kind: string) =>
  `array_position(array['unsubscribed', 'bounced', 'complained', 'manual'], ${kind})`;

/** In `on conflict … do update` over the alias `x`. */
export const IS_STRONGER = `(${STRENGTH("excluded.kind")} > ${STRENGTH("x.kind")}
  and (x.kind = 'unsubscribed' or excluded.kind <> 'manual'))`;

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

/** A subscriber's status follows the kind, in the careful direction; `said` is a table of `email_key` and `kind`. $1: company. */
export const RESTRICT_SUBSCRIBERS = (said: string) => `
  update subscribers s set status = w.kind, updated_at = now()
  from (select email_key, max(array_position(${STATUSES}, kind)) as rank, (${STATUSES})[max(array_position(${STATUSES}, kind))] as kind
    from ${said} given group by email_key) w
  where s.company_id = $1 and s.email_key = w.email_key and w.rank > array_position(${STATUSES}, s.status)`;
