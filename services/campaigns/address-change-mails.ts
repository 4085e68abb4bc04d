/** Sends the links that confirm a change of address; queued, limited and charged like other confirmations. */
import type { ServiceBroker } from "moleculer";
import { confirmableUntil } from "../../models/statements/ask-to-confirm.ts";
import {
  forgetChange,
  takeChange,
  type UnsentChangeRow,
  unsentChanges,
} from "../../models/statements/change-address.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import { type QueuedMails, sendAllQueued } from "./confirmation.ts";

const CHANGES: QueuedMails<UnsentChangeRow> = {
  name: "The mail of a change of address",
  unsent: unsentChanges,
  take: takeChange,
  forget: forgetChange,
  pathOf: ({ company_id, subscriber_id, id, asked_at }) =>
    `address/${personToken("address", company_id, subscriber_id, confirmableUntil(asked_at), id)}/`,
  newEmail: ({ email }) => email,
};

export const sendAddressChanges = (broker: ServiceBroker): Promise<number> => sendAllQueued(broker, CHANGES);
