/** SMTP configurations and the test of a server, as clients see them. */
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

/** At least one of the two limits; a domain stands in it once. */
const DomainLimit = Type.Object({
  domain: Described(Line(253), "A domain.", "example.org"),
  max_per_minute: Type.Optional(
    Described(
      Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      "Mails in any 60 seconds, at most; null: no limit.",
      100,
    ),
  ),
  max_connections: Type.Optional(
    Described(Nullable(Type.Integer({ minimum: 1, maximum: 1_000 })), "Connections at a time, at most.", 10),
  ),
});

/** `password` is write-only. In a PATCH what is left out stays, and null resets what has a default; a null mailbox is removed. */
const BounceMailbox = Type.Object({
  host: Type.Optional(Described(Host, "Host of the server.", "smtp.relay.example")),
  port: Type.Optional(Described(Nullable(Port), "Port.", 587)),
  username: Type.Optional(Described(Line(255), "For the login; empty: none.", "lantern")),
  password: Type.Optional(Described(Text(1_024), "For the login. Write-only.", "secret")),
  use_tls: Type.Optional(Described(Nullable(Bool), "TLS is required.")),
  folder: Type.Optional(Described(Nullable(Folder), "The folder that is read.", "INBOX")),
  processed_folder: Type.Optional(Described(Nullable(Folder), "Where mails go that were read.", "Processed")),
});

export const SmtpConfig = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name.", "Readers"),
  host: Described(Type.String(), "Host of the server.", "smtp.relay.example"),
  port: Described(Type.Integer(), "Port.", 587),
  use_tls: Described(Bool, "TLS is required."),
  tls_mode: Described(
    OneOf(...TLS_MODES),
    "`auto` goes by the port: 465 is `implicit`, others `starttls` where `use_tls` is set.",
  ),
  sender_name: Described(Type.String(), "Name in From.", "Lantern Books"),
  sender_email: Described(Type.String(), "Address in From.", "news@lantern.example"),
  reply_to_email: Described(Nullable(Type.String()), "Address for replies.", "hello@lantern.example"),
  /** Where bounces go: each mail's envelope sender is this with a token before the @. Null: it is `sender_email`. */
  bounce_address: Described(
    Nullable(Type.String()),
    "Where bounces go; each mail's envelope sender is this with a token.",
    "news@bounce.lantern.example",
  ),
  /** Bounces that arrive in a mailbox are read by IMAP; `last_error` says why they are not. */
  bounce_mailbox: Described(
    Nullable(
      Type.Object({
        host: Described(Type.String(), "Host of the server.", "smtp.relay.example"),
        port: Described(Type.Integer(), "Port.", 587),
        username: Described(Type.String(), "For the login; empty: none.", "lantern"),
        use_tls: Described(Bool, "TLS is required."),
        folder: Described(Type.String(), "The folder that is read.", "INBOX"),
        processed_folder: Described(Type.String(), "Where mails go that were read.", "Processed"),
        last_error: Described(Nullable(Type.String()), "Last error.", "535 5.7.8 Authentication failed"),
        last_error_at: Described(Nullable(Time), "Time of the last error."),
      }),
    ),
    "A mailbox that bounces arrive in, read by IMAP; null: none.",
  ),
  dkim: Described(DkimView, "The keys that sign: one, or an array of two (RSA and Ed25519); null: nothing is signed."),
  /** Keys that were made here, and sign once their records are seen. */
  dkim_waiting: Described(Type.Array(MadeKey), "Keys that were made here and wait for their record to be seen."),
  max_connections: Described(Type.Integer(), "Connections at a time, at most.", 10),
  max_per_second: Described(Nullable(Type.Integer()), "Mails a second, at most; null: no limit.", 20),
  warmup: Described(
    Nullable(
      Type.Object({
        start_per_day: Described(Type.Integer(), "Mails on the first day.", 200),
        factor: Described(Type.Number(), "Times what it was on the day before.", 1.5),
        until_per_day: Described(Type.Integer(), "Never more than this.", 20000),
      }),
    ),
    "Daily limits while the reputation of a new sender builds up; null: no limit.",
  ),
  /** What goes to one recipient domain at most, over all campaigns of this configuration and all nodes. */
  domain_limits: Described(
    Type.Array(
      Type.Object({
        domain: Described(Type.String(), "The recipients' domain.", "example.com"),
        max_per_minute: Type.Optional(
          Described(Type.Integer(), "Mails in any 60 seconds, at most; null: no limit.", 100),
        ),
        max_connections: Type.Optional(Described(Type.Integer(), "Connections at a time, at most.", 10)),
      }),
    ),
    "Limits for recipient domains.",
  ),
  is_default: Described(Bool, "Confirmations leave by it where the company names no other."),
  /** False while the server takes no mail: then the reason, and until when it is left alone. */
  working: Described(Bool, "False while the server takes no mail."),
  last_error: Described(Nullable(Type.String()), "Last error.", "535 5.7.8 Authentication failed"),
  last_error_at: Described(Nullable(Time), "Time of the last error."),
  backing_off_until: Described(Nullable(Time), "Time of the next attempt with this server."),
  /** Of the last deliverability report: looked up once a day before a send, and whenever it is asked for. */
  checked_at: Described(
    Nullable(Time),
    "When the DNS was last asked what receivers would find wrong; null: not since the last change.",
  ),
  check_failures: Described(
    Type.Array(
      Type.Object({
        name: Described(OneOf(...CHECK_NAMES), "Name of the check."),
        help: Described(Type.String(), "How to fix it.", "_dmarc.lantern.example has no record: publish it as shown."),
      }),
    ),
    "What failed then: the `fail`s of the deliverability report.",
  ),
  created_at: CreatedAt,
});
export type SmtpConfig = Static<typeof SmtpConfig>;

const PerDay = (description: string, example: number) =>
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description, examples: [example] });
const Warmup = Type.Object({
  start_per_day: PerDay("Mails on the first day.", 200),
  factor: Type.Number({
    minimum: 1,
    maximum: 1_000,
    description: "Times what it was on the day before.",
    examples: [1.5],
  }),
  until_per_day: PerDay("More than this it never becomes; `warmup: null` ends it.", 20000),
});

const optional = {
  use_tls: Type.Optional(Described(Bool, "TLS is required.")),
  tls_mode: Type.Optional(
    Described(
      OneOf(...TLS_MODES),
      "`auto` goes by the port: 465 is `implicit`, others `starttls` where `use_tls` is set.",
    ),
  ),
  sender_name: Type.Optional(Described(Line(255), "Name in From.", "Lantern Books")),
  reply_to_email: Type.Optional(Described(Nullable(Email), "Address for replies.", "hello@lantern.example")),
  bounce_address: Type.Optional(
    Described(
      Nullable(Email),
      "Where bounces go; each mail's envelope sender is this with a token.",
      "news@bounce.lantern.example",
    ),
  ),
  bounce_mailbox: Type.Optional(Nullable(BounceMailbox)),
  dkim: Type.Optional(GivenDkim),
  max_connections: Type.Optional(
    Described(Type.Integer({ minimum: 1, maximum: 1_000 }), "Connections at a time, at most.", 10),
  ),
  max_per_second: Type.Optional(
    Described(
      Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      "Mails a second, at most; null: no limit.",
      20,
    ),
  ),
  warmup: Type.Optional(Nullable(Warmup)),
  domain_limits: Type.Optional(Nullable(Type.Array(DomainLimit, { maxItems: 100 }))),
  is_default: Type.Optional(Described(Bool, "Confirmations leave by it where the company names no other.")),
};

const required = {
  name: Described(Name, "Name.", "Readers"),
  host: Described(Host, "Host of the server.", "smtp.relay.example"),
  port: Described(Port, "Port.", 587),
  username: Described(Line(255), "For the login; empty: none.", "lantern"),
  password: Described(Text(1_024), "For the login; empty: none. Write-only.", "secret"),
  sender_email: Described(Email, "Address in From.", "news@lantern.example"),
};

export const NewConfig = Type.Object({ ...required, ...optional });
export const ConfigPatch = Type.Object({ id: Id, ...Type.Partial(Type.Object(required)).properties, ...optional });
export type NewConfig = Static<typeof NewConfig>;
export type ConfigPatch = Static<typeof ConfigPatch>;

const Login = Type.Object({
  host: Described(Host, "Host of the server.", "smtp.relay.example"),
  port: Described(Port, "Port.", 587),
  username: Described(Line(255), "For the login; empty: none.", "lantern"),
  password: Described(Text(1_024), "For the login; empty: none.", "secret"),
  use_tls: Type.Optional(Described(Bool, "TLS is required.")),
  tls_mode: Type.Optional(
    Described(
      OneOf(...TLS_MODES),
      "`auto` goes by the port: 465 is `implicit`, others `starttls` where `use_tls` is set.",
    ),
  ),
  /** The sender that is tried; without it one of the SMTP host's domain. */
  sender_email: Type.Optional(Described(Email, "Address in From.", "news@lantern.example")),
});

export type TryServerParams = Static<typeof Login>;

const STAGES = ["dns", "connect", "tls", "auth", "ok"] as const;
const TryServerResult = Type.Object({
  valid: Described(Bool, "Whether the configuration can send."),
  /** Where it failed; "ok" when it did not. */
  stage: Described(OneOf(...STAGES), "Stage that failed; `ok` if none did."),
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
        status: Described(OneOf("pass", "warn", "fail", "unknown"), "Whether receivers accept it."),
        found: Described(Value, "Published value.", "v=spf1 -all"),
        expected: Described(Value, "Value to publish.", "v=spf1 include:spf.relay.example -all"),
        help: Nullable(
          Type.String({
            description: "What to do, where the check does not pass.",
            examples: ["Publish the record that `expected` shows."],
          }),
        ),
      }),
    ),
    "One for each thing that receivers look at.",
  ),
});

const SlowDomain = Type.Object({
  smtp_config_id: Described(Uuid, "The SMTP configuration that it leaves by."),
  domain: Described(Type.String(), "A domain.", "example.org"),
  per_minute: Described(Type.Integer(), "Mails a minute that it gets at the moment.", 30),
  says: Described(
    Type.String(),
    "What its server says.",
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
