/** Renders a mail without database or broker: content, recipient and links in, message out. */
import { Buffer } from "node:buffer";
import { RawMessage } from "../../services/lib/raw-message.ts";
import { addressToken, LinkTokens } from "../../services/lib/tokens/link-token.ts";
import { bodiesOf, htmlProgram, subjectProgram, textProgram } from "../../services/renderer/bodies/bodies.ts";
import type { Content } from "../../services/renderer/content.ts";
import { signer } from "../../services/renderer/mime/dkim.ts";
import { skeletonOf, subjectText } from "../../services/renderer/mime/skeleton.ts";
import { run } from "../../services/renderer/program/program.ts";
import { type Recipient, scopeOf } from "../../services/renderer/program/scope.ts";

export const KEY = Buffer.alloc(32, 7);
export const BASE_URL = "https://mail.example.org";
export const RECIPIENT: Recipient = { id: "018f0000-0000-7000-8000-0000000000ff", email: "bob@example.com" };

export function contentOf(given: Partial<Content> = {}): Content {
  return {
    campaignId: "018f0000-0000-7000-8000-000000000001",
    companyId: "018f0000-0000-7000-8000-000000000002",
    subject: "Hello",
    body: "<p>Hello</p>",
    senderName: "Ann",
    senderEmail: "ann@example.org",
    replyToEmail: null,
    listName: "News",
    listId: "018f0000-0000-7000-8000-000000000003",
    companyName: "ACME",
    footerText: "",
    isTransactional: false,
    trackingEnabled: true,
    campaignTokenId: null,
    trackingDomain: null,
    attachments: [],
    dkim: [],
    ...given,
  };
}

function scope(recipient: Recipient) {
  return scopeOf(recipient, {
    fallback: { "company.name": "ACME" },
    tokens: new LinkTokens(KEY, recipient.id),
    preferencesUrl: () => `${BASE_URL}/api/emails/public/preferences/TOKEN/`,
  });
}

export interface Made {
  /** The whole message as bytes. */
  message: Buffer;
  smtputf8: boolean;
  links: string[];
}

export async function makeMail(
  given: Partial<Content> = {},
  to: Partial<Recipient> = {},
  options: { copy?: boolean } = {},
): Promise<Made> {
  const content = contentOf(given);
  const recipient = { ...RECIPIENT, ...to };
  const bodies = bodiesOf(content);
  const { links } = bodies;
  const tracking = {
    links: links.length,
    numberOf: (template: string) => (links.includes(template) ? links.indexOf(template) + 1 : undefined),
    tokenFor: (id: string, link: number, url: string) => addressToken(KEY, id, link, url),
  };
  const installation = { baseUrl: BASE_URL, serviceName: "Flockmail" };
  const skeleton = skeletonOf(content, bodies, installation, KEY, content.trackingEnabled ? tracking : null);
  const mail = skeleton.make(recipient, scope(recipient), options.copy ?? false);
  const [head, body] = [mail.text.pieces.slice(0, mail.headPieces), mail.text.pieces.slice(mail.headPieces)].map(
    (pieces) => new RawMessage(pieces).toString(),
  ) as [string, string];
  const signedHead = content.dkim.length > 0 ? await signer(content.dkim, skeleton.tail)(head, body) : head;
  const message = Buffer.from(signedHead + body + (skeleton.tail ?? ""), "latin1");
  return { message, smtputf8: mail.smtputf8, links };
}

/** Renders a template in subject, HTML and text. Without tracking or footer. */
export function say(template: string, data: Record<string, unknown> = {}, to: Partial<Recipient> = {}) {
  const bodies = bodiesOf({ ...contentOf({ isTransactional: true }), subject: "", body: template });
  const subject = bodiesOf({ ...contentOf(), subject: template.slice(0, 900), body: "" }).subject;
  const recipient = { ...RECIPIENT, attributes: data, ...to };
  return {
    html: run(htmlProgram(bodies.html, BASE_URL), scope(recipient)),
    text: run(textProgram(bodies.text(), BASE_URL), scope(recipient)),
    /** Lazy: a valid body may be too long for a subject. */
    get subject() {
      return subjectText(subjectProgram(subject, BASE_URL), scope(recipient));
    },
  };
}
