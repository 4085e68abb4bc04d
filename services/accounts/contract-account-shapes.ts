import { ROLES, SCOPES } from "../lib/rights.ts";
import { CreatedAt, Described, Id, Nullable, OneOf, type Static, Time, Type, UpdatedAt, Uuid } from "../lib/shapes.ts";
import { Branding } from "./contract-branding.ts";

export const RoleName = Described(OneOf(...ROLES), "Role of the person in the company.");

/** A single line, because the company name appears in mail headers (List-Id). */
export const CompanyName = Type.String({ minLength: 1, maxLength: 255, pattern: "\\S", format: "line" });

export const User = Type.Object({
  id: Id,
  email: Described(Type.String(), "An email address.", "ann@example.com"),
  first_name: Described(Type.String(), "First name.", "Ann"),
  last_name: Described(Type.String(), "Last name.", "Lee"),
  created_at: CreatedAt,
});
export type User = Static<typeof User>;

export const IndividualTracking = Type.Boolean({
  description:
    "False: opens and clicks are counted per campaign and link without recording who they belong to. Applies to campaigns that start afterwards; their data stays anonymous even if it is set to true again.",
});

export const Company = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name; appears in mail headers.", "Lantern Books"),
  reply_to_email: Described(
    Nullable(Type.String()),
    "Reply-To address, unless the SMTP configuration has one.",
    "hello@lantern.example",
  ),
  website: Described(Nullable(Type.String()), "Website.", "https://lantern.example/"),
  footer_text: Described(
    Type.String(),
    "Shown at the foot of every marketing mail.",
    "Lantern Books, 1 Quay Street, Bristol",
  ),
  double_opt_in: Described(Type.Boolean(), "Whether sign-ups by the public form must confirm by a mailed link."),
  default_smtp_config_id: Described(Nullable(Uuid), "SMTP configuration that sends confirmation mails."),
  tracking_enabled: Described(Type.Boolean(), "Opens and clicks are recorded."),
  individual_tracking: IndividualTracking,
  retention_days: Described(
    Type.Object({
      events: Described(Nullable(Type.Integer()), "Opens, clicks, bounces and other events.", 365),
      sent_emails: Described(Nullable(Type.Integer()), "Recipients of finished campaigns.", 730),
      inbound: Described(Nullable(Type.Integer()), "Received bounce messages.", 30),
    }),
    "Days to keep data; null: the installation's default.",
  ),
  require_authentication: Described(Type.Boolean(), "Refuses sends while SPF, DKIM, DMARC or alignment fails."),
  tracking_domain: Nullable(
    Type.String({
      description: "Host of links, pixel and public pages in the company's mails.",
      examples: ["read.lantern.example"],
    }),
  ),
  tracking_domain_status: Described(Nullable(OneOf("pending", "active")), "`active` after verification."),
  tracking_domain_token: Nullable(
    Type.String({ description: "Proves the domain when served at /.well-known/flockmail.", examples: ["4f7a9c21d0"] }),
  ),
  guard: Described(
    Type.Object({
      hard_bounce_percent: Described(Type.Number(), "Stops a campaign above this percentage of hard bounces.", 10),
      complaint_percent: Described(Type.Number(), "Stops a campaign above this percentage of complaints.", 0.3),
      after: Described(Type.Integer(), "Number of recipients tried before a campaign can be stopped.", 200),
    }),
    "Limits that stop a campaign automatically.",
  ),
  timezone: Described(Type.String(), "IANA time zone that decides when days begin.", "Europe/Berlin"),
  form_attributes: Described(Type.Array(Type.String()), "Attributes accepted as fields of the public form.", ["city"]),
  form_hosts: Described(Type.Array(Type.String()), "Hosts that `redirect_url` of the public form may lead to.", [
    "lantern.example",
  ]),
  branding: Branding,
  sending_paused_at: Described(
    Nullable(Time),
    "Extension. Time at which the operator of the service paused sending; null if sending is not paused.",
  ),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
});
export type Company = Static<typeof Company>;

export const ApiKey = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name.", "Website"),
  prefix: Type.String({ description: "First characters of the key, to distinguish keys.", examples: ["fm_4f7a9c"] }),
  scopes: Described(Type.Array(OneOf(...SCOPES)), "Scopes of the key."),
  allowed_ips: Described(
    Type.Array(Type.String({ description: "IP addresses and networks that may use it; empty: all." })),
    "IP addresses and networks that may use it; empty: all.",
    ["192.0.2.0/24"],
  ),
  created_by: Described(
    Nullable(Type.Object({ id: Id, name: Described(Type.String(), "Name or address of that user.", "Grace Hopper") })),
    "User who created it; null if deleted.",
  ),
  expires_at: Described(Nullable(Time), "Expiry; null: never."),
  last_used_at: Described(Nullable(Time), "Time of the last use; null if never used."),
  created_at: CreatedAt,
});
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: "Shown only once; the service stores its hash.", examples: ["fm_4f7a9c21d0e8b3a5"] }),
});
export type NewApiKey = Static<typeof NewApiKey>;

/** `id` is the user's or the invitation's id, used to change and remove the member. */
export const Member = Type.Object({
  id: Id,
  user_id: Described(Nullable(Uuid), "The user; null while invited."),
  email: Described(Type.String(), "An email address.", "ann@example.com"),
  first_name: Described(Type.String(), "First name.", "Ann"),
  last_name: Described(Type.String(), "Last name.", "Lee"),
  role: RoleName,
  status: Described(OneOf("active", "invited"), "Current state."),
  joined_at: Described(Nullable(Time), "When the invitation was accepted."),
  expires_at: Described(Nullable(Time), "Expiry; null: never."),
});
export type Member = Static<typeof Member>;

const limit = Nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }));

/** Null means unlimited. */
export const Limits = Type.Object({
  api_calls_per_day: Described(limit, "API calls per day (UTC).", 100000),
  subscribers: Described(limit, "Subscribers.", 250000),
  emails_per_month: Described(limit, "Mails per month (UTC).", 2500000),
  smtp_per_hour: Described(limit, "Mails in any 60 minutes.", 50000),
  media_bytes: Described(
    Nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    "Bytes of media files.",
    1073741824,
  ),
});

export const Plan = Type.Object({
  plan: Described(Type.String(), "Name.", "pro"),
  features: Described(Type.Array(Type.String()), "Features of the plan.", ["segments", "webhooks"]),
  limits: Described(Limits, "Limits of the plan; null: no limit."),
});
export type Plan = Static<typeof Plan>;

export const PlanUsage = Type.Object({
  ...Plan.properties,
  usage: Described(
    Type.Object({
      api_calls_per_day: Described(Type.Integer(), "API calls per day (UTC).", 100000),
      subscribers: Described(Type.Integer(), "Subscribers.", 1234),
      emails_per_month: Described(Type.Integer(), "Mails per month (UTC).", 2500000),
      smtp_per_hour: Described(Type.Integer(), "Mails in any 60 minutes.", 50000),
      media_bytes: Described(Type.Integer(), "Bytes of media files.", 1073741824),
    }),
    "Usage in this period.",
  ),
  period: Described(
    Type.Object({ start: Described(Time, "Start of the interval."), end: Described(Time, "End of the interval.") }),
    "Month of the mail quota.",
  ),
});
export type PlanUsage = Static<typeof PlanUsage>;

export const SampleData = Type.Object({
  created_at: Described(Nullable(Time), "When it was added. Null: there is none.", "2026-12-01T09:00:00Z"),
  subscribers: Described(Type.Integer(), "How many of its people there are still.", 48),
  list_id: Described(Nullable(Uuid), "Its list."),
  template_id: Described(Nullable(Uuid), "Its template."),
  campaign_id: Described(Nullable(Uuid), "Its campaign, with a finished report."),
});
export type SampleData = Static<typeof SampleData>;
