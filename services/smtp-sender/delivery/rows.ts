/** What the sender reads of a recipient, and the numbers that stand for its states (models/migrations/0005). */
export const STATUS = { queued: 0, sending: 1, sent: 2, failed: 3, bounced: 4, suppressed: 5, unknown: 6 } as const;

export interface RecipientRow {
  id: string;
  seq: number;
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  subscriber_id: string | null;
  first_name: string | null;
  last_name: string | null;
  /** JSON, and parsed only for rendering: hundreds of rows are read ahead, and their values would be moved by each GC. */
  attributes: string | null;
  variables: string | null;
  attempts: number;
  /** Null when there never was one, or it was deleted. */
  subscriber_status: string | null;
  /** Kind of the suppression that blocks the address. */
  blocked: string | null;
  /** Copies that a suppression blocks. */
  blocked_copies: string[] | null;
}

/** A campaign's turn: it has recipients that can be claimed. */
export interface ClaimableCampaign {
  campaign_id: string;
  company_id: string;
  smtp_config_id: string;
  is_transactional: boolean;
  status: "pending" | "sending";
  sender_email: string;
  smtp_per_hour: number | null;
}

/** A leased chunk. */
export interface ChunkLease {
  campaign_id: string;
  no: number;
  lo: number;
  hi: number;
  fence: number;
}

const parsed = (json: string | null): Record<string, unknown> | null => (json === null ? null : JSON.parse(json));

/** As the renderer takes them. */
export const recipientOf = (row: RecipientRow) => ({
  ...row,
  attributes: parsed(row.attributes),
  variables: parsed(row.variables),
});
