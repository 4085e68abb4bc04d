/** SMTP configurations and the test of a server, as clients see them. */
import { CHECK_NAMES, TLS_MODES } from "../../models/smtp-config.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  Email,
  Line,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  OneOf,
  Page,
  type Static,
  Text,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { DkimView, GivenDkim, MadeKey } from "./contract-dkim.ts";

const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Folder = Type.String({ minLength: 1, maxLength: 255, pattern: "\\S", format: "line" });
const Host = Type.String({ minLength: 1, maxLength: 253, pattern: "\\S" });

/** At least one of the two limits; a domain stands in it once. */
const DomainLimit = Type.Object({
  domain: Line(253),
  max_per_minute: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  max_connections: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000 }))),
});

/** `password` is write-only. In a PATCH what is left out stays; null removes the mailbox. */
const BounceMailbox = Type.Object({
  host: Type.Optional(Host),
  port: Type.Optional(Port),
  username: Type.Optional(Line(255)),
  password: Type.Optional(Text(1_024)),
  use_tls: Type.Optional(Bool),
  folder: Type.Optional(Folder),
  processed_folder: Type.Optional(Folder),
});

export const SmtpConfig = Type.Object({
  id: Uuid,
  name: Type.String(),
  host: Type.String(),
  port: Type.Integer(),
  use_tls: Bool,
  tls_mode: OneOf(...TLS_MODES),
  sender_name: Type.String(),
  sender_email: Type.String(),
  reply_to_email: Nullable(Type.String()),
  /** Where bounces go: each mail's envelope sender is this with a token before the @. Null: it is `sender_email`. */
  bounce_address: Nullable(Type.String()),
  /** Bounces that arrive in a mailbox are read by IMAP; `last_error` says why they are not. */
  bounce_mailbox: Nullable(
    Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      username: Type.String(),
      use_tls: Bool,
      folder: Type.String(),
      processed_folder: Type.String(),
      last_error: Nullable(Type.String()),
      last_error_at: Nullable(Time),
    }),
  ),
  dkim: DkimView,
  /** Keys that were made here, and sign once their records are seen. */
  dkim_waiting: Type.Array(MadeKey),
  max_connections: Type.Integer(),
  max_per_second: Nullable(Type.Integer()),
  warmup: Nullable(
    Type.Object({ start_per_day: Type.Integer(), factor: Type.Number(), until_per_day: Type.Integer() }),
  ),
  /** What goes to one recipient domain at most, over all campaigns of this configuration and all nodes. */
  domain_limits: Type.Array(
    Type.Object({
      domain: Type.String(),
      max_per_minute: Type.Optional(Type.Integer()),
      max_connections: Type.Optional(Type.Integer()),
    }),
  ),
  is_default: Bool,
  /** False while the server takes no mail: then the reason, and until when it is left alone. */
  working: Bool,
  last_error: Nullable(Type.String()),
  last_error_at: Nullable(Time),
  backing_off_until: Nullable(Time),
  /** Of the last deliverability report: looked up once a day before a send, and whenever it is asked for. */
  checked_at: Nullable(Time),
  check_failures: Type.Array(Type.Object({ name: OneOf(...CHECK_NAMES), help: Type.String() })),
  created_at: Time,
});
export type SmtpConfig = Static<typeof SmtpConfig>;

const PerDay = (description: string) => Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description });
const Warmup = Type.Object({
  start_per_day: PerDay("Mails on the first day."),
  factor: Type.Number({ minimum: 1, maximum: 1_000, description: "Times what it was on the day before." }),
  until_per_day: PerDay("More than this it never becomes; `warmup: null` ends it."),
});

const optional = {
  use_tls: Type.Optional(Bool),
  tls_mode: Type.Optional(OneOf(...TLS_MODES)),
  sender_name: Type.Optional(Line(255)),
  reply_to_email: Type.Optional(Nullable(Email)),
  bounce_address: Type.Optional(Nullable(Email)),
  bounce_mailbox: Type.Optional(Nullable(BounceMailbox)),
  dkim: Type.Optional(GivenDkim),
  max_connections: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  max_per_second: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  warmup: Type.Optional(Nullable(Warmup)),
  domain_limits: Type.Optional(Nullable(Type.Array(DomainLimit, { maxItems: 100 }))),
  is_default: Type.Optional(Bool),
};

const required = {
  name: Name,
  host: Host,
  port: Port,
  username: Line(255),
  password: Text(1_024),
  sender_email: Email,
};

export const NewConfig = Type.Object({ ...required, ...optional });
export const ConfigPatch = Type.Object({ id: Uuid, ...Type.Partial(Type.Object(required)).properties, ...optional });
export type NewConfig = Static<typeof NewConfig>;
export type ConfigPatch = Static<typeof ConfigPatch>;

const Login = Type.Object({
  host: Host,
  port: Port,
  username: Line(255),
  password: Text(1_024),
  use_tls: Type.Optional(Bool),
  tls_mode: Type.Optional(OneOf(...TLS_MODES)),
  /** The sender that is tried; without it one of the SMTP host's domain. */
  sender_email: Type.Optional(Email),
});

export type TryServerParams = Static<typeof Login>;

const STAGES = ["dns", "connect", "tls", "auth", "ok"] as const;
const TryServerResult = Type.Object({
  valid: Bool,
  /** Where it failed; "ok" when it did not. */
  stage: OneOf(...STAGES),
  message: Type.String(),
  duration_ms: Type.Integer(),
});
export type TryServerResult = Static<typeof TryServerResult>;

const Value = Type.Union([
  Type.String(),
  Type.Array(Type.String()),
  Type.Record(Type.String(), Type.Unknown()),
  Type.Null(),
]);
export const DeliverabilityReport = Type.Object({
  checks: Type.Array(
    Type.Object({
      name: OneOf(...CHECK_NAMES),
      status: OneOf("pass", "warn", "fail", "unknown"),
      found: Value,
      expected: Value,
      help: Nullable(Type.String({ description: "What to do, where the check does not pass." })),
    }),
  ),
});

const SlowDomain = Type.Object({
  smtp_config_id: Uuid,
  domain: Type.String(),
  per_minute: Type.Integer(),
  says: Type.String(),
});
export type SlowDomain = Static<typeof SlowDomain>;

const example = {
  name: "Main relay",
  host: "smtp.example.com",
  port: 587,
  username: "apikey",
  password: "secret",
  use_tls: true,
  sender_name: "Acme",
  sender_email: "news@acme.example",
};

export const configs = {
  listConfigs: { summary: "List SMTP configurations", params: ListQuery, returns: Page(SmtpConfig) },
  createConfig: {
    summary: "Create an SMTP configuration",
    description:
      "Port 465 means TLS from the first byte; on any other port `use_tls` requires STARTTLS, and without it the connection stays plain. `username` and `password` may be empty for a relay without login. `bounce_mailbox` is read by IMAP: port 993 (the default) means TLS from the first byte, on any other port `use_tls` requires STARTTLS; mails that were read are moved from `folder` (INBOX) to `processed_folder` (Processed, made where it is missing), and none is deleted. `dkim` is a key, or two of which each signs: one RSA, one Ed25519; keys that are made here come by `POST …/dkim/`. Mail to `bounce_address`, with anything between a `+` and the @, must reach `INBOUND_PORT`, a mailbox that is read, or nobody reads what comes back. With `warmup` no more than so many mails (copies count) leave on a day of the company's time zone: `start_per_day` on the first, `factor` times as many on each day after one with mail, at most `until_per_day`. The others wait, and their campaigns say so in `error`; null lets them go. `domain_limits` are limits for recipient domains: `max_per_minute` mails in any 60 seconds (copies count), `max_connections` transactions at a time. What may not go yet waits and holds up nothing else; it notices a change within two minutes (half an hour where ten thousands wait).",
    params: NewConfig,
    returns: SmtpConfig,
    example,
  },
  getConfig: { summary: "Get an SMTP configuration", params: ById, returns: SmtpConfig },
  updateConfig: {
    summary: "Change an SMTP configuration",
    description:
      "Without `password` the stored one stays, and is asked for again where host, port or username change or TLS is switched off, of `bounce_mailbox` too. `dkim` is all keys that sign from then on: one as an object, or RSA and Ed25519 as an array; an entry without `private_key` is the key that has its domain and selector, or the only one that signs, which is renamed. Null removes all keys, also those that wait for their record.",
    params: ConfigPatch,
    returns: SmtpConfig,
    example: { sender_name: "Acme News", max_per_second: 20, warmup: null },
  },
  removeConfig: { summary: "Delete an SMTP configuration", params: ById, returns: Nothing },
  deliverability: {
    summary: "What receivers would find wrong with its mail",
    description:
      "SPF of the envelope's domain, each published DKIM key beside the one that signs, DMARC and alignment, MX, links and bounce address, with the records to publish. Looked up anew each time, within 5 seconds; `unknown` is what the DNS did not answer. At most 20 a minute.",
    params: ById,
    returns: DeliverabilityReport,
  },
  validateConfig: {
    summary: "Try the server of an SMTP configuration",
    description:
      "As `POST /api/emails/smtp/validate/` does, with the login and sender that are stored; the same 20 a minute.",
    params: ById,
    returns: TryServerResult,
  },
  listSlowDomains: {
    summary: "Recipient domains that get less mail for now",
    description:
      "Domains whose servers defer one mail after another with an equal text: how many a minute they get at the moment, and what they say. More is tried by itself, and none of their mails is lost.",
    params: Type.Object({}),
    returns: Type.Array(SlowDomain),
  },
  validate: {
    summary: "Try an SMTP server without saving anything",
    description:
      "Connects, negotiates TLS, logs in, and begins a mail from `sender_email` that it takes back, within 10 seconds. No mail is sent. At most 20 a minute.",
    params: Login,
    returns: TryServerResult,
    example: { host: "smtp.example.com", port: 587, username: "apikey", password: "secret", use_tls: true },
  },
} as const satisfies ServiceContract;
