/** Patterns of bounce notices without a machine-readable part. */
import { anyOf } from "../../../lib/replies/texts/phrases.ts";

/** Names in From that only mail servers use. */
export const DAEMON = anyOf(
  "mailer-?daemon|mdaemon|mail-?daemon|postmaster|post_master|mailadmin",
  "mail ?delivery|delivery (?:status|sub)",
  "mail ?system|mail administrator|system administrator|microsoft exchange",
);

export const FAILED_SUBJECT = anyOf(
  "undeliver|non[- ]?deliver|not delivered|unable to deliver",
  "delivery (?:status|fail|problem|error|notification|report|has failed|unsuccessful)",
  "(?:mail|message|delivery|sending)[^\\n]{0,20} fail|^failed mail",
  "fail(?:ed|ure)[^\\n]{0,20}(?:notice|mail|deliver)",
  "return(?:ed (?:mail|e-?mail|to sender|message)|ing message)",
  "mail system error|error (?:sending|delivering|in)|postmaster notify",
  "bounced?\\b|rejected|message (?:status|blocked)|considered unsolicited",
  "could not (?:be deliver|send|deliver)|warning: could not",
  "user unknown|unknown (?:user|recipient|address)",
  "unzustellbar|zustellung|nicht zugestellt|non remis|retourné|[eé]chec",
  "no se (?:ha )?(?:pudo|podido)|no entregad|impossibile|mancato recapito",
  "недоставл|не доставлен|配信|送信エラー|投递失败|退信",
  "niet (?:bezorgd|afgeleverd)|onbestelbaar|niedostarcz",
);

export const FAILED_WORDS = anyOf(
  "(?:not|n't|un)[^\\n.]{0,20}deliver|deliver[^\\n]{0,40}fail|could not be (?:sent|delivered)",
  "failed|rejected|returned|bounced|error",
  "unknown|does not exist|not found|no such|no user|not (?:a )?(?:valid|exist|match|known)|did not (?:exactly )?match|invalid",
  "full|quota",
  "\\b5\\d\\d[ -]|\\b5\\.\\d\\.\\d",
  "zugestellt|fehler|erreur|inconnu|n'existe|errore|ошибк|届|退信",
);

/** Matches a recipient on a separate line, as in qmail's notices in any language. */
export const LISTED = /^<[^<>\s]{1,128}@[^<>\s]{1,255}>:/m;

export const UNDELIVERED = /(?:could not|couldn't|cannot|was not|has not) (?:be |been )?delivered to/i;
