/**
 * The life of one delivery, as a list of named steps. A step returns an outcome to stop, or nothing to go on; what no
 * step stops is handed to SMTP (relay.ts), whose answer is the last step.
 */
import type { Outcome } from "./outcome.ts";
import type { RecipientRow } from "./rows.ts";

export interface Delivery {
  row: RecipientRow;
  isTransactional: boolean;
}

type Step = (delivery: Delivery) => Outcome | undefined;

const suppressed = (error: string): Outcome => ({ status: "suppressed", error, reply: null });
const failed = (error: string): Outcome => ({ status: "failed", error, reply: null });

const BECAUSE: Record<string, string> = {
  manual: "The address or its domain is suppressed.",
  unsubscribed: "The recipient has unsubscribed.",
  bounced: "Mail to this address bounced before.",
  complained: "The recipient has complained about mail.",
};

/** Whoever was suppressed since the campaign began. Transactional mail passes an unsubscription, and nothing else. */
const suppressIfBlocked: Step = ({ row, isTransactional }) => {
  if (!row.blocked || (isTransactional && row.blocked === "unsubscribed")) return undefined;
  return suppressed(BECAUSE[row.blocked] ?? BECAUSE.manual!);
};

const suppressIfDeleted: Step = ({ row }) =>
  row.subscriber_id !== null && row.subscriber_status === null ? suppressed("The subscriber was deleted.") : undefined;

const suppressIfNotSubscribed: Step = ({ row, isTransactional }) => {
  const { subscriber_status: status } = row;
  if (isTransactional || status === null || status === "active") return undefined;
  return suppressed(status === "unconfirmed" ? "The subscriber has not confirmed the subscription." : BECAUSE[status]!);
};

const beforeRendering: readonly Step[] = [suppressIfBlocked, suppressIfDeleted, suppressIfNotSubscribed];

/** The outcome that keeps this recipient from being sent to, or undefined: render it. */
export function stopBeforeRendering(delivery: Delivery): Outcome | undefined {
  for (const step of beforeRendering) {
    const outcome = step(delivery);
    if (outcome) return outcome;
  }
  return undefined;
}

/** Rendering never throws for one recipient: what cannot be rendered says why. */
export const notRenderable = (error: string): Outcome => failed(`The mail could not be rendered: ${error}`);

/** Addresses of cc and bcc that get their copy. */
export function copiesOf(row: RecipientRow): string[] {
  const all = [...(row.cc ?? []), ...(row.bcc ?? [])];
  const blocked = new Set(row.blocked_copies ?? []);
  return [...new Set(all)].filter((address) => !blocked.has(address));
}
