/**
 * Builds the skeleton of a campaign's mails: headers and parts whose static text is already encoded for the wire, so
 * that only values are encoded per recipient. A part that is mostly non-ASCII is base64, because quoted-printable would
 * triple it.
 */
import { createHmac } from "node:crypto";
import { asciiDomain, domainOf } from "../../lib/address.ts";
import { fixedPiece, type MailPiece, RawMessage } from "../../lib/raw-message.ts";
import type { Node } from "../../lib/template/parser.ts";
import { type Bodies, htmlProgram, subjectProgram, textProgram } from "../bodies/bodies.ts";
import { type Content, type Installation, Unrenderable } from "../content.ts";
import { type Program, run, type Uses, wireProgram, write } from "../program/program.ts";
import type { Recipient, Scope } from "../program/scope.ts";
import { plainWriter, quotedPrintableWriter, utf8Bytes, type Writer } from "../program/writer.ts";
import { attachmentParts, base64Lines } from "./attachments.ts";
import { addressSpec, copiesField, dateField, isNonAscii, mailbox, quotedPhrase, textField } from "./headers.ts";
import { encodeQuotedPrintable } from "./quoted-printable.ts";

export interface Mail {
  /** CRLF lines, none beginning with "."; `tail` follows, if there is one. */
  text: RawMessage;
  /** Number of pieces that are headers, including the empty line after them. */
  headPieces: number;
  smtputf8: boolean;
}

export interface Skeleton {
  links: number;
  /** Ends every message that has attachments; the same string for all. */
  tail: string | null;
  make(recipient: Recipient, scope: Scope, copy: boolean): Mail;
}

/** Quoted-printable is faster and readable in the raw message; beyond this growth base64 (1.37) is used instead. */
const QP_GROWTH = 1.6;

type PartMaker = (scope: Scope) => MailPiece[];

const staticText = (nodes: readonly Node[]): string =>
  nodes
    .map((node) => {
      if (node.kind === "text") return node.text;
      if (node.kind === "if") return staticText(node.body) + staticText(node.otherwise);
      return node.kind === "each" || node.kind === "link" ? staticText(node.body) : "";
    })
    .join("");

function prefersBase64(nodes: readonly Node[]): boolean {
  const text = staticText(nodes);
  return encodeQuotedPrintable(text).text.length > Buffer.byteLength(text) * QP_GROWTH;
}

/** A part always ends with its own line break, so that it never ends with a soft break. */
const closed = (nodes: readonly Node[]): Node[] => [...nodes, { kind: "text", text: "\n" }];

/** Longer ones are a mistake in the data, and some servers refuse the header. */
const MAX_SUBJECT = 10_000;

/** The subject as text, before it is encoded. */
export function subjectText(program: Program, scope: Scope): string {
  const text = run(program, scope).trim();
  if (text.length > MAX_SUBJECT) throw new Unrenderable(`The subject is longer than ${MAX_SUBJECT} characters.`);
  return text;
}

type MakeProgram = (nodes: readonly Node[], writer: Writer) => Program;

/** `opening`: the part up to its type; `end`: the text after the part. */
function part(opening: string, nodes: readonly Node[], program: MakeProgram, end = ""): PartMaker {
  const base64 = prefersBase64(nodes);
  const encoding = base64 ? "base64" : "quoted-printable";
  const head = `${opening}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  const writer = base64 ? plainWriter(utf8Bytes) : quotedPrintableWriter();
  const pieces = program(closed(nodes), writer);
  if (base64) return (scope) => [head + base64Lines(Buffer.from(run(pieces, scope), "latin1")) + end];
  const wire = wireProgram([head, ...pieces, end]);
  return (scope) => write(wire, scope);
}

/** "=_" cannot occur in quoted-printable or base64 text, so that no content can end its part. */
const boundaryOf = (key: Buffer, campaignId: string, index: number): string =>
  `=_${createHmac("sha256", key).update(`${campaignId} ${index}`).digest("hex").slice(0, 32)}`;

function listId(name: string, id: string): string {
  const field = `List-Id: ${quotedPhrase(name, "List-Id: ".length)}`;
  return field.length + id.length < 76 ? `${field} ${id}` : `${field}\r\n ${id}`;
}

function staticFields(
  content: Content,
  { serviceName }: Installation,
  contentType: string,
): { first: string; last: string } {
  const domain = asciiDomain(domainOf(content.senderEmail)) ?? "localhost";
  const kind = content.isTransactional ? "transactional" : "marketing";
  const first = [
    `From: ${mailbox(content.senderName, content.senderEmail, "From: ".length)}`,
    `Reply-To: ${addressSpec(content.replyToEmail || content.senderEmail)}`,
  ];
  const last = [
    textField("X-Mailer", serviceName).trimEnd(),
    "Precedence: bulk",
    // A receipt answers what somebody did: no holiday note shall answer it (RFC 3834 section 5).
    ...(content.isTransactional ? ["Auto-Submitted: auto-generated"] : []),
    "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    listId(content.listName, `<${content.listId}.${domain}>`),
    `Feedback-ID: ${content.campaignId}:${content.companyId}:${kind}:flockmail`,
    "MIME-Version: 1.0",
    contentType,
    "",
  ];
  return { first: `${first.join("\r\n")}\r\n`, last: last.join("\r\n") };
}

interface Tracking {
  numberOf: NonNullable<Uses["numberOf"]>;
  tokenFor: NonNullable<Uses["tokenFor"]>;
  links: number;
}

export function skeletonOf(
  content: Content,
  bodies: Bodies,
  installation: Installation,
  boundaryKey: Buffer,
  tracking: Tracking | null,
): Skeleton {
  const { baseUrl } = installation;
  const mixed = content.attachments.length > 0;
  const outer = boundaryOf(boundaryKey, content.campaignId, 0);
  const inner = mixed ? boundaryOf(boundaryKey, content.campaignId, 1) : outer;
  const alternative = `Content-Type: multipart/alternative;\r\n boundary="${inner}"`;
  const contentType = mixed ? `Content-Type: multipart/mixed;\r\n boundary="${outer}"` : alternative;
  const fields = staticFields(content, installation, contentType);
  const domain = asciiDomain(domainOf(content.senderEmail)) ?? "localhost";
  const utf8Sender = isNonAscii(fields.first);

  const opening = mixed ? `--${outer}\r\n${alternative}\r\n\r\n--${inner}\r\n` : `--${inner}\r\n`;
  const between = `\r\n--${inner}\r\n`;
  const end = mixed ? `\r\n--${inner}--\r\n\r\n` : `\r\n--${inner}--\r\n`;
  const subject = subjectProgram(bodies.subject, baseUrl);
  const text = part(`${opening}Content-Type: text/plain`, bodies.text(), (nodes, writer) =>
    textProgram(nodes, baseUrl, writer),
  );
  const html = (within?: Tracking) =>
    part(
      `${between}Content-Type: text/html`,
      bodies.html,
      (nodes, writer) => htmlProgram(nodes, baseUrl, writer, within),
      end,
    );
  const untracked = html();
  const tracked = tracking ? html(tracking) : untracked;

  const first = fixedPiece(`${fields.first}To: `);
  const unsubscribe = fixedPiece(`@${domain}>\r\nList-Unsubscribe: <${baseUrl}/api/emails/public/unsubscribe/`);
  const last = fixedPiece(`/>\r\n${fields.last}\r\n`);
  const tail = mixed ? attachmentParts(content.attachments, outer) : null;

  return {
    links: tracking?.links ?? 0,
    tail,
    make(recipient, scope, copy) {
      const { cc, id, message_id: messageId = id } = recipient;
      const address = addressSpec(recipient.email);
      const smtputf8 = utf8Sender || isNonAscii(address);
      const head: MailPiece[] = [
        first,
        `${address}\r\n${cc?.length ? copiesField(cc, smtputf8) : ""}`,
        textField("Subject", subjectText(subject, scope)),
        dateField(),
        `Message-ID: <${messageId}`,
        unsubscribe,
        id,
        last,
      ];
      const pieces = head.concat(text(scope), (copy ? untracked : tracked)(scope));
      return { text: new RawMessage(pieces), headPieces: head.length, smtputf8 };
    },
  };
}
