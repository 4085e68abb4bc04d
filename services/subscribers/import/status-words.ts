/** Words with which other products mark addresses that get no email. They can only restrict, never reactivate. */
import { SUBSCRIBER_STATUSES, type SubscriberStatus } from "../../../models/subscriber.ts";

/** Number of a status: a larger one is more restrictive; 0 is `active`. */
export const stateOf = (status: SubscriberStatus): number => SUBSCRIBER_STATUSES.indexOf(status);
export const NOTHING_SAID = stateOf("active");
/** Lowest status that also suppresses the address. */
export const SUPPRESSED_FROM = stateOf("unsubscribed");

// Normalised by `squashed`: `Opted-Out` is optedout. Mailchimp: subscribed, unsubscribed, cleaned, pending,
// non-subscribed, transactional, archived. Brevo: blocklisted (formerly blacklisted). listmonk: enabled, disabled,
// blocklisted. Sendy: soft bounced addresses still get email, those marked as spam do not. Keila: active, unsubscribed,
// unreachable.
const WORDS: Record<SubscriberStatus, string> = {
  active: `active subscribed subscriber enabled confirmed optedin optin verified valid ok softbounced softbounce
    aktiv angemeldet bestatigt inscrit abonne activo suscrito`,
  unconfirmed: `unconfirmed notconfirmed pending nonsubscribed nonsubscriber notsubscribed neversubscribed transactional
    waiting awaitingconfirmation unverified unbestatigt`,
  unsubscribed: `unsubscribed unsubscribe unsub globallyunsubscribed globalunsubscribe optedout optout disabled inactive
    blocklisted blacklisted blocked suppressed archived deleted removed inaktiv abgemeldet ausgetragen gesperrt
    desinscrit desabonne inactif inactivo desuscrito`,
  bounced: `bounced bounce hardbounced hardbounce hard cleaned clean unreachable undeliverable undelivered invalid
    nonexistent unzustellbar`,
  complained: `complained complaint complainer spam spamcomplaint spamcomplained spamreport markedasspam reportedasspam
    reportedspam abuse abusecomplaint junk`,
};

const STATES = new Map<string, number>(
  SUBSCRIBER_STATUSES.flatMap((status) => WORDS[status].split(/\s+/).map((word) => [word, stateOf(status)] as const)),
);

/** Reduces to letters and digits, in lower case, without accents. */
export const squashed = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");

/** Undefined for an unknown word, because guessing a person's consent is not acceptable. */
export const stateOfWord = (word: string): number | undefined =>
  word === "" ? NOTHING_SAID : (STATES.get(word) ?? STATES.get(squashed(word)));

const NEGATIONS = new Set(["", "0", "false", "no", "n", "none", "null", "never", "nein", "falsch", "non", "faux"]);

/** Reads columns such as `unsubscribed` or `UNSUB_TIME`: any text except a negation is a yes. */
export function isAffirmed(text: string): boolean {
  const word = squashed(text);
  return !NEGATIONS.has(word) && STATES.get(word) !== NOTHING_SAID;
}
