/** Contracts of a company's settings, API keys, members and plan. */
import type { ServiceContract } from "../define.ts";
import { AUDIT_ACTIONS } from "../lib/audit-actions.ts";
import { SCOPES } from "../lib/rights.ts";
import {
  Bool,
  ById,
  DayOrTime,
  Described,
  Email,
  Filter,
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
  SampleData,
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
    reply_to_email: Described(Nullable(Email), "Reply-To address.", "hello@lantern.example"),
    website: Described(
      Nullable(Type.String({ format: "uri", maxLength: 2048 })),
      "Website.",
      "https://lantern.example/",
    ),
    footer_text: Described(
      Text(2_000),
      "Shown at the foot of every marketing mail.",
      "Lantern Books, 1 Quay Street, Bristol",
    ),
    double_opt_in: Described(Bool, "Whether sign-ups by the public form must confirm by a mailed link."),
    default_smtp_config_id: Described(Nullable(Uuid), "SMTP configuration that sends confirmation mails."),
    tracking_enabled: Described(Bool, "Opens and clicks are recorded."),
    individual_tracking: IndividualTracking,
    retention_days: Described(
      Nullable(
        Type.Partial(
          Type.Object({
            events: Days(1, "Opens, clicks, bounces and other events. Campaign counters stay.", 365),
            sent_emails: Days(60, "Recipients of finished campaigns. Links in their mails stop working.", 730),
            inbound: Days(1, "Received bounce messages.", 30),
          }),
        ),
      ),
      "Days to keep data; null: the installation's default.",
    ),
    require_authentication: Type.Boolean({
      description: "Refuses sends while SPF, DKIM, DMARC or alignment of their SMTP configuration fails.",
    }),
    tracking_domain: Described(
      Nullable(Type.String({ minLength: 1, maxLength: 253 })),
      "Host of links, pixel and public pages in the company's mails.",
      "read.lantern.example",
    ),
    guard: Described(
      Nullable(
        Type.Partial(
          Type.Object({
            hard_bounce_percent: Percent("Stops a campaign above this percentage of hard bounces.", 10),
            complaint_percent: Percent("Stops a campaign above this percentage of complaints.", 0.3),
            after: Nullable(
              Type.Integer({
                minimum: 1,
                maximum: 2 ** 31 - 1,
                description: "Number of recipients tried before a campaign can be stopped.",
                examples: [200],
              }),
            ),
          }),
        ),
      ),
      "Limits that stop a campaign automatically.",
    ),
    timezone: Type.String({
      pattern: "^[A-Za-z0-9_+/-]{1,64}$",
      description:
        "IANA time zone, such as Europe/Berlin, that decides when days begin in filters, segments, statistics and warm-up. Default: UTC.",
      examples: ["Europe/Berlin"],
    }),
    form_attributes: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: MAX_FORM_ENTRIES,
        description: "Attributes accepted as fields of the public subscribe form, in any case.",
        examples: [["city"]],
      }),
    ),
    form_hosts: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: MAX_FORM_ENTRIES,
        description: "Hosts (with a port unless it is the default) that `redirect_url` of the public form may lead to.",
        examples: [["lantern.example"]],
      }),
    ),
    branding: BrandingSettings,
  }),
);

const ByUser = { ...ById.properties, user_id: Described(Uuid, "Id of the user or invitation.") };

export const contract = {
  getCompany: { summary: "Company settings", params: ById, returns: Company },
  updateCompany: {
    summary: "Change company settings",
    description:
      "Owners and admins only. `double_opt_in` requires an SMTP configuration for confirmation mails. `retention_days` is merged key by key; null resets it. `guard` stops a campaign, as `stop` does, when hard bounces or complaints exceed its limits; it counts per campaign, and from zero after `resume`. It is merged key by key; null, for all or for one key, restores the default: 10 and 0.3 percent, after 200. `tracking_domain` is `pending`, and not used, until a CNAME to the service's host, or the token at `/.well-known/flockmail` of that host, proves it; it is checked now and every minute. A domain of another company is refused; null removes it.",
    params: Type.Object({ ...ById.properties, ...Settings.properties }),
    returns: Company,
    example: { reply_to_email: "hello@example.com", double_opt_in: true, guard: { hard_bounce_percent: 5 } },
  },

  deleteCompany: {
    summary: "Delete a company and all its data",
    description:
      "Owners only, with their password (403 if it is wrong). Access, API keys, campaigns and webhooks end at once; subscribers, mails, files, settings and the audit log are deleted in the background. This cannot be undone. Its members keep their accounts. Links in sent mails stop working.",
    params: Type.Object({
      ...ById.properties,
      password: Described(
        Type.String({ minLength: 1, maxLength: 1024 }),
        "At least 10 characters and not easily guessed.",
        "correct horse battery",
      ),
    }),
    returns: Type.Object({ detail: Described(Type.String(), "Message for people.", "Not found.") }),
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
    description: "Searches the name. Sortable: created_at, name, expires_at, last_used_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(ApiKey),
  },
  createKey: {
    summary: "Create an API key",
    description: "Only this answer contains the key itself. A company can have 20 keys.",
    params: Type.Object({
      ...ById.properties,
      name: Described(Name, "Name.", "Website"),
      expires_at: Type.Optional(Described(Nullable(Time), "Expiry; null: never.")),
      scopes: Type.Optional(
        Type.Array(OneOf(...SCOPES), { minItems: 1, maxItems: 10, description: "Default: `full`." }),
      ),
      allowed_ips: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          maxItems: 100,
          description: "IP addresses and networks (CIDR) that may use the key. Default: all.",
          examples: [["192.0.2.0/24"]],
        }),
      ),
    }),
    returns: NewApiKey,
    example: { name: "Website", expires_at: null, scopes: ["send"] },
  },
  removeKey: {
    summary: "Delete an API key",
    description: "The key stops working within a second.",
    params: Type.Object({ ...ById.properties, key_id: Described(Uuid, "The key's id.") }),
    returns: Nothing,
  },

  listAuditLog: {
    summary: "List audit log entries",
    description: `Records logins, keys, members, settings, SMTP configurations, webhooks, exports, imports, sends and deletions. \`actor\` is an id, an address or a key's name. Sortable: created_at, at, action.`,
    params: Type.Object({
      ...ById.properties,
      ...ListQuery.properties,
      actor: Filter(
        Type.String({ maxLength: 254 }),
        "Only entries by this user or key: an id, an address or a key's name.",
        "grace@example.com",
      ),
      action: Filter(OneOf(...AUDIT_ACTIONS), "Only entries with this action."),
      since: Type.Optional(DayOrTime("Inclusive start.")),
      until: Type.Optional(DayOrTime("Exclusive.")),
    }),
    returns: Page(
      Type.Object({
        id: Id,
        at: Described(Time, "Time of the event."),
        actor: Described(
          Type.Object({
            type: Described(OneOf("user", "api_key", "operator", "system"), "Type of the actor."),
            id: Described(Nullable(Uuid), "User or key; null for the operator and the system."),
            name: Described(Type.String(), "A user's address or a key's name.", "grace@example.com"),
          }),
          "User or API key that acted.",
        ),
        action: Described(Type.String(), "Action.", "apiKey.created"),
        target: Described(Nullable(Type.String()), "Target of the action.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
        ip: Described(Nullable(Type.String()), "IP address.", "192.0.2.7"),
        detail: Described(Type.Record(Type.String(), Type.Unknown()), "Further details, depending on the action.", {
          name: "Website",
        }),
      }),
    ),
  },

  listMembers: {
    summary: "List the members of a company",
    description:
      "Members and open invitations (`status`). Searches email and names. Sortable: created_at, email, role, joined_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(Member),
  },
  addMember: {
    summary: "Invite a member",
    description:
      "Only owners can invite owners. The invitation is mailed and valid for 7 days; if the service sends no mail of its own, only this answer contains `invite_url`. A new invitation replaces an earlier one.",
    params: Type.Object({
      ...ById.properties,
      email: Described(Email, "An email address."),
      role: RoleName,
    }),
    returns: Type.Object({
      id: Id,
      email: Described(Type.String(), "An email address.", "ann@example.com"),
      role: RoleName,
      status: Described(OneOf("invited"), "Current state."),
      expires_at: Described(Time, "Expiry; null: never."),
      invite_url: Type.Optional(
        Described(
          Type.String(),
          "Link to accept the invitation, if no mail is sent.",
          "https://mail.lantern.example/invitations/4f7a9c21/",
        ),
      ),
    }),
    example: { email: "grace@example.com", role: "admin" },
  },
  updateMember: {
    summary: "Change a member's role",
    description: "The last owner cannot be changed.",
    params: Type.Object({ ...ByUser, role: RoleName }),
    returns: Member,
    example: { role: "member" },
  },
  removeMember: {
    summary: "Remove a member or withdraw an invitation",
    description:
      "Members can remove themselves; the last owner cannot be removed. Invitations by the member become void. The member's API keys are deleted unless `keep_keys` is true.",
    params: Type.Object({
      ...ByUser,
      keep_keys: Type.Optional(Described(Bool, "Keep the API keys that the member created.")),
    }),
    returns: Nothing,
  },

  getPlan: {
    summary: "Plan, limits and usage",
    description:
      "Null means unlimited. API calls count per API key (with a bearer token: per company) and UTC day, emails per UTC month, SMTP per rolling hour, and media files in bytes; a deleted file counts until no campaign can send it any more.",
    params: ById,
    returns: PlanUsage,
  },
  getSampleData: {
    summary: "The company's sample data",
    description: "Ids are null for what does not exist (any more).",
    params: ById,
    returns: SampleData,
  },
  addSampleData: {
    summary: "Add sample data to look around with",
    description:
      "Makes a list with people, a template and a finished campaign with its report. Its people have addresses at a reserved domain that is suppressed for the company, so that nothing is ever sent to them; they count in no limit of the plan, and the campaign neither in the monthly emails nor in `stats/`. If the company has sample data already, nothing changes.",
    params: ById,
    returns: SampleData,
  },
  removeSampleData: {
    summary: "Remove the sample data",
    description:
      "Deletes all that the sample data made. A list that other people were added to, or a template that was changed, stays. Nothing happens if there is none.",
    params: ById,
    returns: Nothing,
  },
  proveTrackingDomains: {
    summary: "Look at the tracking domains that are due",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ checked: Type.Integer() }),
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
