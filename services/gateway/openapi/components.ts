/** Contract schemas as the document shows them: resources by name, once; formats of our own as patterns. */
import type { ActionContract } from "../../define.ts";
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

/** The schemas that get a name, by an action that has them; the same schema elsewhere is a reference to it. */
const NAMED: readonly [name: string, action: string, pick: Pick, description: string][] = [
  ["Campaign", "campaigns.get", returned, "One send: what goes out, to whom, by which server, and how far it is."],
  ["NewCampaign", "campaigns.sendToList", returned, "A campaign, with what it was made from."],
  ["CampaignFailure", "campaigns.failures", item, "One reason why recipients failed."],
  ["Subscriber", "subscribers.get", returned, "A person who can get campaigns."],
  ["SubscriberAttributes", "subscribers.create", field("attributes"), "What else is known of a subscriber."],
  ["SubscriberList", "subscribers.getList", returned, "A list that subscribers are on."],
  ["EmailTemplate", "renderer.getTemplate", returned, "Subject and body with variables."],
  ["SavedTemplate", "renderer.createTemplate", returned, "A template, with what its author should know."],
  ["SmtpConfiguration", "smtp-sender.getConfig", returned, "A mail server, and how mail leaves by it."],
  ["DkimKey", "smtp-sender.createDkimKey", returned, "A DKIM key that was made here."],
  ["GivenDkimKeys", "smtp-sender.createConfig", field("dkim"), "Keys to sign with; null: nothing is signed."],
  [
    "GivenBounceMailbox",
    "smtp-sender.createConfig",
    field("bounce_mailbox"),
    "A mailbox that bounces arrive in, read by IMAP; null removes it.",
  ],
  [
    "WarmUp",
    "smtp-sender.createConfig",
    field("warmup"),
    "Daily limits while the reputation of a new sender builds up; null: no limit.",
  ],
  ["GivenDomainLimits", "smtp-sender.createConfig", field("domain_limits"), "Limits for recipient domains."],
  ["WebhookEndpoint", "webhooks.get", returned, "URL that receives the events."],
  ["WebhookDelivery", "webhooks.test", returned, "One event on its way to one endpoint."],
  ["InboundMessage", "bounces.report", returned, "A bounce, a complaint or another message that came in."],
  ["InboundSource", "bounces.createSource", returned, "An address that a provider reports to."],
  ["Suppression", "subscribers.getSuppression", returned, "An address or a domain that gets no mail."],
  ["Segment", "subscribers.getSegment", returned, "Subscribers by rules, with their number now."],
  ["SegmentDefinition", "subscribers.listSegments", row, "Subscribers by rules."],
  ["SegmentRules", "subscribers.createSegment", field("rules"), "Whom a segment holds."],
  ["ImportReport", "subscribers.import", returned, "What an import has done."],
  ["Import", "subscribers.getImport", returned, "A file that waits for its import, or is imported in the background."],
  ["MediaFile", "campaigns.getMedia", returned, "An image of mails, or an attachment."],
  ["Analytics", "tracking.analytics", returned, "What became of a campaign's mails, and what their readers did."],
  ["SentEmail", "tracking.listSentEmails", row, "One mail to one recipient."],
  ["EmailEvent", "tracking.listEvents", row, "Something that happened to a mail."],
  ["Preferences", "tracking.preferencesPage", json, "What a subscriber wants to get."],
  ["Company", "accounts.getCompany", returned, "A company and its settings."],
  ["CompanyWithRole", "accounts.acceptInvitation", within("company"), "A company, with the person's role there."],
  ["User", "accounts.register", within("user"), "A person who can sign in."],
  ["Tokens", "accounts.refresh", returned, "The tokens of a session."],
  ["ApiKey", "accounts.listKeys", row, "An API key, without the key itself."],
  ["Member", "accounts.updateMember", returned, "Somebody who may act for a company, or is invited to."],
  ["PlanUsage", "accounts.getPlan", returned, "The company's plan, and what is used of it."],
];

const OWN_FORMATS: Record<string, string> = { line: ONE_LINE_PATTERN };

export class Components {
  readonly schemas: Record<string, Schema> = {};
  /** By what a schema says: the same one is often written in two places. */
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
  }

  /** A reference where the schema is a named resource, else the schema itself, with references within. */
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
