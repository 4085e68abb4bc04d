/** Row types that the sender reads: recipients, campaigns to claim from, and leased chunks. */
import type { CampaignStatus, CampaignType } from "../../../models/campaign.ts";

export interface RecipientRow {
  id: string;
  /** The part of its Message-ID before the "@". */
  message_id: string;
  campaign_no: number;
  seq: number;
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  subscriber_id: string | null;
  first_name: string | null;
  last_name: string | null;
  /**
   * JSON, parsed when the email is rendered: hundreds of rows are read ahead, and every garbage collection would move
   * their parsed values.
   */
  attributes: string | null;
  variables: string | null;
  /** Variant number; null if all recipients get the same, and for the remainder, which gets the winner. */
  variant: number | null;
  attempts: number;
  /** Null if there never was a subscriber, or it was deleted, which unlinks its emails. */
  subscriber_status: string | null;
  /** Kind of the suppression that blocks the address. */
  blocked: string | null;
  /** Suppressed addresses of cc and bcc, with the suppression's kind. */
  blocked_copies: Record<string, string> | null;
  /** Set for an individually claimed copy; `attempts` and `blocked` are then the copy's. */
  copy_no?: number;
  copy_email?: string;
  /** Reason why the copy's campaign was stopped, if it was. */
  stopped_by?: string | null;
}

/** A campaign with recipients that can be claimed now. */
export interface ClaimableCampaign {
  campaign_id: string;
  company_id: string;
  smtp_config_id: string;
  is_transactional: boolean;
  campaign_type: CampaignType;
  /** Finished campaigns: only copies are claimed. */
  status: CampaignStatus;
  sender_email: string;
  /** Span of the send request, if recorded. */
  traceparent: string | null;
  /** Id of its SMTP configuration. */
  bounce_address: string | null;
  smtp_per_hour: number | null;
  /** Minimum recipients of a batch: those of a chunk, or one that is due. */
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
