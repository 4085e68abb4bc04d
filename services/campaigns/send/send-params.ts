/**
 * Parameters of the three kinds of send in one shape. Each kind takes only the fields of its contract: validation and
 * campaign both ignore a `list_id` in a send to receivers.
 */
import type { CampaignType } from "../../../models/campaign.ts";
import type { ActionContract } from "../../define.ts";
import type { Content } from "../contract-content.ts";
import { sending } from "../contract-sending.ts";
import type { Receiver } from "./inline-receivers.ts";
import type { GivenVariant, GivenWinner } from "./variants.ts";

export interface SendParams {
  company?: string;
  name: string;
  smtp_config_id: string;
  template_id?: string;
  content?: Content;
  list_id?: string;
  segment_id?: string;
  subject?: string;
  body?: string;
  design?: Content["design"];
  preheader?: string | null;
  text_body?: string | null;
  inline_css?: boolean;
  receivers?: Receiver[];
  attachment_ids?: string[];
  scheduled_for?: unknown;
  timezone?: "recipient" | null;
  is_transactional?: boolean;
  utm?: Record<string, string> | null;
  variants?: GivenVariant[] | null;
  winner?: GivenWinner | null;
  idempotency_key?: string;
}

const fieldsOf = (contract: ActionContract) => new Set(Object.keys(contract.params.properties as object));
const FIELDS: Record<CampaignType, ReadonlySet<string>> = {
  to_list: fieldsOf(sending.sendToList),
  to_receivers: fieldsOf(sending.sendToReceivers),
  custom: fieldsOf(sending.sendCustom),
};

export const isField = (type: CampaignType, name: string): boolean => FIELDS[type].has(name);

export function paramsOf(type: CampaignType, given: SendParams): SendParams {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isField(type, name))) as unknown as SendParams;
}

/** Fields stored in columns of the campaign, its contents or receivers, or specific to one request. */
const STORED: ReadonlySet<string> = new Set<keyof SendParams>([
  "company",
  "name",
  "smtp_config_id",
  "template_id",
  "content",
  "list_id",
  "segment_id",
  "subject",
  "body",
  "design",
  "preheader",
  "text_body",
  "inline_css",
  "receivers",
  "attachment_ids",
  "scheduled_for",
  "is_transactional",
  "idempotency_key",
]);

/** All other fields, which a duplicate repeats; null if there are none. */
export function furtherOf(params: object): Record<string, unknown> | null {
  const further = Object.entries(params).filter(([field]) => !STORED.has(field));
  return further.length > 0 ? Object.fromEntries(further) : null;
}

const MAX_NAME = 255;

/** Cuts a derived name to the maximum length without splitting a surrogate pair. */
export const cutName = (name: string): string =>
  name
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, "")
    .trim();
