import { ConfigError, readConfig } from "../../services/lib/config.ts";
import { parseNatsServers } from "../../services/lib/nats.ts";

const SECRET_KEY = "0123456789abcdef";

function errorsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).errors;
  }
}

const NATS_LINE =
  "TRANSPORTER must list URLs that begin with nats:// or tls://, comma separated, all with the same user, password or token, percent-encoded";

/** Errors about the variable itself; some variables need others. */
const linesOf = (name: string, errors: readonly string[]) => errors.filter((error) => error.startsWith(`${name} `));

describe("the configuration", () => {
  test("has a default for each variable that needs one; some depend on others", () => {
    expect(readConfig({})).toEqual({
      PORT: 3000,
      HOST: "127.0.0.1",
      BASE_URL: "http://localhost:3000",
      REGISTRATION: "open",
      SYSTEM_FROM: "no-reply@localhost",
      DATABASE_POOL: 20,
      AUDIT_LOG_DAYS: 730,
      DATA_DIR: "./data",
      DEFAULT_PLAN: "unlimited",
      ALLOW_PRIVATE_NETWORKS: true,
      MIGRATIONS: "apply",
      MAX_UPLOAD_BYTES: 10_485_760,
      SERVICE_NAME: "Flockmail",
      HEALTH_PORT: 3030,
      TRUST_PROXY: 0,
      DRAIN_SECONDS: 3,
      MAX_IN_DOUBT: 200,
      SEND_LEASE_SECONDS: 30,
      RETRY_BASE_SECONDS: 60,
      LIMIT_WINDOW_SECONDS: 3_600,
      LOGLEVEL: "warn",
      OTEL_TRACES_SAMPLER_ARG: 0.01,
      OTEL_SERVICE_NAME: "flockmail",
    });
    const DATABASE_URL = "postgres://db/flockmail";
    expect(readConfig({ PORT: "8080", DATABASE_URL, SECRET_KEY })).toMatchObject({
      HOST: "0.0.0.0",
      BASE_URL: "http://localhost:8080",
      REGISTRATION: "invite",
      ALLOW_PRIVATE_NETWORKS: false,
      DRAIN_SECONDS: 40,
      LOGLEVEL: "info",
    });
  });

  test.each([
    [{}, "open"],
    [{ BASE_URL: "http://127.0.0.1:8080", HOST: "::1" }, "open"],
    [{ BASE_URL: "https://mail.example" }, "invite"],
    [{ HOST: "0.0.0.0" }, "invite"],
    [{ HOST: "::" }, "invite"],
    [{ HOST: "10.0.0.5" }, "invite"],
    [{ BASE_URL: "https://mail.example", REGISTRATION: "open" }, "open"],
  ])("has, with %j, registration %s", (env, expected) => {
    expect(readConfig(env).REGISTRATION).toBe(expected);
  });

  test("treats empty variables as unset, and ignores unknown ones", () => {
    expect(readConfig({ PORT: "", HOME: "/root" })).toEqual(readConfig({}));
  });

  test.each([
    ["ALLOW_PRIVATE_NETWORKS", "YES", true],
    ["ALLOW_PRIVATE_NETWORKS", "off", false],
    ["ALLOW_PRIVATE_NETWORKS", "0", false],
    ["BASE_URL", "https://mail.example//", "https://mail.example"],
    ["TRUST_PROXY", "2", 2],
    ["LOGLEVEL", "trace", "trace"],
    ["OTEL_TRACES_SAMPLER_ARG", "0.25", 0.25],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/", "http://collector:4318"],
  ])("reads %s=%s as %p", (name, value, read) => {
    expect(readConfig({ [name]: value })).toMatchObject({ [name]: read });
  });

  test.each([
    ["PORT", "65536", "PORT must be a whole number from 0 to 65535"],
    ["PORT", "3.5", "PORT must be a whole number from 0 to 65535"],
    ["PORT", "Infinity", "PORT must be a whole number from 0 to 65535"],
    ["DATABASE_POOL", "2", "DATABASE_POOL must be a whole number from 3 to 500"],
    ["ALLOW_PRIVATE_NETWORKS", "maybe", "ALLOW_PRIVATE_NETWORKS must be true or false"],
    [
      "ALLOWED_PRIVATE_HOSTS",
      "10.0.0.0/99",
      "ALLOWED_PRIVATE_HOSTS must list host names, addresses and networks (10.1.0.0/16), comma separated",
    ],
    ["BASE_URL", "mail.example", "BASE_URL must be a URL that begins with http:// or https://"],
    ["TRANSPORTER", "redis://host", NATS_LINE],
    ["TRANSPORTER", "nats://a,b", NATS_LINE],
    ["TRANSPORTER", "nats://u:p%zz@a", NATS_LINE],
    ["TRANSPORTER", "nats://u:p@a,nats://u:q@b", NATS_LINE],
    ["SECRET_KEY", "short", "SECRET_KEY must have at least 16 characters"],
    ["LOGLEVEL", "loud", "LOGLEVEL must be one of fatal, error, warn, info, debug, trace"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5", "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1"],
    ["OTEL_TRACES_SAMPLER_ARG", "always_on", "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1"],
    [
      "OTEL_EXPORTER_OTLP_HEADERS",
      "Bearer x",
      "OTEL_EXPORTER_OTLP_HEADERS must list name=value, comma separated, values percent-encoded",
    ],
  ])("refuses %s=%s in one line", (name, value, line) => {
    expect(linesOf(name, errorsOf({ [name]: value }))).toEqual([line]);
  });

  test.each(["http://key@collector:4318", "https://user:key@collector", "https://collector/?key=x"])(
    "OTEL_EXPORTER_OTLP_ENDPOINT=%s is refused: secrets belong in the headers",
    (endpoint) => {
      expect(errorsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toEqual([
        "OTEL_EXPORTER_OTLP_ENDPOINT: what the collector is to know goes into OTEL_EXPORTER_OTLP_HEADERS",
      ]);
    },
  );

  test("lists all errors at once, one line per variable", () => {
    const env = { TRUST_PROXY: "many", PORT: "-1", TRANSPORTER: "nats://nats" };
    expect(errorsOf(env)).toEqual([
      "PORT must be a whole number from 0 to 65535",
      "TRUST_PROXY must be a whole number from 0 to 32",
      "REDIS_URL is required with TRANSPORTER: limits must be counted in one place for all processes",
      "DATABASE_URL is required with TRANSPORTER: the embedded database serves one process",
    ]);
    expect(() => readConfig(env)).toThrow(ConfigError);
  });

  test("may name another role for migrations than for the service", () => {
    const MIGRATION_DATABASE_URL = "postgres://owner@db/flockmail";
    const both = { MIGRATION_DATABASE_URL, DATABASE_URL: "postgres://app@db/flockmail", SECRET_KEY };
    expect(readConfig(both)).toMatchObject({ MIGRATION_DATABASE_URL });
    expect(errorsOf({ MIGRATION_DATABASE_URL })).toEqual([
      "DATABASE_URL is required with MIGRATION_DATABASE_URL: the embedded database has one role",
    ]);
    expect(
      errorsOf({ ...both, MIGRATION_DATABASE_URL: `${MIGRATION_DATABASE_URL}?target_session_attrs=standby` }),
    ).toEqual([expect.stringMatching(/^MIGRATION_DATABASE_URL: target_session_attrs=standby/)]);
  });

  test.each([
    ["nats://a:4222,nats://u%40x:p%2Cw@b", { hosts: ["a:4222", "b"], tls: false, user: "u@x", pass: "p,w" }],
    ["tls://t%3Ak@a, tls://b:4223/", { hosts: ["a", "b:4223"], tls: true, token: "t:k" }],
  ])("reads several servers from TRANSPORTER=%s", (list, servers) => {
    expect(parseNatsServers(list)).toEqual(servers);
    expect(readConfig({ TRANSPORTER: list }, { console: true })).toMatchObject({ TRANSPORTER: list });
  });

  test("needs neither database nor Redis nor secret for an operator's console", () => {
    expect(readConfig({ TRANSPORTER: "nats://nats" }, { console: true })).toMatchObject({ TRANSPORTER: "nats://nats" });
  });
});
