/** Phrases about domains, hosts, queues and programs on the route. */
import { phraseRow } from "./phrases.ts";

export const TOO_LARGE = phraseRow("too-large", [
  "(?:message|mail|e-?mail|size|content|body|header|attachment|file)s?\\b[^.]{0,80}(?:too (?:large|big|long)(?<!for too long)(?! in (?:the )?queue)|larger than|size limit|maximum size|size exceed)",
  "(?:message|mail|e-?mail|size|content|body|header|attachment|file)s?\\b[^.]{0,80}exceed(?:s|ed|ing)?[^.]{0,60}(?:size|limit|maximum|max|bytes|allowed)",
  "too (?:large|big|long) (?:message|mail|for)",
  "exceed(?:s|ed|ing)? (?:\\w+ ){0,4}(?:size|length)",
  "max(?:imum)? (?:message |mail )?size",
  "(?:message|line) (?:length|size|limit) (?:is |limit )?(?:exceed|violation)",
  "RESOLVER\\.RST\\.(?:Send|Recip)SizeLimit",
]);

/** RFC 7504, RFC 7505. */
export const ACCEPTS_NO_MAIL = phraseRow("accepts-no-mail", [
  "null ?mx",
  "indicated no SMTP service",
  "(?:domain|host|server) (?:does not|doesn'?t|do not|never) (?:accept|receive) (?:any )?(?:e-?)?mail",
  "(?:does not|doesn'?t) (?:accept|receive) (?:any )?(?:e-?)?mail\\b(?! from)",
  "no mail (?:server|exchanger)s? (?:for|found)",
  "MX (?:record )?(?:for [^ ]{1,100} )?(?:points|is|list|resolves|that)[^.]{0,60}(?:back|local|loop|private|0\\.0\\.0\\.0|no valid)",
  "does not have (?:an|any) (?:mx|a|mail)",
  "not (?:a )?mail (?:host|domain|server)",
  "all relevant MX records",
  "no (?:valid )?mx\\b",
]);

/** Temporary DNS failures. Must be tested before DOMAIN, whose phrases also match them. */
export const DNS_TEMPORARY_FAILURE = phraseRow("unreachable", [
  "(?:host|domain) not found, try again",
  "temporary (?:dns|name ?server|lookup)",
  "malformed or unexpected name server reply",
]);

export const DOMAIN = phraseRow("domain-unknown", [
  "(?:host|domain|domain ?name|mail ?domain|dns|mx|destination|site|system|exchanger)(?: name| record| server)?(?: or domain)?(?: [^ ]{1,100})? ?(?:not found|unknown|unrout|does(?:n'?t| not) (?:exist|resolve)|non-?exist|invalid|no such|cannot be (?:found|resolved)|could ?n(?:o|')t be (?:found|resolved)|unresolvable|lookup fail|not recogni[sz]ed)(?! (?:user|mailbox|account|address))",
  "(?:unknown|no such|non-?existent|invalid|bad|illegal|unrout(?:e|i)?able|unresolvable) (?:mail |target |remote |recipient |destination )?(?:host|domain|mx|system)",
  "NXDOMAIN",
  "no (?:mx|such|dns|matching)[^.]{0,20} (?:host|domain|record)",
  "host or domain name not found",
  "couldn'?t find any host",
  "couldn'?t find a mail exchanger",
  "can(?:no|')t resolve",
  "(?:lookup|look ?up) (?:of [^ ]{1,100} )?(?:failed|error)[^.]{0,30}(?:not found|nx)",
  "mail exchanger[^.]{0,40}not found",
  "bad destination system",
  // Outlook.com says this if a domain has no MX record.
  "domain is not reachable",
]);

export const EXPIRED = phraseRow("expired", [
  "envelope expired",
  "(?:delivery|retry|queue|retention|message|mail)? ?(?:time|timeout|period|lifetime) (?:has )?(?:expired|exceeded|out)",
  "(?:delivery|message|mail) (?:has )?(?:expired|timed ?out)",
  "expired after",
  "retry time not reached",
  "retry (?:timeout|limit) exceeded",
  "hosts have been failing",
  "could not be delivered for (?:too long|(?:more than )?\\d)",
  "(?:been in the queue|in the queue too long|too long in (?:the )?queue)",
  "unable to deliver (?:message )?(?:after|for|in|within)",
  "not (?:been )?delivered (?:for|within|after|in) ",
  "undeliverable for",
  "failed (?:to deliver [^.]{0,30}after|\\d+ attempts)",
  "g(?:ave|iven|iving) up",
  "number of (?:retries|attempts|tries)",
  "cannot send message for",
]);

export const LOOP = phraseRow("loop", [
  "(?:mail|message|routing|forwarding|delivery) ?loop",
  "loops? (?:back|detected)",
  "too many hops",
  "hop count",
  "maximum (?:hop|number of hops)",
  "already (?:has|got) my delivered",
  "too many ['\"]?received",
]);

export const UNREACHABLE = phraseRow("unreachable", [
  "name service error",
  "name server timeout",
  "accept our requests to connect",
  "socket error",
  "connection (?:was |has been )?(?:refused|timed|reset|closed|dropped|lost|failed|broken|died|terminated|timeout|could not|attempts)",
  "lost connection",
  "(?:can'?t|cannot|could(?: not|n't)|unable to|failed to) (?:connect|establish|contact|reach|open)",
  "no route to",
  "unreachable",
  "(?:host|server|system) (?:is )?(?:down|busy|not available|not responding|did not respond|unavailable|not reachable)",
  "timed? ?out",
  "no answer from",
  "not responding",
  "try (?:reload|again)",
  "deferred",
]);

/** Output of a delivery program (procmail, maildrop); its "no such file" does not mean a missing mailbox. */
export const PROGRAM = phraseRow("server-error", [
  "procmail:",
  "maildrop:",
  "couldn'?t create",
  "can'?t create (?:user )?output file",
  "\\bcommand (?:died|failed|terminated)",
  "command time limit",
  "\\bpipe to \\|",
]);

export const SERVER = phraseRow("server-error", [
  "(?:local|internal|system|server|configuration|software|temporary|processing|i\\/o|database|lookup|unexpected|resources?) (?:configuration |system |server )?(?:error|problem|failure|failed|issue|fault|temporarily)",
  "cannot (?:open|create|append|update|write|chdir)",
  "unable to (?:open|create|write|forward|run|process|save|store)",
  "permission",
  "exit (?:status|code)",
  "not implemented",
  "insufficient system",
  "no such file",
  "unavailable",
  "out of memory",
]);
