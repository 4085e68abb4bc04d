/** A company's own affairs: settings, API keys, members, plan. */
import type { ServiceContract } from "../define.ts";
import { AUDIT_ACTIONS } from "../lib/audit-actions.ts";
import { SCOPES } from "../lib/rights.ts";
import {
  Bool,
  ById,
  DayOrTime,
  Described,
  Email,
  Id,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  OneOf,
  Page,
  Patch,
  Text,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import {
  ApiKey,
  Company,
  CompanyName,
  IndividualTracking,
  Member,
  NewApiKey,
  Plan,
  PlanUsage,
  RoleName,
} from "./contract-account-shapes.ts";
import { BrandingSettings } from "./contract-branding.ts";

const MAX_FORM_ENTRIES = 50;

const Days = (minimum: number, description: string, example: number) =>
  Nullable(
    Type.Integer({
      minimum,
      maximum: 36_500,
      description: `${description} Null: as the installation says.`,
      examples: [example],
    }),
  );

const Percent = (description: string, example: number) =>
  Nullable(Type.Number({ minimum: 0, maximum: 100, description, examples: [example] }));

const Settings = Patch(
  Type.Object({
    name: Described(CompanyName, "Name.", "Readers"),
    reply_to_email: Described(Nullable(Email), "Address for replies.", "hello@lantern.example"),
    website: Described(
      Nullable(Type.String({ format: "uri", maxLength: 2048 })),
      "Website.",
      "https://lantern.example/",
    ),
    footer_text: Described(
      Text(2_000),
      "At the foot of every marketing mail.",
      "Lantern Books, 1 Quay Street, Bristol",
    ),
    double_opt_in: Described(Bool, "Who comes by the public form must confirm by a mailed link."),
    default_smtp_config_id: Described(Nullable(Uuid), "SMTP configuration that sends confirmation mails."),
    tracking_enabled: Described(Bool, "Opens and clicks are recorded."),
    individual_tracking: IndividualTracking,
    retention_days: Described(
      Nullable(
        Type.Partial(
          Type.Object({
            events: Days(1, "Opens, clicks, bounces and the like. What campaigns count of them stays.", 365),
            sent_emails: Days(60, "Recipients of campaigns at rest. Links in their mails end with them.", 730),
            inbound: Days(1, "Mail that came back.", 30),
          }),
        ),
      ),
      "How many days rows are kept; null: as the installation says.",
    ),
    require_authentication: Type.Boolean({
      description: "Sends are refused while SPF, DKIM, DMARC or alignment of their SMTP configuration fails.",
    }),
    tracking_domain: Described(
      Nullable(Type.String({ minLength: 1, maxLength: 253 })),
      "Host of links, pixel and public pages in its mails.",
      "read.lantern.example",
    ),
    guard: Described(
      Nullable(
        Type.Partial(
          Type.Object({
            hard_bounce_percent: Percent("More hard bounces than this stop a campaign.", 10),
            complaint_percent: Percent("More complaints than this stop a campaign.", 0.3),
            after: Nullable(
              Type.Integer({
                minimum: 1,
                maximum: 2 ** 31 - 1,
                description: "Nothing is stopped before so many recipients were tried.",
                examples: [200],
              }),
            ),
          }),
        ),
      ),
      "When a campaign stops by itself.",
    ),
    timezone: Type.String({
      pattern: "^[A-Za-z0-9_+/-]{1,64}$",
      description:
        "An IANA name, such as Europe/Berlin: when the company's days begin, in filters, segments, statistics and warm-up. Default: UTC.",
      examples: ["Europe/Berlin"],
    }),
    form_attributes: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: MAX_FORM_ENTRIES,
        description: "Attributes that the public subscribe form takes as fields.",
        examples: [["city"]],
      }),
    ),
    form_hosts: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: MAX_FORM_ENTRIES,
        description: "Hosts (with a port, where it is not the usual one) that `redirect_url` of that form may lead to.",
        examples: [["lantern.example"]],
      }),
    ),
    branding: BrandingSettings,
  }),
);

const ByUser = { ...ById.properties, user_id: Described(Uuid, "The user's id, or the invitation's.") };

export const contract = {
  getCompany: { summary: "Company settings", params: ById, returns: Company },
  updateCompany: {
    summary: "Change company settings",
    description:
      "Owners and admins only. `double_opt_in` needs an SMTP configuration to send the confirmations with. `retention_days` is merged key by key; null takes all back. `guard` stops a campaign, as `stop` does, once more of what was tried bounced hard or was complained about than it allows; counted for each campaign, and anew from a `resume` on. It is merged key by key, too; null, for all or for one key, brings the default back: 10 and 0.3 percent, after 200. `tracking_domain` is `pending`, and used nowhere, until a CNAME to the host of the service's address, or the token at `/.well-known/flockmail` of that host, proves it; it is looked at now, and each minute. A domain of another company is refused; null gives it up.",
    params: Type.Object({ ...ById.properties, ...Settings.properties }),
    returns: Company,
    example: { reply_to_email: "hello@example.com", double_opt_in: true, guard: { hard_bounce_percent: 5 } },
  },

  deleteCompany: {
    summary: "Delete a company with all that it has",
    description:
      "Owners only, with their password (403 where it is wrong). At once nobody gets in any more, API keys are gone, campaigns stop and webhooks are silent; subscribers, mails, files, settings and the log go in the background. There is no way back. Its people keep their accounts. Links in mails that were sent stop working.",
    params: Type.Object({
      ...ById.properties,
      password: Described(
        Type.String({ minLength: 1, maxLength: 1024 }),
        "At least 10 characters, and not easy to guess.",
        "correct horse battery",
      ),
    }),
    returns: Type.Object({ detail: Described(Type.String(), "A sentence for people.", "Not found.") }),
    example: { password: "correct horse battery" },
  },
  removeCompanies: {
    summary: "Remove rows of deleted companies",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ rows: Type.Integer() }),
  },

  listKeys: {
    summary: "List API keys",
    description: "Search looks into the name. Sortable: created_at, name, expires_at, last_used_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(ApiKey),
  },
  createKey: {
    summary: "Create an API key",
    description: "The key itself is in this answer and nowhere else. A company holds at most 20.",
    params: Type.Object({
      ...ById.properties,
      name: Described(Name, "Name.", "Website"),
      expires_at: Type.Optional(Described(Nullable(Time), "When it ends; null: never.")),
      scopes: Type.Optional(
        Type.Array(OneOf(...SCOPES), { minItems: 1, maxItems: 10, description: "Default: `full`, all of them." }),
      ),
      allowed_ips: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          maxItems: 100,
          description: "Addresses and networks (CIDR) that may use it. Default: all.",
          examples: [["192.0.2.0/24"]],
        }),
      ),
    }),
    returns: NewApiKey,
    example: { name: "Website", expires_at: null, scopes: ["send"] },
  },
  removeKey: {
    summary: "Delete an API key",
    description: "It is refused everywhere within a second.",
    params: Type.Object({ ...ById.properties, key_id: Described(Uuid, "The key's id.") }),
    returns: Nothing,
  },

  listAuditLog: {
    summary: "Who did what",
    description: `Logins, keys, members, settings, SMTP configurations, webhooks, exports, imports, sends and deletions. \`actor\` is an id, an address or a key's name. Sortable: created_at, at, action.`,
    params: Type.Object({
      ...ById.properties,
      ...ListQuery.properties,
      actor: Type.Optional(
        Described(
          Type.String({ maxLength: 254 }),
          "Only by this user or key: an id, an address, or a key's name.",
          "grace@example.com",
        ),
      ),
      action: Type.Optional(Described(OneOf(...AUDIT_ACTIONS), "Only this action.")),
      since: Type.Optional(DayOrTime("Only from this on.")),
      until: Type.Optional(DayOrTime("Exclusive.")),
    }),
    returns: Page(
      Type.Object({
        id: Id,
        at: Described(Time, "Time of the event."),
        actor: Described(
          Type.Object({
            type: Described(OneOf("user", "api_key", "operator", "system"), "Type of caller."),
            id: Described(Nullable(Uuid), "The user or key; null for the operator and the system."),
            name: Described(Type.String(), "An address, or a key's name.", "grace@example.com"),
          }),
          "User or API key that did it.",
        ),
        action: Described(Type.String(), "Action.", "apiKey.created"),
        target: Described(Nullable(Type.String()), "Target of the action.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
        ip: Described(Nullable(Type.String()), "The address that it came from.", "192.0.2.7"),
        detail: Described(Type.Record(Type.String(), Type.Unknown()), "What else is known of it.", { name: "Website" }),
      }),
    ),
  },

  listMembers: {
    summary: "List the members of a company",
    description:
      "Members, and who is invited (`status`). Search looks into email and names. Sortable: created_at, email, role, joined_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(Member),
  },
  addMember: {
    summary: "Invite somebody into a company",
    description:
      "Only an owner invites another owner. The invitation is mailed and good for 7 days; where the service sends no mail of its own, `invite_url` is in this answer and nowhere else. A new one replaces the one before.",
    params: Type.Object({
      ...ById.properties,
      email: Described(Email, "An email address."),
      role: RoleName,
    }),
    returns: Type.Object({
      id: Id,
      email: Described(Type.String(), "An email address.", "ann@example.com"),
      role: RoleName,
      status: Described(OneOf("invited"), "State."),
      expires_at: Described(Time, "When it ends; null: never."),
      invite_url: Type.Optional(
        Described(
          Type.String(),
          "The link to accept by, where no mail is sent.",
          "https://mail.lantern.example/invitations/4f7a9c21/",
        ),
      ),
    }),
    example: { email: "grace@example.com", role: "admin" },
  },
  updateMember: {
    summary: "Change a member's role",
    description: "The last owner stays one.",
    params: Type.Object({ ...ByUser, role: RoleName }),
    returns: Member,
    example: { role: "member" },
  },
  removeMember: {
    summary: "Remove a member, or withdraw an invitation",
    description:
      "Everybody may leave; the last owner stays. Invitations that the member made are void. The API keys that the member made are deleted, unless `keep_keys`.",
    params: Type.Object({
      ...ByUser,
      keep_keys: Type.Optional(Described(Bool, "The API keys that the member made stay.")),
    }),
    returns: Nothing,
  },

  getPlan: {
    summary: "Plan, limits and usage",
    description:
      "A limit of null is unlimited. API calls count per API key (with a bearer token: per company) and UTC day, emails per UTC month, SMTP per rolling hour, and media files in bytes; a deleted one counts until no campaign can send it any more.",
    params: ById,
    returns: PlanUsage,
  },
  proveTrackingDomains: {
    summary: "Look at the tracking domains that are due",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ looked_at: Type.Integer() }),
  },
  planOf: {
    summary: "The company's plan, at most a second old",
    visibility: "public",
    params: Type.Object({}),
    returns: Plan,
  },
  timeZones: {
    summary: "Names of time zones that a company can have",
    visibility: "public",
    params: Type.Object({}),
    returns: Type.Array(Type.String()),
  },
  clocksAt: {
    summary: "The company's clocks at instants: `2026-12-01T09:00:00`, and the name of its time zone",
    visibility: "public",
    params: Type.Object({ instants: Type.Array(Time, { maxItems: 100_000 }) }),
    returns: Type.Object({ timezone: Type.String(), clocks: Type.Array(Type.String()) }),
  },
  instantOf: {
    summary: "The instant at which the company's clocks show this",
    visibility: "public",
    params: Type.Object({ clock: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?$" }) }),
    returns: Time,
  },
  requireFeature: {
    summary: "403 when the company's plan lacks a feature",
    visibility: "public",
    params: Type.Object({ feature: Type.String() }),
    returns: Nothing,
  },
  admitEmails: {
    summary: "403 when so many emails, copies included, would exceed the quota of the month in which they are due",
    visibility: "public",
    params: Type.Object({ emails: Type.Integer({ minimum: 0 }), due: Type.Optional(Nullable(Time)) }),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
