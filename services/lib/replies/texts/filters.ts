/** Phrases about the sender, its server and the email: refusals that say nothing about the mailbox. */
import { phraseRow } from "./phrases.ts";

/**
 * RFC 7372, RFC 7489, RFC 8601; https://support.google.com/a/answer/168383,
 * https://senders.yahooinc.com/smtp-error-codes/
 */
export const AUTHENTICATION = phraseRow("authentication", [
  "\\bdmarc\\b",
  "\\bdkim\\b",
  "\\bspf\\b",
  "sender policy framework",
  "domain ?keys",
  "unauthenticated (?:e-?mail|mail|message)",
  "(?:mail|message|sender) (?:is |was )?(?:not|un)[ -]?authenticated",
  "authentication (?:checks?|results?|information|requirements?) (?:fail|did)",
  "does not pass authentication",
  // The name of the sending host.
  "\\bptr\\b",
  "\\brdns\\b",
  "fcrdns",
  "(?:fix|no|missing|invalid) reverse",
  "reverse (?:dns|lookup|address)",
  "\\bip (?:name )?lookup",
  "cannot find your (?:reverse )?hostname",
  "(?:client|your) host ?name[^.]{0,40}(?:not found|cannot be)",
  "unresolvable relay",
]);

export const VIRUS = phraseRow("virus", [
  "\\bvirus",
  "\\bmalware",
  "\\btrojan",
  "infected (?:file|mail|message|attach)",
]);

/** https://www.spamhaus.org, https://sendersupport.olc.protection.outlook.com/pm/troubleshooting, https://postmaster.t-online.de */
export const BLOCKED = phraseRow("blocked", [
  "\\bdnsbl",
  "\\brbls?\\b",
  "\\b[dsux]bl\\b",
  "\\bsurbl",
  "\\buribl",
  "spamhaus",
  "spamcop",
  "barracudacentral",
  "\\bsorbs\\b",
  "njabl",
  "mailspike",
  "senderscore",
  "spam ?rats",
  "uceprotect",
  "cloudmark",
  "trend ?micro",
  "abusix",
  "invaluement",
  "(?:black|block|deny|real-?time) ?-?list",
  "is (?:currently |temporarily )?listed (?:in|on|by|at)\\b",
  "\\breputation\\b",
  "\\bbanned\\b",
  "\\bblocked\\b",
  "\\bblocking\\b",
  "\\b(?:connections?|access|client|host|ip|server|you|network)\\b[^.]{0,60}(?:not welcome|not accepted|(?:refused|rejected|denied|dropped) (?:due|for policy))",
  "\\b(?:client|host|ip)\\b[^.]{0,40}rejected",
  "(?:mail|e-?mail|messages?|connections?) from [^ ]{1,100} (?:is |are )?(?:not (?:accepted|allowed|welcome)|rejected|refused)",
  "no (?:mail|email|connections?) (?:is )?accepted from",
  "not accept (?:mail|email|messages?|connections?) from",
  "message refused from",
  "dynamic (?:ip|address|host)",
  "\\bresidential\\b",
  "generic (?:hostname|rdns)",
  "mass ?mail(?:er|ing)",
  "open (?:relay|proxy)",
  "(?:bad|invalid) (?:helo|ehlo)",
  "(?:helo|ehlo) (?:command )?(?:rejected|invalid|argument|name|requires|has)",
  "access denied[^.]{0,40}\\bip\\b",
  "your (?:ip|host|network|server)",
  "\\b554 IP=[\\d.:a-f]+ - a problem occurred",
  "error:AUP",
  "service (?:is )?refus",
  "mail refused",
  "refused to talk",
]);

export const SPAM = phraseRow("spam", [
  "\\bspam",
  "\\bunsolicited",
  "\\bbulk (?:mail|email)",
  "\\bphish",
  "\\bjunk\\b",
  "\\bscam\\b",
  "\\bfraud",
  "suspected",
  "suspicious",
  "looks like",
  "\\bU[BC]E\\b",
  "rejected for policy",
  "reported as",
  "\\babus(?:e|ive)\\b",
]);

/** "Sender address unknown" is not the recipient's fault. */
export const SENDER = phraseRow("sender-refused", [
  "(?:sender|return|from|originating|mail from)(?:'s)? ?(?:address|domain|verif|mailbox|host|e-?mail|server)[^.]{0,80}(?:reject|denied|refused|fail|not|unknown|invalid|does|must|unresolv|need|could|is)",
  "sender (?:is )?(?:rejected|denied|refused|unknown|invalid|verif|not|blocked)",
  "(?:unrout(?:e|i)?able|unresolvable|bad|unknown|invalid|unauthori[sz]ed) sender",
  "domain of sender",
  "\\bfrom: ?(?:header |domain )",
  "valid from:",
  "(?:unable to|could not|failed to) verify",
  "verify sender",
  "call-?(?:back|out) verif",
  "cannot resolve your",
  "must (?:have|be) (?:a )?(?:valid|fully)",
  "\\bfqdn\\b",
  "sender .{0,60}not (?:allowed|permitted|authori[sz]ed)",
  "not (?:allowed|permitted|authori[sz]ed) to send (?:as|from)",
  "sendAsDenied|SENDER_DENIED",
]);

export const RELAY = phraseRow("relay-refused", [
  "relay(?:ing)? (?:is )?(?:access )?(?:denied|not (?:permitted|allowed)|prohibited|refused|disallowed)",
  "not (?:allowed|permitted) to relay",
  "(?:unable|cannot|can't|could not|refuse[sd]?|won't|do not|don't|no) (?:to )?relay",
  "not (?:a|an|in) (?:open )?relay",
  "relay not",
  "relaying",
  "rcpthosts",
  "not a gateway",
  "mail server does not accept mail for",
  "must authenticate",
  "authentication (?:is )?required",
  "requires? authentication",
  "smtp auth",
  "\\bTLS (?:is )?required",
  "STARTTLS",
]);

export const GREYLISTED = phraseRow("greylisted", ["gr[ae]y-?list"]);

/** Precedes a mailbox's quota: a quota per day or hour is the sender's. */
export const PERIOD = phraseRow("rate-limited", [
  "(?:daily|hourly|monthly|per (?:hour|day|minute))[^.]{0,40}(?:limit|quota|exceed|max)",
  "(?:limit|quota|exceed|max)[^.]{0,40}(?:daily|hourly|monthly|per (?:hour|day|minute))",
]);

/** https://support.google.com/a/answer/3726730; Yahoo's TSS04 and its like. */
export const RATE = phraseRow("rate-limited", [
  "too many (?:connections?|messages|mails|e-?mails|sessions|recipients|concurrent|errors|invalid|login|requests)",
  "rate[- ]?limit",
  "(?:sending|message|connection|mail|receiving) (?:rate|frequency)",
  "exceeded (?:\\w+ ){0,3}(?:rate|connections?|sending|hourly|daily|number)",
  "throttl",
  "unusual (?:rate|volume|amount)",
  "\\bTSS?0\\d",
  "user complaints",
  "receiving mail (?:at|too)",
  "concurrent connections",
  "reduce your",
]);

export const CONTENT = phraseRow("content-refused", [
  "content (?:is )?(?:reject|filter|denied|not|refus|violat|type|restrict)",
  "rejected[^.]{0,40}content",
  "(?:attachment|file (?:type|name|extension)|extension)[^.]{0,60}(?:not|block|denied|prohibit|reject|banned|forbidden|illegal|unsafe)",
  "(?:illegal|unsafe|prohibited|dangerous) (?:attachment|file)",
  "message (?:contains|content|filter)",
  "attachments or embedded images",
  "malformed",
  "bare (?:lf|cr|line)",
  "header (?:syntax|is|has|missing|field)",
  "missing (?:from|date|to|message-?id|required|header)",
  "rfc ?(?:2?822|5322|2045)",
  "\\bmime\\b",
  "8-?bit",
  "non-ascii",
  "charset",
  "body (?:type|not)",
  "improper",
  "transaction failed",
  "message (?:was )?(?:rejected|refused|not accepted)",
  "syntax",
]);

/** The fields of the email, as Exim complains of them; the address named is not the recipient's. */
export const HEADERS = phraseRow("content-refused", ["malformed address", "may not follow"]);

export const POLICY = phraseRow("policy", [
  "\\bpolic(?:y|ies)\\b",
  "\\bdenied\\b",
  "not (?:allowed|authori[sz]ed|permitted|accepted)",
  "prohibited",
  "administrative",
  "forbidden",
  "(?:refused|rejected) by",
  "violat",
  "security reasons?",
  "unacceptable",
  "message refused",
  "\\brejected\\b",
  "restricted",
]);
