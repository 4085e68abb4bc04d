/**
 * All configuration, in one schema: what each variable means, its default, and how it is checked.
 * The README's table is printed from it (`npm run -s config:table`), and a test holds the two together.
 */
interface Setting<T> {
  readonly about: string;
  /** As the README shows it; the effective default may depend on other variables (see `read`). */
  readonly shownDefault: string;
  readonly parse: (text: string) => T;
}

class Fault extends Error {}

const text = (about: string, shownDefault = ""): Setting<string> => ({ about, shownDefault, parse: (value) => value });

function integer(about: string, shownDefault: string, min: number, max: number): Setting<number> {
  const parse = (value: string) => {
    const n = Number(value);
    if (!Number.isInteger(n) || n < min || n > max) throw new Fault(`must be a whole number from ${min} to ${max}`);
    return n;
  };
  return { about, shownDefault, parse };
}

function url(about: string, shownDefault: string, protocols: readonly string[]): Setting<string> {
  const parse = (value: string) => {
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new Fault(`must be a URL that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`);
    }
    return value.replace(/\/+$/, "");
  };
  return { about, shownDefault, parse };
}

function boolean(about: string, shownDefault: string): Setting<boolean> {
  const parse = (value: string) => {
    if (/^(true|1|yes|on)$/i.test(value)) return true;
    if (/^(false|0|no|off)$/i.test(value)) return false;
    throw new Fault("must be true or false");
  };
  return { about, shownDefault, parse };
}

function secret(about: string, shownDefault: string): Setting<string> {
  const parse = (value: string) => {
    if (value.length < 16) throw new Fault("must have at least 16 characters");
    return value;
  };
  return { about, shownDefault, parse };
}

function choice<T extends string>(about: string, shownDefault: T, allowed: readonly T[]): Setting<T> {
  const parse = (value: string) => {
    if (!allowed.includes(value as T)) throw new Fault(`must be one of ${allowed.join(", ")}`);
    return value as T;
  };
  return { about, shownDefault, parse };
}

export const settings = {
  PORT: integer("Port of the REST API.", "3000", 0, 65535),
  BASE_URL: url("Public address of the API, used in links of mails and pages.", "http://localhost:$PORT", [
    "http:",
    "https:",
  ]),
  DATABASE_URL: url("PostgreSQL 15 to 18. Unset: an embedded PostgreSQL under DATA_DIR.", "", [
    "postgres:",
    "postgresql:",
  ]),
  DATABASE_POOL: integer("Connections a process keeps to PostgreSQL at most.", "20", 3, 500),
  DATA_DIR: text("Where the embedded database and the generated secret live.", "./data"),
  TRANSPORTER: url("NATS server that joins several processes. Unset: everything in one process.", "", [
    "nats:",
    "tls:",
  ]),
  REDIS_URL: url("Redis for limits and throttles, required with TRANSPORTER. Unset: counted in the process.", "", [
    "redis:",
    "rediss:",
  ]),
  SECRET_KEY: secret(
    "Signs links and tokens, encrypts stored passwords. Required with DATABASE_URL. Unset: made once and kept in DATA_DIR.",
    "",
  ),
  SECRET_KEY_OLD: secret("The previous SECRET_KEY while rotating: still accepted for reading.", ""),
  DEFAULT_PLAN: text("Plan of a new company.", "unlimited"),
  ALLOW_PRIVATE_NETWORKS: boolean(
    "Permit SMTP hosts and webhooks on private and loopback addresses, and plain http webhooks.",
    "true with the embedded database, else false",
  ),
  MAX_UPLOAD_BYTES: integer("Largest media file.", "10485760", 1, 1_073_741_824),
  SERVICE_NAME: text("Name in the X-Mailer header and on public pages.", "Flockmail"),
  HEALTH_PORT: integer("Port of /live, /ready and /metrics.", "3030", 0, 65535),
  TRUST_PROXY: integer("Number of proxies in front whose X-Forwarded-For is believed.", "0", 0, 32),
  MAX_IN_DOUBT: integer(
    "Recipients of one sender process that may be handed to SMTP without a stored answer.",
    "200",
    1,
    100_000,
  ),
  SEND_LEASE_SECONDS: integer(
    "A sender that died keeps its recipients this long before another takes them.",
    "30",
    2,
    3_600,
  ),
  RETRY_BASE_SECONDS: integer("First retry of a deferred mail; each later one waits twice as long.", "60", 1, 3_600),
  LIMIT_WINDOW_SECONDS: integer("Length of the rolling SMTP limit's window; only tests shorten it.", "3600", 2, 86_400),
  LOGLEVEL: choice("How much is logged; with the embedded database only warnings unless set.", "info", [
    "fatal",
    "error",
    "warn",
    "info",
    "debug",
    "trace",
  ]),
} as const;

type Settings = typeof settings;
type Parsed = { [K in keyof Settings]?: ReturnType<Settings[K]["parse"]> };

type Defaulted =
  | "PORT"
  | "BASE_URL"
  | "DATABASE_POOL"
  | "DATA_DIR"
  | "DEFAULT_PLAN"
  | "ALLOW_PRIVATE_NETWORKS"
  | "MAX_UPLOAD_BYTES"
  | "SERVICE_NAME"
  | "HEALTH_PORT"
  | "TRUST_PROXY"
  | "MAX_IN_DOUBT"
  | "SEND_LEASE_SECONDS"
  | "RETRY_BASE_SECONDS"
  | "LIMIT_WINDOW_SECONDS"
  | "LOGLEVEL";

export type Config = Omit<Parsed, Defaulted> & Required<Pick<Parsed, Defaulted>>;

/** Thrown at start; `faults` has one line for each variable that is wrong. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`Flockmail cannot start, its configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.name = "ConfigError";
    this.faults = faults;
  }
}

/**
 * Reads and checks the environment. Throws ConfigError that tells every fault at once. What only `console`s run on (an
 * operator's, without services) needs neither database nor Redis nor secret: the nodes it asks have them.
 */
export function readConfig(
  env: Record<string, string | undefined> = process.env,
  { console = false }: { console?: boolean } = {},
): Config {
  const faults: string[] = [];
  const given: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const value = env[name];
    if (value === undefined || value === "") continue;
    try {
      given[name] = setting.parse(value);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
    }
  }
  const set = given as Parsed;
  if (env.TRANSPORTER && !env.REDIS_URL && !console) {
    faults.push("REDIS_URL is required with TRANSPORTER: limits must be counted in one place for all processes");
  }
  if (env.TRANSPORTER && !env.DATABASE_URL && !console) {
    faults.push("DATABASE_URL is required with TRANSPORTER: the embedded database serves one process");
  }
  if (env.DATABASE_URL && !env.SECRET_KEY && !console) {
    faults.push("SECRET_KEY is required with DATABASE_URL: without it stored passwords cannot be read again");
  }
  if (faults.length > 0) throw new ConfigError(faults);

  const port = set.PORT ?? 3000;
  return {
    ...set,
    PORT: port,
    BASE_URL: set.BASE_URL ?? `http://localhost:${port}`,
    DATABASE_POOL: set.DATABASE_POOL ?? 20,
    DATA_DIR: set.DATA_DIR ?? "./data",
    DEFAULT_PLAN: set.DEFAULT_PLAN ?? "unlimited",
    ALLOW_PRIVATE_NETWORKS: set.ALLOW_PRIVATE_NETWORKS ?? !set.DATABASE_URL,
    MAX_UPLOAD_BYTES: set.MAX_UPLOAD_BYTES ?? 10 * 1024 * 1024,
    SERVICE_NAME: set.SERVICE_NAME ?? "Flockmail",
    HEALTH_PORT: set.HEALTH_PORT ?? 3030,
    TRUST_PROXY: set.TRUST_PROXY ?? 0,
    MAX_IN_DOUBT: set.MAX_IN_DOUBT ?? 200,
    SEND_LEASE_SECONDS: set.SEND_LEASE_SECONDS ?? 30,
    RETRY_BASE_SECONDS: set.RETRY_BASE_SECONDS ?? 60,
    LIMIT_WINDOW_SECONDS: set.LIMIT_WINDOW_SECONDS ?? 3600,
    LOGLEVEL: set.LOGLEVEL ?? (set.DATABASE_URL ? "info" : "warn"),
  };
}

let current: Config | undefined;

/** The process's configuration, read at first use and then fixed. */
export function config(): Config {
  current ??= readConfig();
  return current;
}

/** The README's table. */
export function configTable(): string {
  const rows = Object.entries(settings).map(
    ([name, { about, shownDefault }]) => `| \`${name}\` | ${shownDefault ? `\`${shownDefault}\`` : ""} | ${about} |`,
  );
  return ["| variable | default | meaning |", "|---|---|---|", ...rows].join("\n");
}
