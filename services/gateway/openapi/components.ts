/** Converts contract schemas for the document: resources by name, once; our own formats as patterns. */
import type { ActionContract } from "../../define.ts";
import { designComponents } from "../../lib/design/shape.ts";
import { ONE_LINE_PATTERN } from "../../lib/one-line.ts";
import type { TSchema } from "../../lib/shapes.ts";
import type { Route } from "../routes.ts";
import { describedField, type Schema } from "./describe-fields.ts";

type Pick = (contract: ActionContract) => unknown;
const returned: Pick = ({ returns }) => returns;
const row: Pick = ({ returns }) =>
  (returns as unknown as { properties: { results: { items: unknown } } }).properties.results.items;
const item: Pick = ({ returns }) => (returns as unknown as { items: unknown }).items;
const json: Pick = (contract) => contract.json;
const field =
  (name: string): Pick =>
  ({ params }) =>
    (params as unknown as { properties: Record<string, unknown> }).properties[name];
const within =
  (name: string): Pick =>
  ({ returns }) =>
    (returns as unknown as { properties: Record<string, unknown> }).properties[name];

/** Named schemas, each by an action that contains it. The same schema elsewhere becomes a reference. */
const NAMED: readonly [name: string, action: string, pick: Pick, description: string][] = [
  ["Campaign", "campaigns.get", returned, "One send: its content, audience, mail server and progress."],
  ["NewCampaign", "campaigns.sendToList", returned, "A campaign with its sources."],
  ["CampaignFailure", "campaigns.failures", item, "One reason for failed recipients."],
  ["Subscriber", "subscribers.get", returned, "A person who can receive campaigns."],
  ["SubscriberAttributes", "subscribers.create", field("attributes"), "Custom fields of a subscriber."],
  ["SubscriberList", "subscribers.getList", returned, "A named group of subscribers."],
  ["EmailTemplate", "renderer.getTemplate", returned, "Subject and body with variables."],
  ["SavedBlock", "renderer.getSavedBlock", returned, "Blocks that designs share."],
  ["SavedTemplate", "renderer.createTemplate", returned, "A template with warnings."],
  ["SmtpConfiguration", "smtp-sender.getConfig", returned, "A mail server and its sending settings."],
  ["DkimKey", "smtp-sender.createDkimKey", returned, "A generated DKIM key."],
  ["GivenDkimKeys", "smtp-sender.createConfig", field("dkim"), "Signing keys; null: mails are not signed."],
  [
    "GivenBounceMailbox",
    "smtp-sender.createConfig",
    field("bounce_mailbox"),
    "IMAP mailbox that receives bounces; null removes it.",
  ],
  [
    "WarmUp",
    "smtp-sender.createConfig",
    field("warmup"),
    "Daily limits that build a new sender's reputation; null: no limit.",
  ],
  ["GivenDomainLimits", "smtp-sender.createConfig", field("domain_limits"), "Limits for recipient domains."],
  ["WebhookEndpoint", "webhooks.get", returned, "URL that receives the events."],
  ["WebhookDelivery", "webhooks.test", returned, "Delivery of one event to one endpoint."],
  ["InboundMessage", "bounces.report", returned, "A received bounce, complaint or other message."],
  ["InboundSource", "bounces.createSource", returned, "Address for a provider's reports."],
  ["Suppression", "subscribers.getSuppression", returned, "An address or domain that receives no mail."],
  ["Segment", "subscribers.getSegment", returned, "A segment with its current size."],
  ["SegmentDefinition", "subscribers.listSegments", row, "A group of subscribers defined by rules."],
  ["SegmentRules", "subscribers.createSegment", field("rules"), "Rules of a segment."],
  ["ImportReport", "subscribers.import", returned, "Result of an import."],
  ["Import", "subscribers.getImport", returned, "An uploaded file, waiting or being imported."],
  ["MediaFile", "campaigns.getMedia", returned, "An image or attachment."],
  ["Analytics", "tracking.analytics", returned, "Results of a campaign."],
  ["SentEmail", "tracking.listSentEmails", row, "One mail to one recipient."],
  ["EmailEvent", "tracking.listEvents", row, "An event of a mail."],
  ["Preferences", "tracking.preferencesPage", json, "A subscriber's preferences."],
  ["Company", "accounts.getCompany", returned, "A company and its settings."],
  ["CompanyWithRole", "accounts.acceptInvitation", within("company"), "A company with the person's role."],
  ["User", "accounts.register", within("user"), "A person who can sign in."],
  ["Tokens", "accounts.refresh", returned, "Tokens of a session."],
  ["ApiKey", "accounts.listKeys", row, "An API key, without the key itself."],
  ["Member", "accounts.updateMember", returned, "A member of a company, or an invited person."],
  ["PlanUsage", "accounts.getPlan", returned, "The company's plan and usage."],
];

const OWN_FORMATS: Record<string, string> = { line: ONE_LINE_PATTERN };

export class Components {
  readonly schemas: Record<string, Schema> = {};
  /** Keyed by content: the same schema is often written in two files. */
  readonly #names = new Map<string, string>();

  constructor(routes: readonly Route[], contractOf: (action: string) => ActionContract) {
    const actions = new Set<string>(routes.map(({ action }) => action));
    const named = NAMED.filter(([, action]) => actions.has(action)).map(
      ([name, action, pick, description]) => [name, pick(contractOf(action)), description] as const,
    );
    for (const [name, schema] of named) this.#names.set(JSON.stringify(schema), name);
    for (const [name, schema, description] of named) {
      this.schemas[name] = { description, ...describedField(this.#copy(schema) as Schema) };
    }
    if (actions.has("renderer.getTemplate")) Object.assign(this.schemas, designComponents());
  }

  /** A reference if the schema is a named resource, else the schema with references inside. */
  shown(schema: TSchema): Schema {
    return this.#shown(schema) as Schema;
  }

  #shown(node: unknown): unknown {
    if (typeof node !== "object" || node === null) return node;
    const name = this.#names.get(JSON.stringify(node));
    return name ? { $ref: `#/components/schemas/${name}` } : this.#copy(node);
  }

  #copy(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#shown(item));
    if (typeof node !== "object" || node === null) return node;
    if ("shownAs" in node) return node.shownAs;
    const { format, ...rest } = node as { format?: unknown };
    const pattern = typeof format === "string" ? OWN_FORMATS[format] : undefined;
    const shown = Object.fromEntries(
      Object.entries(pattern ? rest : node).map(([key, value]) => [key, this.#shown(value)]),
    );
    if (!pattern) return shown;
    return "pattern" in shown ? { ...shown, allOf: [{ pattern }] } : { ...shown, pattern };
  }
}
