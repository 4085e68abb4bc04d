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

/** What a campaign's mails are made from. */
export interface Content {
  campaignId: string;
  companyId: string;
  subject: string;
  body: string;
  senderName: string;
  senderEmail: string;
  replyToEmail: string | null;
  listName: string;
  listId: string;
  companyName: string;
  footerText: string;
  isTransactional: boolean;
  trackingEnabled: boolean;
  attachments: Attachment[];
  dkim: Dkim | null;
}

/** What is the same for all campaigns of this installation. */
export interface Installation {
  baseUrl: string;
  serviceName: string;
}

/** No mail can be made from this content, or for this recipient. The message becomes the recipient's `error`. */
export class Unrenderable extends Error {}
