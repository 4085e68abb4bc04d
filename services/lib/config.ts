/**
 * Defines all configuration in one schema: meaning, limits and default of each variable. The table in
 * docs/configuration.md is printed from it (`npm run config:table`), and a test compares the two.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Ajv } from "ajv";
import { parseNatsServers } from "./nats.ts";
import { isPostgresUrl, sessionAttributesError } from "./processes/postgres-hosts.ts";
import { parseRedisUrl } from "./redis-url.ts";
import { parseAllowedHosts } from "./ssrf/allowed-hosts.ts";
import { isLoopbackOnly } from "./ssrf/local-host.ts";
import { parseOtlpHeaders } from "./tracing/otlp-headers.ts";

/** Variables that other defaults depend on: each precedes its dependents. */
interface DerivedFrom {
  PORT: number;
  HOST: string;
  BASE_URL: string;
  DATABASE_URL?: string;
}

/** A default that depends on other variables: as docs/configuration.md shows it, and how it is found. */
interface DerivedDefault {
  text: string;
  of: (config: DerivedFrom) => string | number | boolean;
}

interface Setting {
  description: string;
  default?: string | number;
  derivedDefault?: DerivedDefault;
}

const text = (setting: Setting) => Type.String(setting);
const integer = (minimum: number, maximum: number, setting: Setting) => Type.Integer({ minimum, maximum, ...setting });
const optionalInteger = (minimum: number, maximum: number, setting: Setting) =>
  Type.Optional(integer(minimum, maximum, setting));
const number = (minimum: number, maximum: number, setting: Setting) => Type.Number({ minimum, maximum, ...setting });
const boolean = (setting: Setting) => Type.Boolean(setting);
const url = (protocols: string[], setting: Setting) => Type.String({ protocols, ...setting });
const secret = (setting: Setting) => Type.Optional(Type.String({ minLength: 16, ...setting }));
const choice = <const T extends string>(values: readonly T[], setting: Setting) =>
  Type.Unsafe<T>({ type: "string", enum: values, ...setting });

export const configSchema = Type.Object({
  PORT: integer(0, 65_535, { default: 3000, description: "Port of the REST API." }),
  HOST: text({
    derivedDefault: {
      text: "127.0.0.1 with the embedded database, else 0.0.0.0",
      of: ({ DATABASE_URL }) => (DATABASE_URL ? "0.0.0.0" : "127.0.0.1"),
    },
    description: "Address that the API and the health port listen on; `::` for all, IPv6 too.",
  }),
  BASE_URL: url(["http:", "https:"], {
    derivedDefault: { text: "http://localhost:$PORT", of: ({ PORT }) => `http://localhost:${PORT}` },
    description: "Public address of the service, used in links of mails and pages.",
  }),
  REGISTRATION: choice(["open", "invite"], {
    derivedDefault: {
      text: "open where BASE_URL and HOST are both loopback addresses, else invite",
      of: ({ BASE_URL, HOST }) =>
        isLoopbackOnly(new URL(BASE_URL).hostname) && isLoopbackOnly(HOST) ? "open" : "invite",
    },
    description: "Whether anybody may register a company (`open`) or people join by invitation only (`invite`).",
  }),
  SYSTEM_SMTP_URL: Type.Optional(
    url(["smtp:", "smtps:"], {
      description:
        "Mail server for the service's own mail (invitations, password resets, notices): `smtp[s]://user:password@host:port`, percent-encoded. Unset: no such mail, and invitations return their link instead.",
    }),
  ),
  SYSTEM_FROM: text({
    derivedDefault: {
      text: "no-reply@ and the host of BASE_URL",
      of: ({ BASE_URL }) => `no-reply@${new URL(BASE_URL).hostname}`,
    },
    description: "Sender of the service's own mail: an address, or `Name <address>`.",
  }),
  DATABASE_URL: Type.Optional(
    Type.String({
      postgresUrl: true,
      description:
        "PostgreSQL 15 to 18. Several hosts as for libpq (`postgres://one,two/db`): the one that accepts writes is used. The extensions pg_trgm and btree_gin, which belong to PostgreSQL's contrib modules, are created in it. Unset: an embedded PostgreSQL in DATA_DIR.",
    }),
  ),
  DATABASE_POOL: integer(3, 500, {
    default: 20,
    description: "Maximum connections of a process to PostgreSQL, plus one for `/ready`.",
  }),
  MIGRATIONS: choice(["apply", "wait"], {
    default: "apply",
    description:
      "Whether a starting process applies migrations or waits until another one has applied them. With the embedded database it always applies them.",
  }),
  MIGRATION_DATABASE_URL: Type.Optional(
    Type.String({
      postgresUrl: true,
      description:
        "The same database with the role that owns the tables, for migrations only. The role of DATABASE_URL then needs no right to create, change or drop tables (`models/database-roles.sql`). Unset: DATABASE_URL.",
    }),
  ),
  DATA_DIR: text({
    default: "./data",
    description: "Folder of the embedded database and the generated secret.",
  }),
  TRANSPORTER: Type.Optional(
    Type.String({
      natsServers: true,
      description:
        "NATS servers that connect several processes, comma separated: nats:// or tls://, with user and password or a token, percent-encoded. Unset: everything in one process.",
    }),
  ),
  NATS_CA: Type.Optional(
    text({
      description:
        "PEM file of the authority that signed the NATS servers' certificates, if the system does not trust it.",
    }),
  ),
  NATS_CREDENTIALS_FILE: Type.Optional(
    text({ description: "File with a JWT and its seed (`.creds`), if the NATS servers require one." }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({
      redisUrl: true,
      description:
        "Redis or Valkey for limits and throttles, required with TRANSPORTER: `redis://`, `rediss://` (TLS), or `redis+sentinel://user:password@host:26379,host:26379/group/0`. Unset: each process counts by itself.",
    }),
  ),
  REDIS_CA: Type.Optional(
    text({
      description: "PEM file of the authority that signed the Redis certificate, if the system does not trust it.",
    }),
  ),
  SECRET_KEY: secret({
    description:
      "Signs links and tokens; encrypts stored passwords, DKIM keys and webhook secrets. Required with DATABASE_URL. Unset: generated once and kept in DATA_DIR.",
  }),
  SECRET_KEY_OLD: secret({
    description:
      "Second key that is accepted for reading while SECRET_KEY is changed: first the new one, then the previous one.",
  }),
  DEFAULT_PLAN: text({ default: "unlimited", description: "Plan of a new company." }),
  ALLOW_PRIVATE_NETWORKS: boolean({
    derivedDefault: {
      text: "true with the embedded database, else false",
      of: ({ DATABASE_URL }) => !DATABASE_URL,
    },
    description:
      "Allow SMTP and IMAP hosts, webhooks and checked links on private and loopback addresses, and http webhooks.",
  }),
  ALLOWED_PRIVATE_HOSTS: Type.Optional(
    Type.String({
      hostList: true,
      description:
        "Private hosts that SMTP, IMAP, webhooks and link checks may use while ALLOW_PRIVATE_NETWORKS is off: names, addresses and networks such as 10.1.0.0/16, comma separated.",
    }),
  ),
  DNS_SERVERS: Type.Optional(
    Type.String({
      pattern: "^\\s*[^\\s,]+(\\s*,\\s*[^\\s,]+)*\\s*$",
      description:
        "Name servers for the deliverability report, DKIM records and tracking domains: `host[:port]`, comma separated. Unset: the system's.",
    }),
  ),
  SPAM_CHECK_URL: Type.Optional(
    url(["http:", "https:"], {
      description:
        "HTTP address of an rspamd worker (`http://rspamd:11333`) that scores templates on request; it may be private. Unset: no score.",
    }),
  ),
  MAX_UPLOAD_BYTES: integer(1, 1_073_741_824, {
    default: 10 * 1024 * 1024,
    description: "Maximum size of a media file.",
  }),
  AUDIT_LOG_DAYS: integer(30, 36_500, {
    default: 730,
    description:
      "Days that audit log entries are kept. Entries contain names and addresses, so do not keep them forever.",
  }),
  SERVICE_NAME: text({ default: "Flockmail", description: "Name in the X-Mailer header and on public pages." }),
  INBOUND_PORT: Type.Optional(
    integer(0, 65_535, {
      description:
        "Port on HOST that receives bounces and complaints by SMTP, for the bounce addresses of mail servers. Unset: off.",
    }),
  ),
  INBOUND_TLS_CERT: Type.Optional(
    text({
      description: "Certificate (PEM file) for STARTTLS on INBOUND_PORT. A changed file is loaded automatically.",
    }),
  ),
  INBOUND_TLS_KEY: Type.Optional(text({ description: "Private key of INBOUND_TLS_CERT (PEM file)." })),
  HEALTH_PORT: integer(0, 65_535, { default: 3030, description: "Port of /live, /ready and /metrics." }),
  TRUST_PROXY: integer(0, 32, {
    default: 0,
    description: "Number of proxies in front whose X-Forwarded-For is trusted.",
  }),
  DRAIN_SECONDS: integer(0, 3_600, {
    derivedDefault: { text: "40, 3 with the embedded database", of: ({ DATABASE_URL }) => (DATABASE_URL ? 40 : 3) },
    description: "Maximum seconds that a stop waits for work in progress: replies of mail servers, requests, uploads.",
  }),
  MAX_IN_DOUBT: integer(1, 100_000, {
    default: 200,
    description: "Maximum recipients of a sender process that are handed to SMTP without a stored result.",
  }),
  SEND_LEASE_SECONDS: integer(2, 3_600, {
    default: 30,
    description: "Lease of a sender on its recipients: if the sender dies, others take them over when the lease ends.",
  }),
  RETRY_BASE_SECONDS: integer(1, 3_600, {
    default: 60,
    description: "Seconds before the first retry of a deferred mail; the delay doubles with each retry.",
  }),
  LIMIT_WINDOW_SECONDS: integer(2, 86_400, {
    default: 3_600,
    description: "Seconds of the rolling hourly limit's window; only tests shorten it.",
  }),
  EVENTS_RETENTION_DAYS: optionalInteger(1, 36_500, {
    description: "Days that events are kept, unless a company sets its own. Unset: forever.",
  }),
  SENT_EMAILS_RETENTION_DAYS: optionalInteger(60, 36_500, {
    description:
      "Days that recipients are kept after their campaign ended, unless a company sets its own. Links in their mails stop working then. Unset: forever.",
  }),
  LOGLEVEL: choice(["fatal", "error", "warn", "info", "debug", "trace"], {
    derivedDefault: { text: "info", of: ({ DATABASE_URL }) => (DATABASE_URL ? "info" : "warn") },
    description: "Log level. Unset with the embedded database: warnings only.",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    url(["http:", "https:"], {
      description:
        "OpenTelemetry collector for traces by OTLP over HTTP (JSON), such as `http://collector:4318`; they are posted to its `/v1/traces`. Unset: no traces.",
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      otlpHeaders: true,
      description: "Headers for the collector, such as an API key: `name=value,name=value`, values percent-encoded.",
    }),
  ),
  OTEL_TRACES_SAMPLER_ARG: number(0, 1, {
    default: 0.01,
    description:
      "Share of requests, mails and webhooks that are traced. Up to ten requests per second with a sampled `traceparent` are traced in addition. With 0 nothing is traced.",
  }),
  OTEL_SERVICE_NAME: text({ default: "flockmail", description: "Name of this service in traces." }),
});

export type Config = Static<typeof configSchema>;

const properties = Object.entries(configSchema.properties as Record<string, TSchema & Setting>);

/** Thrown at start; `errors` has one line for each variable that is wrong. */
export class ConfigError extends Error {
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    super(`Flockmail cannot start, its configuration is wrong:\n${errors.map((error) => `  ${error}`).join("\n")}`);
    this.name = "ConfigError";
    this.errors = errors;
  }
}

const ajv = new Ajv({ allErrors: true, useDefaults: true });
ajv.addVocabulary(["derivedDefault"]);
ajv.addKeyword({
  keyword: "protocols",
  schemaType: "array",
  validate: (protocols: string[], value: string) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
});
ajv.addKeyword({
  keyword: "redisUrl",
  schemaType: "boolean",
  validate: (_wanted: boolean, value: string) => parseRedisUrl(value) !== undefined,
});
ajv.addKeyword({
  keyword: "postgresUrl",
  schemaType: "boolean",
  validate: (_wanted: boolean, value: string) => isPostgresUrl(value),
});
ajv.addKeyword({
  keyword: "hostList",
  schemaType: "boolean",
  validate: (_wanted: boolean, value: string) => parseAllowedHosts(value) !== null,
});
ajv.addKeyword({
  keyword: "otlpHeaders",
  schemaType: "boolean",
  validate: (_wanted: boolean, value: string) => parseOtlpHeaders(value) !== null,
});
ajv.addKeyword({
  keyword: "natsServers",
  schemaType: "boolean",
  validate: (_wanted: boolean, value: string) => parseNatsServers(value) !== null,
});
// Unset variables have a default, possibly a derived one.
const validate = ajv.compile(Type.Partial(configSchema));

/** The requirement of a variable, as the end of a sentence that begins with its name. */
function requirement({
  type,
  minimum,
  maximum,
  minLength,
  protocols,
  hostList,
  natsServers,
  otlpHeaders,
  redisUrl,
  postgresUrl,
  enum: values,
}: TSchema): string {
  if (type === "integer") return `must be a whole number from ${minimum} to ${maximum}`;
  if (type === "number") return `must be a number from ${minimum} to ${maximum}`;
  if (type === "boolean") return "must be true or false";
  if (protocols) return `must be a URL that begins with ${protocols.map((p: string) => `${p}//`).join(" or ")}`;
  if (redisUrl) {
    return "must be a URL that begins with redis:// or rediss://, or with redis+sentinel:// or rediss+sentinel:// and names a group";
  }
  if (postgresUrl) return "must be a URL that begins with postgres:// or postgresql://";
  if (values) return `must be one of ${values.join(", ")}`;
  if (hostList) return "must list host names, addresses and networks (10.1.0.0/16), comma separated";
  if (natsServers) {
    return "must list URLs that begin with nats:// or tls://, comma separated, all with the same user, password or token, percent-encoded";
  }
  if (otlpHeaders) return "must list name=value, comma separated, values percent-encoded";
  return `must have at least ${minLength} characters`;
}

const TRUE = /^(true|1|yes|on)$/i;
const FALSE = /^(false|0|no|off)$/i;

/** Converts the value to the type of its schema; a text that does not fit stays and is refused. */
function parsed({ type, protocols, postgresUrl }: TSchema, value: string): unknown {
  if (type === "integer" || type === "number") return Number(value);
  if (type === "boolean" && (TRUE.test(value) || FALSE.test(value))) return TRUE.test(value);
  return protocols || postgresUrl ? value.replace(/\/+$/, "") : value;
}

/**
 * Reads and validates the environment. Throws ConfigError with all errors at once. A `console` (an operator's, without
 * services) needs neither database nor Redis nor secret, because the nodes it calls have them.
 */
export function readConfig(
  env: Record<string, string | undefined> = process.env,
  { console = false }: { console?: boolean } = {},
): Config {
  const given: Record<string, unknown> = {};
  for (const [name, schema] of properties) if (env[name]) given[name] = parsed(schema, env[name]);
  const errors: string[] = [];
  if (!validate(given)) {
    const invalid = new Set(validate.errors!.map(({ instancePath }) => instancePath.slice(1)));
    for (const [name, schema] of properties) if (invalid.has(name)) errors.push(`${name} ${requirement(schema)}`);
  }
  if (env.TRANSPORTER && !env.REDIS_URL && !console) {
    errors.push("REDIS_URL is required with TRANSPORTER: limits must be counted in one place for all processes");
  }
  if (env.TRANSPORTER && !env.DATABASE_URL && !console) {
    errors.push("DATABASE_URL is required with TRANSPORTER: the embedded database serves one process");
  }
  if (env.DATABASE_URL && !env.SECRET_KEY && !console) {
    errors.push("SECRET_KEY is required with DATABASE_URL: without it stored passwords cannot be read again");
  }
  if (Boolean(env.INBOUND_TLS_CERT) !== Boolean(env.INBOUND_TLS_KEY)) {
    errors.push("INBOUND_TLS_CERT and INBOUND_TLS_KEY are needed together");
  }
  const collector = String(given.OTEL_EXPORTER_OTLP_ENDPOINT ?? "");
  if (/^\w+:\/\/[^/]*@|\?/.test(collector)) {
    errors.push("OTEL_EXPORTER_OTLP_ENDPOINT: what the collector is to know goes into OTEL_EXPORTER_OTLP_HEADERS");
  }
  if (env.MIGRATION_DATABASE_URL && !env.DATABASE_URL && !console) {
    errors.push("DATABASE_URL is required with MIGRATION_DATABASE_URL: the embedded database has one role");
  }
  for (const name of errors.length > 0 ? [] : ["DATABASE_URL", "MIGRATION_DATABASE_URL"]) {
    const attributes = given[name] && sessionAttributesError(String(given[name]));
    if (attributes) errors.push(`${name}: ${attributes}`);
  }
  if (errors.length > 0) throw new ConfigError(errors);
  for (const [name, { derivedDefault }] of properties) {
    if (derivedDefault) given[name] ??= derivedDefault.of(given as Config);
  }
  return given as Config;
}

let current: Config | undefined;

/** The process's configuration, read at first use and then fixed. */
export function config(): Config {
  current ??= readConfig();
  return current;
}
