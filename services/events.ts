/**
 * Defines every event between services. Events are hints: the database is authoritative, and if an event is lost (NATS
 * delivers at most once), a poll finds the work a little later. Sender and receiver validate payloads against these
 * schemas (mixins/ajv-validator.ts).
 */
import { type Static, type TSchema, Type, Uuid } from "./lib/shapes.ts";

export const events = {
  /** A campaign waits for expansion (created without a schedule, due, or resumed). */
  "campaign.pending": Type.Object({ campaignId: Uuid }),
  /** Recipients of a campaign can be claimed. */
  "campaign.queued": Type.Object({ campaignId: Uuid, companyId: Uuid }),
  /** A sender recorded its last outcome of a campaign, which may be finished. */
  "campaign.drained": Type.Object({ campaignId: Uuid }),
  /** A campaign was stopped: senders check at once instead of at their next poll. */
  "campaign.stopped": Type.Object({ campaignId: Uuid }),
  /** An API key was deleted: nodes that cache it must drop it. */
  "apiKey.deleted": Type.Object({ apiKeyId: Uuid }),
  /** A person's role in a company, or the person's password or sessions, changed: nodes that cache it must drop it. */
  "member.changed": Type.Object({ userId: Uuid }),
  /** An SMTP configuration was changed or deleted: open connections made from it must not be used for the next mail. */
  "smtpConfig.changed": Type.Object({ smtpConfigId: Uuid }),
  /** A company asked for, proved or gave up a tracking domain: nodes that know its links by the old one must drop them. */
  "trackingDomain.changed": Type.Object({ companyId: Uuid }),
  /** Outbox rows were written for this endpoint's company. */
  "webhook.queued": Type.Object({ companyId: Uuid }),
} as const satisfies Record<string, TSchema>;

export type EventName = keyof typeof events;
export type EventPayload<E extends EventName> = Static<(typeof events)[E]>;
