import { ROLES, SCOPES } from "../lib/rights.ts";
import { Nullable, OneOf, type Static, Time, Type, Uuid } from "../lib/shapes.ts";
import { Branding } from "./contract-branding.ts";

export const RoleName = OneOf(...ROLES);

/** A company's name stands in mail headers (List-Id): one line. */
export const CompanyName = Type.String({ minLength: 1, maxLength: 255, pattern: "\\S", format: "line" });

export const User = Type.Object({
  id: Uuid,
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  created_at: Time,
});
export type User = Static<typeof User>;

export const IndividualTracking = Type.Boolean({
  description:
    "False: opens and clicks are counted for each campaign and link, and nobody knows or keeps whose they are. It holds for campaigns that start from then on; of those nothing becomes known when it is true again.",
});

export const Company = Type.Object({
  id: Uuid,
  name: Type.String(),
  reply_to_email: Nullable(Type.String()),
  website: Nullable(Type.String()),
  footer_text: Type.String(),
  double_opt_in: Type.Boolean(),
  default_smtp_config_id: Nullable(Uuid),
  tracking_enabled: Type.Boolean(),
  individual_tracking: IndividualTracking,
  retention_days: Type.Object({
    events: Nullable(Type.Integer()),
    sent_emails: Nullable(Type.Integer()),
    inbound: Nullable(Type.Integer()),
  }),
  require_authentication: Type.Boolean(),
  tracking_domain: Nullable(Type.String({ description: "Host of links, pixel and public pages in its mails." })),
  tracking_domain_status: Nullable(OneOf("pending", "active")),
  tracking_domain_token: Nullable(
    Type.String({ description: "Served at /.well-known/flockmail, it proves the domain." }),
  ),
  guard: Type.Object({
    hard_bounce_percent: Type.Number(),
    complaint_percent: Type.Number(),
    after: Type.Integer(),
  }),
  timezone: Type.String(),
  form_attributes: Type.Array(Type.String()),
  form_hosts: Type.Array(Type.String()),
  branding: Branding,
  created_at: Time,
  updated_at: Time,
});
export type Company = Static<typeof Company>;

export const ApiKey = Type.Object({
  id: Uuid,
  name: Type.String(),
  prefix: Type.String({ description: "How the key begins, to distinguish keys." }),
  scopes: Type.Array(OneOf(...SCOPES)),
  allowed_ips: Type.Array(Type.String({ description: "Addresses and networks that may use it; none: all." })),
  created_by: Nullable(Type.Object({ id: Uuid, name: Type.String() })),
  expires_at: Nullable(Time),
  last_used_at: Nullable(Time),
  created_at: Time,
});
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: "Shown this once; only its hash is stored." }),
});
export type NewApiKey = Static<typeof NewApiKey>;

/** `id` is the user's, or the invitation's: what the member is changed and removed by. */
export const Member = Type.Object({
  id: Uuid,
  user_id: Nullable(Uuid),
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  role: RoleName,
  status: OneOf("active", "invited"),
  joined_at: Nullable(Time),
  expires_at: Nullable(Time),
});
export type Member = Static<typeof Member>;

const limit = Nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }));

/** Null is unlimited. */
export const Limits = Type.Object({
  api_calls_per_day: limit,
  subscribers: limit,
  emails_per_month: limit,
  smtp_per_hour: limit,
  media_bytes: Nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
});

export const Plan = Type.Object({ plan: Type.String(), features: Type.Array(Type.String()), limits: Limits });
export type Plan = Static<typeof Plan>;

export const PlanUsage = Type.Object({
  ...Plan.properties,
  usage: Type.Object({
    api_calls_per_day: Type.Integer(),
    subscribers: Type.Integer(),
    emails_per_month: Type.Integer(),
    smtp_per_hour: Type.Integer(),
    media_bytes: Type.Integer(),
  }),
  period: Type.Object({ start: Time, end: Time }),
});
export type PlanUsage = Static<typeof PlanUsage>;
