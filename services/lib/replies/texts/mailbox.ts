/** Phrases about a mailbox. */
import { phraseRow } from "./phrases.ts";

const MAILBOX =
  "(?:user|mailbox|recipient|account|addressee|alias|person|local[- ]part|e-?mail|address|inbox|customer|subscriber|member|name|login|destinataire)";
const GONE = `(?:${[
  "unknown",
  "invalid",
  "non-?exist(?:e|a)nt",
  "not? (?:exist|found|known|valid|listed|defined|registered|recogni[sz]ed|local)",
  "not (?:a )?(?:known|registered|existing)",
  "no longer (?:exist|valid|here|at|with|in use|works?|employed|on this)",
  "(?:does|do|did)(?:n'?t| not) (?:exist|have)",
  "isn'?t",
  "is not (?:known|a valid|valid|found|listed|recogni[sz]ed|our|one of|here|registered|defined|an? )",
  "has been (?:deleted|removed)",
].join("|")})`;
const WRONG =
  "(?:unknown|invalid|no such|non-?exist(?:e|a)nt|undefined|bad|bad destination|not a valid|unrout(?:e|i)?able|illegal|incorrect|unrecogni[sz]ed|wrong|no valid|not our|unable to find|(?:cannot|can't|could not|couldn't) find|inexistent)";

export const FULL = phraseRow("mailbox-full", [
  "mail ?box (?:is |size )?(?:too )?(?:full|exceed|over)",
  "(?:mail ?box|mail ?folder|inbox|maildir|mail ?drop|user|account|recipient)[^.]{0,80}(?:is full\\b|over (?:the |its )?(?:quota|allowed|limit))",
  "(?:mail ?box|inbox|maildir|user|account|recipient)[^.]{0,80}exceed(?:s|ed|ing)? (?:\\w+ ){0,4}(?:quota|storage|limit|size|space|capacity)",
  "mailbox has (?:reached|exceeded)",
  "would exceed (?:the )?mailbox",
  "full mailbox",
  "mbox full",
  "over ?quota",
  "quota (?:is )?(?:full|violation|reached|error|exceeded)",
  "quota usage exceed",
  "exceed(?:s|ed|ing)? (?:\\w+ ){0,3}quota",
  "(?:disk|storage|mail) quota",
  "out ?of ?(?:storage|space|quota)",
  "insufficient (?:disk |mailbox |storage )(?:space|storage|quota)",
  "not enough (?:storage|disk|free) ?space",
  "no space left",
  "disk (?:is )?full",
  "too many (?:mails|messages|e-?mails) (?:in|on) the (?:server|mailbox|inbox)",
  // German, French, Spanish, Italian, Russian.
  "postfach .{0,30}voll",
  "bo[iî]te .{0,40}pleine",
  "buz[oó]n .{0,30}lleno",
  "espacio .{0,40}agotado",
  "casilla llena",
  "casella .{0,20}piena",
  "ящик .{0,30}переполнен",
]);

/** Precedes filters, because "blocked" and "suspended" are also said of senders. */
export const CLOSED = phraseRow("mailbox-disabled", [
  "(?:recipient|user|mailbox|destinat\\w+)(?:'s)?(?: (?:account|mailbox|address|e-?mail))?(?: @)? (?:is |has been |was |currently |temporar(?:y|ily) |est ){0,3}(?:blocked|disabled|inactive|suspended|locked|deactivated|bloque)(?! (?:by|using|due to spam))",
  "(?:account|mailbox) (?:has been |is )?(?:temporar(?:y|ily) |currently ){0,2}(?:disabled|inactive|suspended|locked|deactivated)(?<!(?:sender|your)[^.]{0,40})",
]);

/** Closed by its provider: permanently, unless the words say otherwise (classify.ts). */
export const DISABLED = phraseRow("mailbox-disabled", [
  `${MAILBOX}[^.]{0,60}(?:disabled|inactive|suspended|deactivated|discontinued|not activ|locked|frozen|closed|expired|terminated|cancel+ed|dormant|temporarily)`,
  "(?:disabled|inactive|suspended|deactivated|expired|closed|locked|discontinued|blocked|terminated|dormant) (?:user|mailbox|recipient|account|address|e-?mail)",
  "account is (?:not|no longer) (?:currently )?(?:active|available)",
  "mailbox not available temporarily",
  "\\[SUSPEND\\]",
  "currently suspended",
  "has been suspended",
  "not currently accepting",
  "not accept(?:ing)? (?:mail|messages) at this time",
  "no longer active",
  "is inactive",
  "temporarily (?:disabled|suspended|locked)",
]);

export const MOVED = phraseRow("mailbox-moved", [
  "(?:user|mailbox) (?:has )?moved",
  "has moved to",
  "user not local; please",
  "moved[,;] (?:no|left)",
]);

/** Lists, groups, and readers who choose from whom they take mail. */
export const LIST = phraseRow("list-refused", [
  "not (?:a )?(?:member|subscriber|subscribed)",
  "(?:not|isn'?t) (?:allowed|permitted) to (?:post|send)",
  "(?:not|n'?t) have permission",
  "not (?:have )?permission to (?:send|post)",
  "isn'?t allowed",
  "posting to",
  "restricted (?:to|list|group)",
  "(?:group|list)[^.]{0,80}(?:permission|not accept|may not exist)",
  "members? only",
  "moderat",
  "authorized senders",
  "white ?list",
  "prior (?:consent|permission)",
  "only (?:accept|receive)s? (?:mail|messages|e-?mail)[^.]{0,60}(?:from|inside|within|member)",
  "accept(?:s|ing)? (?:mail|email|messages) (?:only )?from (?:known|certain|specific|authori[sz]ed)",
  "address restriction",
  "recipient(?:'s)? preferences",
  // https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online
  "RESOLVER\\.RST\\.(?:NotAuth|Auth)",
]);

/** Edge servers that know the directory and do not admit it. */
export const UNKNOWN_TO_EDGE = phraseRow("mailbox-unknown", [
  // https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/use-directory-based-edge-blocking
  "5\\.4\\.1 @? ?:? ?recipient address rejected: access denied",
  // Symantec.cloud, once MessageLabs, has this code for nothing else.
  "\\b542 @ rejected",
  // Comcast.
  "\\bnot our customer",
]);

export const UNKNOWN = phraseRow("mailbox-unknown", [
  `${WRONG} (?:or (?:misspelt|misspelled|disabled|unknown) )?(?:\\w+ ){0,2}${MAILBOX}`,
  `${MAILBOX}(?:s|\\(s\\)|name| name)?[^.;]{0,100}?${GONE}`,
  `@[:,. -]{0,4}(?:is )?(?:${GONE}|no such (?:user|person|address|mailbox|account)|unrouteable)`,
  "\\bno such (?:user|mailbox|person|recipient|address|account|local|e-?mail|id|name|virtual)",
  "no (?:local )?(?:user|account|recipient|address|person|one|mail ?box) (?:here )?(?:by|with|of|named|found|exists|at|called|for|here|available)",
  "no user\\b",
  "user(?:name)?[- ]?unknown",
  "unknown[- ]?(?:local[- ]?part|to address|user|recipient|address|account|alias|person)",
  "not (?:our|one of our) (?:customer|user)",
  "not known at this",
  "is not (?:a )?(?:local|known|valid)",
  "this (?:user|account|address|mailbox) (?:does ?n(?:o|')t|has been|no longer)",
  "(?:user|mailbox) does(?:n't| not) (?:have|exist)",
  "mailbox (?:name )?not (?:allowed|found|exist|here)",
  "undeliverable address",
  // Postfix puts the reason behind a colon: "Recipient address rejected: Access denied".
  "(?:recipient (?:address )?|address(?:es)? )(?:rejected(?! ?:)|not (?:found|exist|known|valid|recogni)|unknown|is (?:unknown|invalid|incorrect))",
  "bad[_ ]recipient",
  "(?:unrout(?:e|i)?able|bad) address",
  "addressee unknown",
  "not listed in (?:domino|public|the|name)",
  "(?:name|address)[^.]{0,20}(?:does not|not) (?:match|recogni)",
  "no matches to",
  "not in (?:my|our|the) (?:user|list|database|directory|control)",
  "not at this (?:host|address|domain)",
  "no longer (?:work|employ|with|here|at|exist|a valid)",
  "left the (?:company|organi)",
  "unable to validate recipient",
  "there is no (?:such )?(?:user|one|mailbox|account|person)",
  "account (?:is )?(?:deleted|has been (?:deleted|removed))",
  "(?:could not|couldn'?t|cannot|can't) be found",
  "wasn'?t found",
  "doesn'?t have an? [^ ]{1,100} account",
  "RESOLVER\\.ADR\\.(?:Recip(?:ient)?NotFound|Ex(?:Recip)?NotFound|BadPrimary)",
  // French, German, Spanish, Italian, Portuguese, Russian, Chinese, Japanese, Dutch, Polish.
  "(?:utilisateur|destinataire|adresse|bo[iî]te) [^.]{0,60}(?:inconnue?|inexistante?|n'existe)",
  "compte inexistant",
  "unbekannte[rn]? (?:empf[aä]nger|benutzer|adress)",
  "empf[aä]nger(?:adresse)? [^.]{0,60}(?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt))",
  "(?:usuario|destinatario|cuenta|buz[oó]n|casilla) [^.]{0,60}(?:desconocid|inexistente|no existe|no encontrad)",
  "utente (?:sconosciuto|non (?:trovato|esiste))",
  "(?:usu[aá]rio|conta) [^.]{0,60}(?:inexistente|n[aã]o existe|desconhecid)",
  "(?:пользовател[ьея]|адрес|ящик)[^.]{0,60}не (?:найден|существует)",
  "(?:用户|收件人)不存在",
  "(?:宛先|あて先|ユーザ)[^。]{0,30}(?:見つかり|存在し|不明)",
  "gebruiker onbekend",
  "nieznany (?:u[zż]ytkownik|adresat)",
]);

/** RFC 5321 gives 550 and 450 these words, whichever it was. */
export const UNAVAILABLE = phraseRow("mailbox-unavailable", [
  "mailbox (?:is )?(?:unavailable|not available)",
  "requested action not taken: mailbox",
]);
