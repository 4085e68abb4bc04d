/**
 * The parameters of the three sends in one shape. A send takes the fields of its contract and no others: a `list_id` in
 * a send to receivers is ignored by both the validation and the campaign.
 */
import type { CampaignType } from "../../../models/campaign.ts";
import type { ActionContract } from "../../define.ts";
import { sending } from "../contract-sending.ts";
import type { Receiver } from "./inline-receivers.ts";
import type { GivenVariant, GivenWinner } from "./variants.ts";

export interface SendParams {
  company?: string;
  name: string;
  smtp_config_id: string;
  template_id?: string;
  list_id?: string;
  segment_id?: string;
  subject?: string;
  body?: string;
  receivers?: Receiver[];
  attachment_ids?: string[];
  scheduled_for?: unknown;
  is_transactional?: boolean;
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
