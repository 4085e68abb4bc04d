/**
 * What servers write when they refuse a mail, as a table: the first row that matches decides. Servers give one code for many
 * reasons (5.1.1 for a policy, 5.0.0 for anything), so words come before codes, and the words of filters come before those of
 * mailboxes: an address suppressed by mistake is a customer lost, one kept by mistake bounces again.
 *
 * Where rows were learned: RFC 5321, 3463, 7372; the sources of Postfix, Exim, sendmail, qmail and OpenSMTPD; the pages named
 * at a row. Patterns are matched without case, on one line of at most 2,000 characters, and hold no nested repetition.
 */
import type { Meaning } from "./meanings.ts";

export interface RefusalText {
  meaning: Meaning;
  pattern: RegExp;
}

const any = (meaning: Meaning, ...patterns: string[]): RefusalText => ({
  meaning,
  pattern: new RegExp(patterns.join("|"), "i"),
});

const MAILBOX =
  "(?:e-?mail |mail )?(?:user|mailbox|recipient|account|addressee|alias|person|local[- ]part|email|address|inbox|destinataire|customer|subscriber|member|name|login)";
const GONE =
  "(?:unknown|invalid|not? (?:exist|found|known|valid|listed|recogni[sz]ed)|no longer (?:exist|valid|here|at|with|in use|works?|employed|on this)|(?:does|do|did)(?:n'?t| not) (?:exist|have)|isn'?t|is not (?:known|a valid|valid|found|listed|recogni[sz]ed|our|one of|here|known|registered|defined|an? )|non-?exist(?:e|a)nt|has been (?:deleted|removed)|not (?:a )?(?:known|defined|registered|recogni[sz]ed|local|existing))";

export const REFUSAL_TEXTS: RefusalText[] = [
  // https://www.messagelabs.com: 542 is its own code for a recipient that is not registered.
  any("mailbox-unknown", "\\b542 @ rejected"),
  // What a program behind the mailbox said to its own server; "no such file" is no mailbox.
  any(
    "server-error",
    "procmail:|maildrop:|couldn'?t create|can'?t create (?:user )?output file|\\bcommand (?:died|failed|terminated)|command time limit|\\bpipe to \\|",
  ),
  // The provider closed it for now. Before filters, because "blocked" and "suspended" are said of senders as well.
  any(
    "mailbox-disabled",
    "(?:recipient|user|mailbox|destinat\\w+)(?:'s)?(?: (?:account|mailbox|address|e-?mail))?(?: @)? (?:is |has been |was |currently |temporar(?:y|ily) |est )*(?:blocked|disabled|inactive|suspended|locked|deactivated|bloque)(?! (?:by|using|due to spam))",
    "(?:account|mailbox) (?:has been |is )?(?:temporar(?:y|ily) |currently )*(?:disabled|inactive|suspended|locked|deactivated)(?<!(?:sender|your)[^.]{0,40})",
  ),
  // Facebook and others whose readers choose from whom they take mail.
  any("policy", "recipient(?:'s)? preferences"),
  // The mailbox exists, and something of it is full. Before filters: "over quota" is never one's own spam score.
  any(
    "mailbox-full",
    "mail ?box (?:is |size )?(?:too )?(?:full|exceed|over)",
    "(?:mail ?box|mail ?folder|inbox|maildir|mail ?drop|user|account|recipient)[^.]{0,80}(?:is full\\b|over (?:the )?(?:its )?(?:quota|allowed|limit)|exceed(?:s|ed|ing)? (?:its |the |his |their )?(?:maximum |storage |disk |mail |allowed |message )*(?:quota|storage|limit|size|space|capacity))",
    "over ?quota|quota (?:is )?(?:full|violation|reached|error)|exceed(?:s|ed|ing)? (?:the |user |mail ?box |storage |disk |mail |his |its )*quota|quota exceeded|out ?of ?(?:storage|space|quota)|(?:disk|storage|mail) quota",
    "insufficient (?:disk |mailbox |storage )(?:space|storage|quota)|not enough (?:storage|disk|free) ?space|no space left|disk (?:is )?full|would exceed (?:the )?mailbox",
    "mailbox has (?:reached|exceeded)|too many messages (?:in|on) (?:the |this )?(?:mailbox|inbox)|full mailbox|mbox full|boite pleine|boîte .{0,30}pleine|postfach .{0,20}voll|mailfolder is full|casilla llena|buz[oó]n .{0,30}lleno|casella piena|ящик .{0,30}переполнен",
  ),

  // Sender authentication. RFC 7372, RFC 7489; https://support.google.com/a/answer/168383, https://senders.yahooinc.com/smtp-error-codes/
  any(
    "authentication",
    "\\bdmarc\\b|\\bdkim\\b|\\bspf\\b|sender policy framework|domain ?keys|unauthenticated (?:e-?mail|mail|message)|(?:mail|message|sender) (?:is |was )?(?:not|un)[ -]?authenticated|authentication (?:checks?|results?|information|requirements?) (?:fail|did)|does not pass authentication",
    "(?:no|missing|invalid|bad|without|requires?) (?:a )?(?:valid )?(?:reverse dns|ptr|rdns)|reverse (?:dns|lookup|address)|\\bptr (?:record|lookup)|\\brdns\\b|fcrdns|cannot find your (?:reverse )?hostname|(?:client|your) host ?name[^.]{0,40}(?:not found|cannot be|no reverse)|unresolvable relay|fix reverse|no reverse",
  ),

  any("virus", "\\bvirus|\\bmalware|\\btrojan|infected (?:file|mail|message|attach)|\\bworm\\b(?! hole)"),

  // Lists of senders and addresses: DNSBLs by their names, reputation, https://www.spamhaus.org/faqs/, https://sendersupport.olc.protection.outlook.com/
  any(
    "blocked",
    "\\bdnsbl|\\brbls?\\b|\\b[dsux]bl\\b|\\bsurbl|\\buribl|spamhaus|spamcop|barracudacentral|\\bsorbs\\b|njabl|mailspike|senderscore|spam ?rats|uceprotect|proofpoint.{0,40}block|cloudmark|trend ?micro|abusix|invaluement",
    "(?:black|block|deny|grey|gray|real-?time) ?-?list(?:ed)?\\b(?<!greylist|greylisted|graylist|graylisted|grey-listed|grey list)|is (?:currently |temporarily )?listed (?:in|on|by|at)\\b|bad reputation|poor reputation|low reputation|\\breputation\\b|banned (?:sending|ip|host|sender|due|for)|has been (?:banned|blocked|blacklisted)|(?:is|are|been|was|were|being) (?:temporarily |currently |permanently )?(?:blocked|blacklisted|banned)|\\bblocked\\b|blocking",
    "\\b(?:connections?|access|client|host|ip|server|you|sender ip|network)\\b[^.]{0,60}(?:is |are |was )?(?:refused due|not welcome|rejected due to|denied due|not accepted|dropped due|rejected for policy)|no (?:mail|email|connections?) (?:is )?accepted from|(?:mail|email|messages?|connections?) from [^ ]{1,100} (?:is |are )?(?:not (?:accepted|allowed|welcome)|rejected|refused)|we do not accept mail from|dynamic (?:ip|address|host)|\\bresidential\\b|generic (?:hostname|rdns)|not accept (?:mail|email|messages?|connections?) from|too much spam|open (?:relay|proxy)|bad (?:helo|ehlo)|invalid (?:helo|ehlo)|(?:helo|ehlo) (?:command )?(?:rejected|invalid|argument|name|requires)|helo has|go away|access denied[^.]{0,40}\\bip\\b|your (?:ip|host|network|server)|client host .{0,60}reject|\\b(?:client|host|ip)\\b[^.]{0,40}rejected|message refused from|blocklist|blacklist|error:AUP|service (?:is )?refus|mail refused|refused to talk",
  ),
  any(
    "spam",
    "\\bspam|\\bunsolicited|\\bbulk (?:mail|email)|\\bphish|\\bjunk\\b|\\bscam\\b|\\bfraud|high probability|spamassassin|suspected|suspicious|looks like|considered (?:as )?(?:spam|unsolicited|bulk)|\\bUBE\\b|\\bUCE\\b|rejected for policy|reported as|abusive|abuse",
  ),

  // The sender, before what is said of recipients: "sender address unknown" is not the recipient's fault.
  any(
    "sender-refused",
    "(?:sender|return|from|originating|envelope[ -]from|mail from)(?:'s)? ?(?:address|domain|verif|mailbox|host|e-?mail|server)[^.]{0,80}(?:reject|denied|refused|fail|not|unknown|invalid|does|must|unresolv|need|could|is)|sender (?:is )?(?:rejected|denied|refused|unknown|invalid|verify|not|blocked|verification)|invalid sender|bad sender|unknown sender|\\bfrom: ?(?:header |domain )|valid from:|verify sender|unable to verify|could not verify|callback|call-?out verif|domain of sender|cannot resolve your|mail from (?:address|domain)|must (?:have|be) (?:a )?(?:valid|fully)|\\bfqdn\\b|\\bunauthori[sz]ed sender|address .{0,60} not in permitted|sender .{0,60}not (?:allowed|permitted|authori[sz]ed)|not (?:allowed|permitted|authori[sz]ed) to send (?:as|from)|sendAsDenied|SENDER_DENIED|Cannot resolve PTR",
  ),

  any(
    "relay-refused",
    "relay(?:ing)? (?:is )?(?:access )?(?:denied|not (?:permitted|allowed)|prohibited|refused|den(?:y|ied)|disallowed)|not (?:allowed|permitted) to relay|(?:unable|cannot|can't|could not|not able|refuse[sd]?|won't|do not|don't|no) (?:to )?relay|rcpthosts|not (?:a|an|in) (?:open )?relay|we (?:do not|don't) relay|relay not|must authenticate|authentication (?:is )?required|smtp auth|requires? authentication|\\bTLS (?:required|is required)|STARTTLS|not a gateway|relaying|mail server does not accept mail for|(?:not|isn't) (?:our|one of our) customer(?! unknown)",
  ),

  // https://support.google.com/a/answer/3726730, https://senders.yahooinc.com/smtp-error-codes/ (TSS04)
  any(
    "rate-limited",
    "too many (?:connections?|messages|mails|e-?mails|sessions|recipients|concurrent|errors|invalid|bad|login|rcpt|requests)|rate[- ]?limit|(?:sending|message|connection|mail|receiving) (?:rate|frequency|limits?)|exceeded (?:the |your |its )?(?:maximum |max |allowed |hourly |daily |sending |connection )*(?:rate|connections?|sending|hourly|daily|number|limit of (?:messages|mails|recipients))|(?:daily|hourly|monthly|per (?:hour|day|minute))[^.]{0,40}(?:limit|quota|exceed|max)|throttl|unusual (?:rate|volume|amount)|\\bTSS?0\\d|deferred due to|user complaints|receiving mail (?:at|too)|try(?:ing)? again later.{0,30}too|mails? per|concurrent connections|reduce your",
  ),

  any(
    "too-large",
    "(?:message|mail|email|e-mail|size|content|body|header|attachment|file)[^.]{0,80}(?:too (?:large|big|long)|exceed(?:s|ed|ing)?[^.]{0,60}(?:size|limit|maximum|max|bytes|allowed)|larger than|over (?:the )?(?:max|size|limit)|size limit|maximum size|size exceed)",
    "too (?:large|big|long) (?:message|mail|for)|exceed(?:s|ed|ing)? (?:the )?(?:fixed |maximum |max |configured |allowed |permitted |server )*(?:message |mail |header )?(?:file |data )?(?:size|length)|(?:max|maximum) (?:message |mail )?size|message (?:length|size) (?:exceed|too|limit|violation)|size (?:limit )?(?:exceeded|violation)|message header size|RESOLVER\\.RST\\.(?:Send|Recip)SizeLimit",
  ),

  // The domain.
  any(
    "accepts-no-mail",
    "null ?mx|indicated no SMTP service|(?:does not|doesn'?t) receive (?:e-?)?mail|(?:domain|host|server) (?:does not|doesn'?t|do not|never) (?:accept|receive) (?:any )?(?:e-?mail|mail)|does not accept (?:e-?)?mail|no mail (?:server|exchanger)s? (?:for|found)|MX (?:record )?(?:for [^ ]{1,100} )?(?:points|is|list|resolves|that)[^.]{0,60}(?:back|local|loop|private|0\\.0\\.0\\.0|no valid)|does not have (?:an|any) (?:mx|a|mail)|not (?:a )?mail (?:host|domain|server)|all relevant MX records|no valid (?:mx|mail)|smtp service (?:is )?(?:not available|unavailable|disabled)|no MX",
  ),
  any(
    "domain-unknown",
    "(?:host|domain|domain ?name|mail ?domain|dns|name|mx|address|destination|site|system|exchanger)(?: name| record| server)?(?: or domain)?(?: [^ ]{1,100})? ?(?:not found|unknown|unrout|does(?:n'?t| not) exist|doesn'?t resolve|do(?:es)? not (?:exist|resolve)|non-?exist|invalid|no such|cannot be (?:found|resolved)|could ?n(?:o|')t be (?:found|resolved)|unresolvable|lookup fail|not recogni[sz]ed)(?! (?:user|mailbox|account|address))",
    "(?:unknown|no such|non-?existent|invalid|bad|illegal|unrout(?:e|i)?able|unresolvable) (?:mail |target |remote |recipient |destination )?(?:host|domain|mx|system)|NXDOMAIN|no (?:mx|such|dns|matching)[^.]{0,20} (?:host|domain|record)|couldn'?t find any host (?:named|by that)|host or domain name not found(?!.{0,80}(?:malformed|try again|timed))|unrouteable mail domain|illegal host|domain is not reachable|find a mail exchanger|bad destination system|can'?t resolve|cannot resolve|recipient'?s domain|All A records|(?:lookup|look ?up) (?:of [^ ]{1,100} )?(?:failed|error)[^.]{0,30}(?:not found|nx)|couldn't find any host|DNS (?:Hard )?Error|hostunknown|mail exchanger[^.]{0,40}not found",
  ),

  any(
    "mailbox-moved",
    "user (?:has )?moved|has moved to|mailbox (?:has )?moved|please (?:use|try) <|address (?:has )?changed|5\\.1\\.6\\b|user not local; please|moved[,;] (?:no|left)|new address",
  ),

  // Disabled by its owner's provider; it may be used again.
  any(
    "mailbox-disabled",
    `${MAILBOX}[^.]{0,60}(?:disabled|inactive|suspended|deactivated|discontinued|not active|locked|frozen|closed|expired|terminated|cancel+ed|not activated|dormant|blocked by owner|over its|temporarily)`,
    `(?:disabled|inactive|suspended|deactivated|expired|closed|locked|discontinued|blocked|terminated|dormant) (?:user|mailbox|recipient|account|address|e-?mail)`,
    "\\[SUSPEND\\]|account is (?:not|no longer) (?:currently )?(?:active|available)|currently suspended|not currently accepting|mailbox not available temporarily|sleep(?:ing|y) mailbox|not accept(?:ing)? (?:mail|messages) at this time|has been suspended|no longer active|is inactive|temporarily (?:disabled|suspended|locked)|unavailable temporarily",
  ),

  any(
    "list-refused",
    "not (?:a )?(?:member|subscriber|subscribed|allowed to post|permitted to post|allowed to send|permitted to send)|posting to|restricted (?:to|list|group)|only accepts? (?:mail|messages|email|e-mail)[^.]{0,60}(?:from|inside|within|member)|(?:group|list)[^.]{0,80}(?:permission|not accept|may not exist)|members? only|RESOLVER\\.RST\\.(?:NotAuth|Auth)|not (?:have )?permission to (?:send|post)|moderat|does ?n(?:o|')t have permission|isn'?t allowed|authorized senders|whitelist|white list|challenge|prior (?:consent|permission)|accept(?:s|ing)? (?:mail|email|messages) (?:only )?from (?:known|certain|specific|authori[sz]ed)|only (?:accept|receive)s? mail from|address restriction|prohibited (?:by|from)",
  ),

  any(
    "mailbox-unknown",
    `(?:unknown|invalid|no such|non-?exist(?:e|a)nt|undefined|bad(?: destination)?|not a valid|unrout(?:e|i)?able|illegal|incorrect|unrecogni[sz]ed|wrong|no valid|not our|unable to find|cannot find|can't find|could not find|couldn't find|not find|inexistent|dead|fake) (?:or (?:misspelt|misspelled|disabled|unknown) )?(?:\\w+ ){0,2}${MAILBOX}`,
    `${MAILBOX}(?:s|\\(s\\)|name| name)?[^.;]{0,100}?${GONE}`,
    `${MAILBOX} @[^.;]{0,40}${GONE}`,
    `@[:,. -]{0,4}(?:is )?(?:${GONE}|unknown|no such (?:user|person|address|mailbox|account)|unrouteable)`,
    "\\bno such (?:user|mailbox|person|recipient|address|account|local|email|id|name|virtual)|no mailbox (?:here|by|found|for)|no (?:local )?(?:user|account|recipient|address|person|one) (?:here )?(?:by|with|of|named|found|exists|at|called|for)|no account|no user\\b|user(?:name)?[- ]?unknown|unknown[- ]?(?:local[- ]?part|to address|user|recipient|address|account)|not (?:our|one of our) (?:customer|user)|not known at this|is not (?:a )?(?:local|known|valid)|this (?:user|account|address|mailbox) (?:does ?n(?:o|')t|has been|no longer)|mailbox (?:name )?not (?:allowed|found|exist|here)|undeliverable address|recipient (?:address )?(?:rejected(?! ?:)|not (?:found|exist|known)|unknown|is unknown)|bad[_ ]recipient|address(?:es)? (?:unknown|rejected(?! ?:)|not (?:found|valid|exist|known|recogni)|does not|is (?:unknown|invalid|incorrect))|unrout(?:e|i)?able address|unknown alias|addressee unknown|invalid recipient|bad address|unknown person|deactivated mailbox|RESOLVER\\.ADR\\.(?:Recip(?:ient)?NotFound|Ex(?:Recip|)NotFound|BadPrimary)|not listed in (?:domino|public|the|name)|(?:name|address)[^.]{0,20}(?:does not|not) (?:match|recogni)|No match|not in (?:my|our|the) (?:user|list|database|directory|control)|user does not|user doesn't|unable to deliver to that|not at this (?:host|address|domain)|no longer (?:work|employ|with|here|at|exist|a valid)|left the (?:company|organi)|vmailbox|mailbox does|mailbox doesn't|unable to validate recipient|there is no (?:such )?(?:user|one|mailbox|account|person)|recipient does not|not a known|account (?:is )?(?:not|does|doesn't|deleted|has been (?:deleted|removed))|couldn'?t be found|could not be found|wasn'?t found|doesn'?t have (?:a|an) [^ ]{1,100} account|email address you entered|can(?:no|')t be (?:found|delivered)",
    "(?:utilisateur|destinataire|adresse|boite|bo[iî]te) [^.]{0,40}(?:inconnue?|inexistante?|n'existe)|compte inexistant|unbekannte[rn]? (?:empf[aä]nger|benutzer|adress)|empf[aä]nger(?:adresse)? [^.]{0,60}(?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt))|(?:usuario|destinatario|cuenta|buz[oó]n|casilla) [^.]{0,60}(?:desconocid|inexistente|no existe|no encontrad)|utente (?:sconosciuto|non (?:trovato|esiste))|(?:usu[aá]rio|conta) [^.]{0,60}(?:inexistente|n[aã]o existe|desconhecid)|пользовател[ья][^.]{0,60}(?:не найден|не существует)|адрес[^.]{0,60}не существует|ящик[^.]{0,60}не (?:найден|существует)|用户不存在|收件人不存在|宛先[^。]{0,30}(?:見つかり|存在し)|ユーザ[^。]{0,20}(?:不明|存在し)|あて先不明|宛先不明|gebruiker onbekend|nieznany (?:u[zż]ytkownik|adresat)|nie ma takiego",
  ),

  // RFC 5321 gives 550 and 450 these words, whichever it was.
  any("mailbox-unavailable", "mailbox (?:is )?(?:unavailable|not available)|requested action not taken: mailbox"),

  any(
    "expired",
    "(?:delivery |message |mail |retry |queue |retention )?(?:time|timeout|period|lifetime) (?:has )?(?:expired|exceeded|out)|(?:retry|delivery) time (?:not reached|expired|exceeded)|could not be delivered for (?:more than )?\\d|(?:delivery|message|mail) (?:has )?(?:expired|timed ?out)|expired after|been in the queue|in the queue too long|too long in (?:the )?queue|unable to deliver (?:message )?(?:after|for|in|within)|not (?:been )?delivered (?:for|within|after|in) |undeliverable for|retry (?:timeout|limit) exceeded|gave up|given up|giving up|number of (?:retries|attempts|tries)|cannot send message for|failed to deliver [^.]{0,30}after",
  ),
  any(
    "loop",
    "(?:mail|message|routing|forwarding|delivery|config error: mail) ?loop|loops? (?:back|detected)|too many hops|hop count|maximum (?:hop|number of hops)|possible (?:mail )?loop|delivered-to (?:field|header)|already (?:has|got) my delivered|too many ['\"]?received",
  ),
  any(
    "unreachable",
    "name service error|accept our requests to connect|socket error|connection (?:was |has been )?(?:refused|timed|reset|closed|dropped|lost|failed|broken|died|terminated|timeout|could not|attempts)|(?:can'?t|cannot|could(?: not|n't)|unable to|failed to) (?:connect|establish|contact|reach|open)|no route to|network (?:is )?unreachable|(?:host|server|system) (?:is )?(?:unreachable|down|not responding|did not respond|unavailable|not reachable)|timed? ?out|no answer from|not responding|lost connection|unreachable|establish (?:an )?SMTP connection|try (?:reload|again)|Name server timeout|server (?:is )?(?:busy|not available)|deferred",
  ),
  any(
    "content-refused",
    "content (?:is )?(?:reject|filter|denied|not|refus|violat|type|restrict)|rejected[^.]{0,40}content|(?:attachment|file (?:type|name|extension)|extension)[^.]{0,60}(?:not|block|denied|prohibit|reject|banned|forbidden|illegal|unsafe)|prohibited|message (?:contains|content|filter)|mime|malformed|bare (?:lf|cr|line)|header (?:syntax|is|has|missing|field)|missing (?:from|date|to|message-?id|required|header)|rfc ?(?:2?822|5322|2045)|not rfc|8-?bit|non-ascii|charset|body (?:type|not)|improper|transaction failed|html|image|\\burl\\b|message (?:was )?(?:rejected|refused|not accepted)|syntax",
  ),
  any(
    "policy",
    "\\bpolicy|policies|\\bdenied\\b|not (?:allowed|authori[sz]ed|permitted)|prohibit|administrative|forbidden|refused by|rejected by|access|not accepted|local policy|violat|security|unacceptable|delivery not authori[sz]ed|message refused|rejected|restricted",
  ),
  any(
    "server-error",
    "(?:local|internal|system|server|configuration|software|temporary|mail system|processing|i/o|database|lookup|unexpected|resources?) (?:configuration |system |server )?(?:error|problem|failure|failed|issue|fault|temporarily)|can'?t create|cannot (?:open|create|append|update|write|chdir)|permission|command (?:failed|died|not|exit|returned)|exit (?:status|code)|unable to (?:open|create|write|forward|run|process|save|store)|not implemented|insufficient system|no such file|\\bpipe\\b|procmail|unavailable|out of memory|resources|mailer|returned (?:nonzero|exit|a failure)|requested (?:mail )?action (?:not|aborted)",
  ),
];

const MAX_LENGTH = 2_000;
const ADDRESS = /[<"'(]?[^\s<>@"'()]{1,128}@[^\s<>"'(),;]{1,255}[>"')]?/g;
const URL = /https?:\/\/([\w.-]{1,255})[^\s<>"')]*/gi;
/** Written by Cisco's gateways in front of whatever the server really said. */
const PREFIX = /5\.1\.0 - unknown address error (?=\d{3})/i;

/**
 * What a refusal's words say; undefined where they say nothing. `text` may have several lines. Addresses and the paths of links
 * are taken out: they hold dots and words of any kind.
 */
export function meaningOfText(text: string): Meaning | undefined {
  const line = text
    .slice(0, MAX_LENGTH)
    .replace(URL, "$1")
    .replace(ADDRESS, "@")
    .replace(PREFIX, "")
    .replace(/\s+/g, " ");
  return REFUSAL_TEXTS.find(({ pattern }) => pattern.test(line))?.meaning;
}
