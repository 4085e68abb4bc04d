/**
 * Table of known reporting servers; the first row that matches names the dialect, for metrics and tests. A match also
 * proves that a message is a bounce notice, so patterns must be specific to mail servers; text that occurs in other
 * automatic mail counts only with a failure subject. Recipients and reasons are found independently of the dialect
 * (plain-text.ts).
 */
import type { Headers } from "./headers.ts";
import { DAEMON, FAILED_SUBJECT } from "./texts/notices.ts";

export interface Dialect {
  name: string;
  /** All patterns of at least one mark must match. */
  marks: Mark[];
  /** Notices name local mailboxes without the domain. */
  bare?: { pattern: RegExp; domain: string };
}

interface Mark {
  /** Header name in lower case → pattern of its value. */
  headers?: Record<string, RegExp>;
  text?: RegExp;
}

const DIALECTS: Dialect[] = [
  // https://www.exim.org/exim-html-current/doc/html/spec_html/ch-customizing_bounce_and_warning_messages.html
  {
    name: "mail.ru",
    marks: [
      { headers: { from: /@(?:[\w-]+\.)*mail\.ru\b/i, "x-failed-recipients": /@/ } },
      { headers: { from: /mailer-daemon@(?:[\w-]+\.)*(?:mail|bk|inbox|list)\.ru\b/i } },
    ],
  },
  {
    name: "gmail",
    marks: [
      { headers: { from: /mailer-daemon@(?:google|googlemail|gmail)\.com/i } },
      { text: /^Delivery to the following recipient(?:s)? (?:failed permanently|has been delayed)/m },
      { headers: { "x-failed-recipients": /@/, "x-google-smtp-source": /./ } },
    ],
  },
  {
    name: "gmx",
    marks: [
      {
        headers: { from: /mailer-daemon@(?:[\w-]+\.)*(?:gmx|web|1und1|kundenserver|ionos|perfora|einsundeins)\.\w+/i },
      },
      {
        text: /^This message was created automatically by mail delivery software\.[\s\S]{0,400}^(?:SMTP error from remote server|For the following reason)/m,
      },
    ],
  },
  {
    name: "zoho",
    marks: [
      { headers: { from: /mailer-daemon@(?:[\w-]+\.)*zoho(?:corp|mail)?\.\w+/i } },
      { headers: { "x-mailer": /^Zoho Mail/i, subject: /undeliver|returned|failure/i } },
    ],
  },
  {
    name: "exim",
    marks: [
      { headers: { from: /mail delivery system/i, "x-failed-recipients": /@/ } },
      { text: /^This message was created automatically by mail delivery (?:software|system)/m },
      { headers: { "x-failed-recipients": /@/ } },
    ],
  },
  // https://cr.yp.to/proto/qsbmf.txt
  {
    name: "qmail",
    marks: [
      { text: /^Hi\. (?:This is (?:the )?|The MTA program at )\S{0,200}.{0,80}(?:program at|deliver)/m },
      {
        text: /^I'm (?:afraid|sorry)[^\n]{0,20} (?:I wasn't able|to have to (?:tell|inform) you)[^\n]{0,100}/m,
        headers: { subject: /failure notice/i },
      },
      { text: /^(?:I'm afraid I wasn't able to deliver your message|This is a permanent error; I've given up)/m },
    ],
  },
  {
    name: "aol",
    marks: [{ headers: { from: /mailer-daemon@aol\.com/i, subject: /^Mail Delivery Problem/i } }],
    bare: { pattern: /^\t([\w.+-]{1,64})$/gm, domain: "aol.com" },
  },
  {
    name: "yahoo",
    marks: [
      { headers: { from: /mailer-daemon@(?:[\w-]+\.)*(?:yahoo|y\.example|ymail|aol)\b/i } },
      { headers: { "x-ymailisg": /./, from: /mailer-daemon/i } },
      { text: /^Sorry, we were unable to deliver your message to the following address/m },
    ],
  },
  { name: "yandex", marks: [{ headers: { from: /mailer-daemon@(?:[\w-]+\.)*yandex\.\w+/i } }] },
  // https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online/non-delivery-reports-in-exchange-online
  {
    name: "office365",
    marks: [
      { headers: { from: /microsoftexchange[0-9a-f]{32}@/i, "x-ms-exchange-message-is-ndr": /^/ } },
      { text: /^Your message to \S{1,320} couldn't be delivered\./m },
      {
        headers: { from: /postmaster@(?:[\w-]+\.)*(?:outlook|hotmail|live|msn|onmicrosoft|protection\.outlook)\.\w+/i },
      },
    ],
  },
  {
    name: "exchange",
    marks: [
      { headers: { from: /microsoftexchange[0-9a-f]{32}@/i } },
      {
        headers: {
          "x-mailer": /Internet Mail Service|Microsoft Exchange|MSEXCH/i,
          subject: /^(?:undeliver|delivery)/i,
        },
      },
      { text: /^(?:did not reach the following recipient\(s\):|Generating server: )/m },
      { text: /MSEXCH:/ },
      { headers: { "content-class": /urn:content-classes:dsn/i } },
      { headers: { "x-ms-embedded-report": /^/ } },
    ],
  },
  {
    name: "domino",
    marks: [
      { headers: { subject: /^DELIVERY FAILURE:/ } },
      { headers: { "x-mailer": /Lotus (?:Notes|Domino)|\bDomino\b/i }, text: /^[ \t]*was not delivered to:/m },
      { text: /^------- Failure Reasons {2}--------/m },
      { text: /^[ \t]*was not delivered to:\s{0,20}\n\s{0,20}\S{1,200}\s{0,20}\n\s{0,20}because:/m },
    ],
  },
  {
    name: "groupwise",
    marks: [
      { headers: { "x-mailer": /groupwise/i, subject: FAILED_SUBJECT } },
      { headers: { subject: /^Message status - undeliverable/i } },
    ],
  },
  // Japanese mobile carriers.
  { name: "docomo", marks: [{ headers: { from: /(?:mailer-daemon|postmaster)@(?:[\w-]+\.)*docomo\.ne\.jp/i } }] },
  {
    name: "kddi",
    marks: [
      {
        headers: {
          from: /@(?:[\w-]+\.)*(?:ezweb|au|kddi|dion)\.(?:ne\.jp|com)/i,
          subject: /mail system error|returned mail|failed|undeliver/i,
        },
      },
      {
        headers: {
          received: /\(EZweb Mail\)|\(au(?:one)? Mail\)|\(NAME\)|ezweb\.ne\.jp/i,
          from: /postmaster|mailer-daemon/i,
        },
      },
      {
        text: /^(?:The user\(s\) account is (?:temporarily|disabled)|Your mail (?:sent on|attempted to be delivered on):?)/m,
      },
    ],
  },
  {
    name: "softbank",
    marks: [{ headers: { from: /(?:mailer-daemon|postmaster)@(?:[\w-]+\.)*(?:softbank|vodafone)\.(?:ne\.)?jp/i } }],
  },
  { name: "biglobe", marks: [{ headers: { from: /postmaster@(?:[\w-]+\.)*(?:biglobe|inacatv|tmtv|ttv)\.ne\.jp/i } }] },
  // https://www.postfix.org/bounce.5.html
  {
    name: "postfix",
    marks: [
      { text: /^This is the (?:Postfix|Symantec) program at host/m },
      { text: /^This is the mail system at host /m },
      { headers: { from: /MAILER-DAEMON \(Mail Delivery System\)|Mail Delivery System <MAILER-DAEMON/ } },
    ],
  },
  // sendmail; its texts are in savemail.c. https://datatracker.ietf.org/doc/html/rfc1893
  {
    name: "sendmail",
    marks: [
      { text: /^ {0,4}-{3,5} (?:Transcript of session follows|The following addresses had|Unsent message follows) /m },
      { headers: { from: /Mail Delivery Subsystem <MAILER-DAEMON/i } },
    ],
  },
  {
    name: "opensmtpd",
    marks: [
      { text: /^[ \t]*This is the MAILER-DAEMON, please DO NOT REPLY/m },
      { text: /^[ \t]*Hi !\s{0,20}\n[\s\S]{0,40}This is the MAILER-DAEMON/m },
    ],
  },
  {
    name: "courier",
    marks: [
      {
        text: /DELAYS IN DELIVERING YOUR MESSAGE|UNDELIVERABLE MAIL\b|^This is a delivery status notification from \S+,?\s*\n?\s*running the Courier mail server/m,
      },
      { headers: { from: /^"?Courier mail server/i } },
    ],
  },
  { name: "dragonfly", marks: [{ text: /^This is the DragonFly Mail Agent/m }] },
  { name: "imail", marks: [{ headers: { "x-mailer": /^<SMTP32 v/i, subject: FAILED_SUBJECT } }] },
  // Apple's servers used Oracle's software for long and kept its texts.
  {
    name: "icloud",
    marks: [{ headers: { from: /(?:postmaster|mailer-daemon)@(?:[\w-]+\.)*(?:icloud|me|mac)\.com/i } }],
  },
  {
    name: "messaging-server",
    marks: [{ text: /^This report relates to a message you sent with the following header fields/m }],
  },
  { name: "powermta", marks: [{ text: /^Hello, this is the mail server on /m }] },
  {
    name: "mcafee",
    marks: [
      { headers: { "x-nai-header": /Modified by/i, subject: FAILED_SUBJECT } },
      { text: /----- (?:Reason for failure|The message could not be delivered)/ },
    ],
  },
  {
    name: "mxlogic",
    marks: [{ headers: { "x-mx-bounce": /./ } }, { headers: { "x-mxl-hash": /./, subject: /mail delivery failed/i } }],
  },
  {
    name: "mimecast",
    marks: [{ headers: { "x-mimecast-bounce": /^/ } }, { headers: { "x-mc-system": /^/, subject: FAILED_SUBJECT } }],
  },
  { name: "barracuda", marks: [{ headers: { "x-barracuda-orig-rcpt": /@/, subject: FAILED_SUBJECT } }] },
  {
    name: "amazonses",
    marks: [
      { headers: { from: /mailer-daemon@(?:[\w-]+\.)*amazonses\.com/i } },
      { headers: { "x-ses-outgoing": /./, from: /mailer-daemon/i } },
    ],
  },
  { name: "sendgrid", marks: [{ text: /^This is an automatically generated message from SendGrid/m }] },
  {
    name: "james",
    marks: [{ headers: { subject: /^\[BOUNCE\]/ } }, { text: /^Hi\. This is the James mail server at/m }],
  },
  { name: "interscan", marks: [{ headers: { from: /InterScan MSS/i } }, { text: /^Sent >>> /m }] },
  { name: "m-filter", marks: [{ headers: { "x-mailer": /^m-FILTER/, subject: FAILED_SUBJECT } }] },
  { name: "fml", marks: [{ headers: { "x-mlserver": /^fml/i, from: /admin|owner|ctl/i } }] },
  { name: "mailmarshal", marks: [{ text: /^Your message:\s{0,20}\n[\s\S]{0,600}Could not be delivered because of/m }] },
  { name: "verizon", marks: [{ headers: { from: /post_master@(?:vtext|vzw)|sysadmin@\S{0,60}vzwpix/i } }] },
  { name: "facebook", marks: [{ headers: { from: /mailer-daemon@mx\.facebook\.com/i } }] },
  { name: "surfcontrol", marks: [{ headers: { "x-mailer": /SurfControl E-mail Filter/i, from: DAEMON } }] },
];

export function dialectOf(headers: Headers, notice: string): Dialect | undefined {
  return DIALECTS.find(({ marks }) =>
    marks.some(
      ({ headers: wanted = {}, text }) =>
        Object.entries(wanted).every(([name, pattern]) => headers.get(name)?.some((value) => pattern.test(value))) &&
        (text === undefined || text.test(notice)),
    ),
  );
}
