/** What the sender reads from the database: recipients, campaigns it may claim from, and leased chunks. */
import type { CampaignStatus, CampaignType } from "../../../models/campaign.ts";

export interface RecipientRow {
  id: string;
  /** What stands before the "@" of its Message-ID. */
  message_id: string;
  campaign_no: number;
  seq: number;
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  subscriber_id: string | null;
  first_name: string | null;
  last_name: string | null;
  /** JSON, parsed when the mail is made: hundreds of rows are read ahead, and each GC would move their parsed values. */
  attributes: string | null;
  variables: string | null;
  /** Of the campaign's variants; null where all get the same, and for the rest, which gets the winner. */
  variant: number | null;
  attempts: number;
  /** Null when there never was a subscriber, or it was deleted, which takes the link (subscriber_id) from its mails. */
  subscriber_status: string | null;
  /** Kind of the suppression that blocks the address. */
  blocked: string | null;
  /** Addresses of cc and bcc that a suppression blocks, with its kind. */
  blocked_copies: Record<string, string> | null;
  /** Set where this is a copy that was claimed by itself; `attempts` and `blocked` are the copy's then. */
  copy_no?: number;
  copy_email?: string;
  /** Of such a copy: why its campaign was stopped, where it was. */
  stopped_by?: string | null;
}

/** A campaign with recipients that can be claimed now. */
export interface ClaimableCampaign {
  campaign_id: string;
  company_id: string;
  smtp_config_id: string;
  is_transactional: boolean;
  campaign_type: CampaignType;
  /** Only copies are claimed from a campaign that is over. */
  status: CampaignStatus;
  sender_email: string;
  /** The span that it was sent in, where that is recorded. */
  traceparent: string | null;
  /** Of its SMTP configuration. */
  bounce_address: string | null;
  smtp_per_hour: number | null;
  /** As many a batch of it brings at least: those of a chunk, or one that is due. */
  next_recipients: number;
}

/** A leased chunk, due retries, or due copies. */
export type BatchKind = "chunk" | "retries" | "copies";

/** A leased chunk: the recipients lo to hi of a campaign, for one sender at a time. */
export interface ChunkLease {
  campaign_id: string;
  no: number;
  lo: number;
  hi: number;
  /** Grows with each lease; results with an older one are void. */
  fence: number;
}
