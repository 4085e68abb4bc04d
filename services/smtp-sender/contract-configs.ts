/** API contracts of SMTP configurations and of the server test. */
import { CHECK_NAMES, TLS_MODES } from "../../models/smtp-config.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  CreatedAt,
  Described,
  Email,
  Id,
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

/** Has at least one of the two limits; a domain occurs once. */
const DomainLimit = Type.Object({
  domain: Described(Line(253), "A domain.", "example.org"),
  max_per_minute: Type.Optional(
    Described(
      Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      "Maximum mails in any 60 seconds; null: no limit.",
      100,
    ),
  ),
  max_connections: Type.Optional(
    Described(Nullable(Type.Integer({ minimum: 1, maximum: 1_000 })), "Maximum concurrent connections.", 10),
  ),
});

/**
 * `password` is write-only. In a PATCH omitted fields keep their values, and null resets a field to its default; a null
 * mailbox is removed.
 */
const BounceMailbox = Type.Object({
  host: Type.Optional(Described(Host, "Host of the server.", "smtp.relay.example")),
  port: Type.Optional(Described(Nullable(Port), "Port.", 587)),
  username: Type.Optional(Described(Line(255), "Login name; empty for no login.", "lantern")),
  password: Type.Optional(Described(Text(1_024), "Password for the login. Write-only.", "secret")),
  use_tls: Type.Optional(Described(Nullable(Bool), "Whether TLS is required.")),
  folder: Type.Optional(Described(Nullable(Folder), "Folder to read.", "INBOX")),
  processed_folder: Type.Optional(Described(Nullable(Folder), "Folder that read mails are moved to.", "Processed")),
});

export const SmtpConfig = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name.", "Readers"),
  host: Described(Type.String(), "Host of the server.", "smtp.relay.example"),
  port: Described(Type.Integer(), "Port.", 587),
  use_tls: Described(Bool, "Whether TLS is required."),
  tls_mode: Described(
    OneOf(...TLS_MODES),
    "`auto` depends on the port: 465 is `implicit`, others are `starttls` if `use_tls` is set.",
  ),
  sender_name: Described(Type.String(), "Sender name (From).", "Lantern Books"),
  sender_email: Described(Type.String(), "Sender address (From).", "news@lantern.example"),
  reply_to_email: Described(Nullable(Type.String()), "Reply-To address.", "hello@lantern.example"),
  /**
   * Bounce address: each email's envelope sender is this address with a token before the @. Null: `sender_email` is
   * used.
   */
  bounce_address: Described(
    Nullable(Type.String()),
    "Address for bounces; each mail's envelope sender is this address with a token.",
    "news@bounce.lantern.example",
  ),
  /** Bounces that arrive in a mailbox are read by IMAP; `last_error` says why they are not. */
  bounce_mailbox: Described(
    Nullable(
      Type.Object({
        host: Described(Type.String(), "Host of the server.", "smtp.relay.example"),
        port: Described(Type.Integer(), "Port.", 587),
        username: Described(Type.String(), "Login name; empty for no login.", "lantern"),
        use_tls: Described(Bool, "Whether TLS is required."),
        folder: Described(Type.String(), "Folder to read.", "INBOX"),
        processed_folder: Described(Type.String(), "Folder that read mails are moved to.", "Processed"),
        last_error: Described(Nullable(Type.String()), "Last error.", "535 5.7.8 Authentication failed"),
        last_error_at: Described(Nullable(Time), "Time of the last error."),
      }),
    ),
    "IMAP mailbox that receives bounces; null: none.",
  ),
  dkim: Described(DkimView, "Signing keys: one, or an array of two (RSA and Ed25519); null: mails are not signed."),
  /** Keys generated here, which sign once their DNS records are found. */
  dkim_waiting: Described(Type.Array(MadeKey), "Generated keys that wait for their DNS record."),
  max_connections: Described(Type.Integer(), "Maximum concurrent connections.", 10),
  max_per_second: Described(Nullable(Type.Integer()), "Maximum mails per second; null: no limit.", 20),
  warmup: Described(
    Nullable(
      Type.Object({
        start_per_day: Described(Type.Integer(), "Mails per day on the first day.", 200),
        factor: Described(Type.Number(), "Daily growth factor (1.5 means 50 % more each day).", 1.5),
        until_per_day: Described(Type.Integer(), "Maximum mails per day.", 20000),
      }),
    ),
    "Daily limits that build a new sender's reputation; null: no limit.",
  ),
  /** Limits per recipient domain, over all campaigns of this configuration and all nodes. */
  domain_limits: Described(
    Type.Array(
      Type.Object({
        domain: Described(Type.String(), "Recipient domain.", "example.com"),
        max_per_minute: Type.Optional(
          Described(Type.Integer(), "Maximum mails in any 60 seconds; null: no limit.", 100),
        ),
        max_connections: Type.Optional(Described(Type.Integer(), "Maximum concurrent connections.", 10)),
      }),
    ),
    "Limits for recipient domains.",
  ),
  is_default: Described(
    Bool,
    "True for the configuration that sends confirmation mails unless the company selects another.",
  ),
  /** False while the server accepts no mail; then the reason and the end of the pause are given. */
  working: Described(Bool, "False while the server accepts no mail."),
  last_error: Described(Nullable(Type.String()), "Last error.", "535 5.7.8 Authentication failed"),
  last_error_at: Described(Nullable(Time), "Time of the last error."),
  backing_off_until: Described(Nullable(Time), "Time of the next attempt."),
  /** Result of the last deliverability report, which runs daily before the first send and on request. */
  checked_at: Described(Nullable(Time), "Time of the last DNS check; null: not checked since the last change."),
  check_failures: Described(
    Type.Array(
      Type.Object({
        name: Described(OneOf(...CHECK_NAMES), "Name of the check."),
        help: Described(Type.String(), "How to fix it.", "_dmarc.lantern.example has no record: publish it as shown."),
      }),
    ),
    "Failed checks of the deliverability report.",
  ),
  created_at: CreatedAt,
});
export type SmtpConfig = Static<typeof SmtpConfig>;

const PerDay = (description: string, example: number) =>
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description, examples: [example] });
const Warmup = Type.Object({
  start_per_day: PerDay("Mails per day on the first day.", 200),
  factor: Type.Number({
    minimum: 1,
    maximum: 1_000,
    description: "Daily growth factor (1.5 means 50 % more each day).",
    examples: [1.5],
  }),
  until_per_day: PerDay("Maximum mails per day; `warmup: null` ends warm-up.", 20000),
});

const optional = {
  use_tls: Type.Optional(Described(Bool, "Whether TLS is required.")),
  tls_mode: Type.Optional(
    Described(
      OneOf(...TLS_MODES),
      "`auto` depends on the port: 465 is `implicit`, others are `starttls` if `use_tls` is set.",
    ),
  ),
  sender_name: Type.Optional(Described(Line(255), "Sender name (From).", "Lantern Books")),
  reply_to_email: Type.Optional(Described(Nullable(Email), "Reply-To address.", "hello@lantern.example")),
  bounce_address: Type.Optional(
    Described(
      Nullable(Email),
      "Address for bounces; each mail's envelope sender is this address with a token.",
      "news@bounce.lantern.example",
    ),
  ),
  bounce_mailbox: Type.Optional(Nullable(BounceMailbox)),
  dkim: Type.Optional(GivenDkim),
  max_connections: Type.Optional(
    Described(Type.Integer({ minimum: 1, maximum: 1_000 }), "Maximum concurrent connections.", 10),
  ),
  max_per_second: Type.Optional(
    Described(
      Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      "Maximum mails per second; null: no limit.",
      20,
    ),
  ),
  warmup: Type.Optional(Nullable(Warmup)),
  domain_limits: Type.Optional(Nullable(Type.Array(DomainLimit, { maxItems: 100 }))),
  is_default: Type.Optional(
    Described(Bool, "True for the configuration that sends confirmation mails unless the company selects another."),
  ),
};

const required = {
  name: Described(Name, "Name.", "Readers"),
  host: Described(Host, "Host of the server.", "smtp.relay.example"),
  port: Described(Port, "Port.", 587),
  username: Described(Line(255), "Login name; empty for no login.", "lantern"),
  password: Described(Text(1_024), "Login; empty for none. Write-only.", "secret"),
  sender_email: Described(Email, "Sender address (From).", "news@lantern.example"),
};

export const NewConfig = Type.Object({ ...required, ...optional });
export const ConfigPatch = Type.Object({ id: Id, ...Type.Partial(Type.Object(required)).properties, ...optional });
export type NewConfig = Static<typeof NewConfig>;
export type ConfigPatch = Static<typeof ConfigPatch>;

const Login = Type.Object({
  host: Described(Host, "Host of the server.", "smtp.relay.example"),
  port: Described(Port, "Port.", 587),
  username: Described(Line(255), "Login name; empty for no login.", "lantern"),
  password: Described(Text(1_024), "Login name; empty for no login.", "secret"),
  use_tls: Type.Optional(Described(Bool, "Whether TLS is required.")),
  tls_mode: Type.Optional(
    Described(
      OneOf(...TLS_MODES),
      "`auto` depends on the port: 465 is `implicit`, others are `starttls` if `use_tls` is set.",
    ),
  ),
  /** Sender address to test; default: one at the SMTP host's domain. */
  sender_email: Type.Optional(Described(Email, "Sender address (From).", "news@lantern.example")),
});

export type TryServerParams = Static<typeof Login>;

const STAGES = ["dns", "connect", "tls", "auth", "ok"] as const;
const TryServerResult = Type.Object({
  valid: Described(Bool, "Whether the configuration can send."),
  /** The stage that failed, or "ok". */
  stage: Described(OneOf(...STAGES), "Failed stage; `ok` if none."),
  message: Described(Type.String(), "Reply of the server, or the network error.", "250 2.0.0 OK"),
  duration_ms: Described(Type.Integer(), "Duration in milliseconds.", 180),
});
export type TryServerResult = Static<typeof TryServerResult>;

const Value = Type.Union([
  Type.String(),
  Type.Array(Type.String()),
  Type.Record(Type.String(), Type.Unknown()),
  Type.Null(),
]);
const DeliverabilityReport = Type.Object({
  checks: Described(
    Type.Array(
      Type.Object({
        name: Described(OneOf(...CHECK_NAMES), "Name of the check."),
        status: Described(OneOf("pass", "warn", "fail", "unknown"), "Result of the check."),
        found: Described(Value, "Published value.", "v=spf1 -all"),
        expected: Described(Value, "Value to publish.", "v=spf1 include:spf.relay.example -all"),
        help: Nullable(
          Type.String({
            description: "What to do if the check does not pass.",
            examples: ["Publish the record that `expected` shows."],
          }),
        ),
      }),
    ),
    "One entry per check.",
  ),
});

const SlowDomain = Type.Object({
  smtp_config_id: Described(Uuid, "SMTP configuration to send with."),
  domain: Described(Type.String(), "A domain.", "example.org"),
  per_minute: Described(Type.Integer(), "Current rate in mails per minute.", 30),
  says: Described(
    Type.String(),
    "Reply of its server.",
    "451 4.7.650 The mail server has been temporarily rate limited",
  ),
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
      "Port 465 uses implicit TLS; on any other port `use_tls` requires STARTTLS, and without it the connection is not encrypted. Leave `username` and `password` empty for a server that offers no login. `bounce_mailbox` is read by IMAP: port 993 (the default) uses implicit TLS, on any other port `use_tls` requires STARTTLS. Read mails are moved from `folder` (INBOX) to `processed_folder` (Processed, created if missing); none is deleted. `dkim` is one key, or two (RSA and Ed25519) that both sign; `POST …/dkim/` generates keys. Mail to `bounce_address`, with anything between a `+` and the @, must reach `INBOUND_PORT` or a mailbox that is read; otherwise bounces are not processed. `warmup` limits the mails (copies included) per day of the company's time zone: `start_per_day` on the first day, `factor` times as many on each following day with mail, at most `until_per_day`. Further mails wait, and the `error` of their campaigns says so; null ends warm-up. `domain_limits` limit recipient domains: `max_per_minute` mails in any 60 seconds (copies included), `max_connections` concurrent transactions. Mails over a limit wait without delaying others; a change takes effect within two minutes (half an hour when tens of thousands wait).",
    params: NewConfig,
    returns: SmtpConfig,
    example,
  },
  getConfig: { summary: "Get an SMTP configuration", params: ById, returns: SmtpConfig },
  updateConfig: {
    summary: "Change an SMTP configuration",
    description:
      "Without `password` the stored one is kept. It is required again when host, port or username change or TLS is switched off, also for `bounce_mailbox`. `dkim` replaces all signing keys: one as an object, or RSA and Ed25519 as an array. An entry without `private_key` means the stored key with its domain and selector, or the only signing key, which is renamed. Null removes all keys, including those that wait for their DNS record.",
    params: ConfigPatch,
    returns: SmtpConfig,
    example: { sender_name: "Acme News", max_per_second: 20, warmup: null },
  },
  removeConfig: { summary: "Delete an SMTP configuration", params: ById, returns: Nothing },
  deliverability: {
    summary: "Get the deliverability report",
    description:
      "Checks SPF of the envelope domain, each published DKIM key against the signing key, DMARC and alignment, MX, links and bounce address, and returns the records to publish. DNS is queried each time, within 5 seconds; `unknown` means that DNS did not answer. At most 20 a minute.",
    params: ById,
    returns: DeliverabilityReport,
  },
  validateConfig: {
    summary: "Test an SMTP configuration",
    description:
      "Like `POST /api/emails/smtp/validate/`, with the stored login and sender; shares its limit of 20 a minute.",
    params: ById,
    returns: TryServerResult,
  },
  listSlowDomains: {
    summary: "List throttled recipient domains",
    description:
      "Domains whose servers keep deferring mail with the same reply: their current rate per minute, and the reply. The rate rises again automatically, and no mail is lost.",
    params: Type.Object({}),
    returns: Type.Array(SlowDomain),
  },
  validate: {
    summary: "Validate SMTP settings",
    description:
      "Connects, negotiates TLS, logs in, starts a mail from `sender_email` and cancels it, within 10 seconds. No mail is sent. At most 20 a minute.",
    params: Login,
    returns: TryServerResult,
    example: { host: "smtp.example.com", port: 587, username: "apikey", password: "secret", use_tls: true },
  },
} as const satisfies ServiceContract;
