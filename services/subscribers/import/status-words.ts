/**
 * What other products write where an address is not, or no longer, mailed. Only that direction counts: a word can keep mail
 * away from somebody and never brings it to them.
 */
import { SUBSCRIBER_STATUSES, type SubscriberStatus } from "../../../models/subscriber.ts";

/** The number of a status: the more careful one is the larger one. 0 is `active`. */
export const stateOf = (status: SubscriberStatus): number => SUBSCRIBER_STATUSES.indexOf(status);
export const NOTHING_SAID = stateOf("active");
/** From here on the address is suppressed too. */
export const SUPPRESSED_FROM = stateOf("unsubscribed");

// Letters and digits alone, without accents: `Opted-Out` is optedout. Mailchimp: subscribed, unsubscribed, cleaned, pending,
// non-subscribed, transactional, archived. Brevo: blocklisted (before: blacklisted). listmonk: enabled, disabled, blocklisted.
// Sendy: soft bounced still gets mail there, marked as spam does not. Keila: active, unsubscribed, unreachable.
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

/** Letters and digits alone, in lower case, without accents. */
export const squashed = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");

/** Undefined for a word that nobody here knows: whether that person may be mailed is not for us to guess. */
export const stateOfWord = (word: string): number | undefined =>
  word === "" ? NOTHING_SAID : (STATES.get(word) ?? STATES.get(squashed(word)));

const NEGATIONS = new Set(["", "0", "false", "no", "n", "none", "null", "never", "nein", "falsch", "non", "faux"]);

/** Of a column such as `unsubscribed` or `UNSUB_TIME`: whatever is no negation says that it is so. */
export function isAffirmed(text: string): boolean {
  const word = squashed(text);
  return !NEGATIONS.has(word) && STATES.get(word) !== NOTHING_SAID;
}
