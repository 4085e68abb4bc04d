/** Contract schemas as the document shows them: resources by name, once; formats of our own as patterns. */
import type { ActionContract } from "../../define.ts";
import { ONE_LINE_PATTERN } from "../../lib/one-line.ts";
import type { TSchema } from "../../lib/shapes.ts";
import type { Route } from "../routes.ts";

/** The resources that get a name, by the action that returns exactly one of them. */
const NAMED: Record<string, string> = {
  Campaign: "campaigns.get",
  Subscriber: "subscribers.get",
  SubscriberList: "subscribers.getList",
  EmailTemplate: "renderer.getTemplate",
  SmtpConfiguration: "smtp-sender.getConfig",
  WebhookEndpoint: "webhooks.get",
  WebhookDelivery: "webhooks.test",
  InboundMessage: "bounces.report",
  Suppression: "subscribers.getSuppression",
  Segment: "subscribers.getSegment",
  MediaFile: "campaigns.getMedia",
  Analytics: "tracking.analytics",
  Company: "accounts.getCompany",
  PlanUsage: "accounts.getPlan",
};

const OWN_FORMATS: Record<string, string> = { line: ONE_LINE_PATTERN };

type Schema = Record<string, unknown>;

export class Components {
  readonly schemas: Record<string, Schema> = {};
  readonly #names = new Map<unknown, string>();

  constructor(routes: readonly Route[], contractOf: (action: string) => ActionContract) {
    const actions = new Set<string>(routes.map(({ action }) => action));
    for (const [name, action] of Object.entries(NAMED)) {
      if (!actions.has(action)) continue;
      const schema = contractOf(action).returns;
      if (!this.#names.has(schema)) this.#names.set(schema, name);
    }
    for (const [schema, name] of this.#names) this.schemas[name] = this.#copy(schema) as Schema;
  }

  /** A reference where the schema is a named resource, else the schema itself, with references within. */
  shown(schema: TSchema): Schema {
    return this.#shown(schema) as Schema;
  }

  #shown(node: unknown): unknown {
    const name = this.#names.get(node);
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
