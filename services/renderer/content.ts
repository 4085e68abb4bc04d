import type { FieldErrors } from "../lib/errors.ts";
import { UnusableAddress } from "./mime/headers.ts";

export interface Attachment {
  filename: string;
  contentType: string;
  data: Buffer;
}

export interface Dkim {
  domain: string;
  selector: string;
  privateKey: string;
}

/** Data from which a campaign's emails are rendered. */
export interface Content {
  campaignId: string;
  companyId: string;
  subject: string;
  body: string;
  preheader?: string | null;
  textBody?: string | null;
  senderName: string;
  senderEmail: string;
  replyToEmail: string | null;
  listName: string;
  listId: string;
  companyName: string;
  /** Language of the company's pages. */
  pageLanguage?: string;
  footerText: string;
  isTransactional: boolean;
  trackingEnabled: boolean;
  /** Id in its links that replaces the email's id; null: the email's own. */
  campaignTokenId: string | null;
  /** The company's own host, where it is proved. */
  trackingDomain: string | null;
  attachments: Attachment[];
  /** DKIM keys, each of which signs; if empty, the email is not signed. */
  dkim: Dkim[];
}

/** Values of the built-in variables `[[company.name]]` and `[[company.footer_text]]`. */
export const companyVariables = (content: { companyName: string; footerText: string }) => ({
  "company.name": content.companyName,
  "company.footer_text": content.footerText,
});

/** Settings common to all campaigns of this installation. */
export interface Installation {
  baseUrl: string;
  serviceName: string;
}

/** No mail can be made from this content, or for this recipient. The message becomes the recipient's `error`. */
export class Unrenderable extends Error {}

/** The sentences on its subject and its body. */
export class UnusableTemplate extends Unrenderable {
  readonly fields: FieldErrors;

  constructor(fields: FieldErrors) {
    super(`The template cannot be rendered: ${Object.values(fields).flat().join(" ")}`);
    this.fields = fields;
  }
}

/** A template's error is shown to its author. Any other error is a defect, and its cause is logged. */
export function unrenderable(error: unknown): Unrenderable {
  if (error instanceof Unrenderable) return error;
  if (error instanceof UnusableAddress) return new Unrenderable(error.message);
  return new Unrenderable("The template cannot be rendered.", { cause: error });
}
