/** Converts a server configuration to form fields, and typed fields to the API's parameters. */
import { TLS_MODES } from "../../models/smtp-config.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { numberOf } from "./form-fields.ts";

export type Server = ReturnsOf<"smtp-sender.getConfig">;
type NewServer = ParamsOf<"smtp-sender.createConfig">;
type Change = Omit<ParamsOf<"smtp-sender.updateConfig">, "id">;
export type Fields = Record<string, string>;

const EMPTY_ROWS = 2;
const MAX_ROWS = 100;

const numberOrNull = (text: string): number | null => (text.trim() === "" ? null : numberOf(text));
const textOrNull = (text: string): string | null => (text.trim() === "" ? null : text);
const textOf = (value: number | string | null | undefined): string => (value == null ? "" : `${value}`);

/** Default values for a new server. */
export const FRESH: Fields = { port: "587", encryption: "auto", max_connections: "10", mailbox_tls: "on" };

/** Form fields of a stored server. Login and passwords are missing, because the API never returns them. */
export function fieldsOf(server: Server): Fields {
  const { warmup, bounce_mailbox: mailbox } = server;
  const fields: Fields = {
    name: server.name,
    host: server.host,
    port: `${server.port}`,
    encryption: server.tls_mode === "auto" && !server.use_tls ? "none" : server.tls_mode,
    sender_name: server.sender_name,
    sender_email: server.sender_email,
    reply_to_email: textOf(server.reply_to_email),
    max_connections: `${server.max_connections}`,
    max_per_second: textOf(server.max_per_second),
    warmup_start: textOf(warmup?.start_per_day),
    warmup_factor: textOf(warmup?.factor),
    warmup_until: textOf(warmup?.until_per_day),
    bounce_address: textOf(server.bounce_address),
    mailbox_host: textOf(mailbox?.host),
    mailbox_port: textOf(mailbox?.port),
    mailbox_username: textOf(mailbox?.username),
    mailbox_folder: textOf(mailbox?.folder),
    mailbox_processed: textOf(mailbox?.processed_folder),
    ...(mailbox && !mailbox.use_tls ? {} : { mailbox_tls: "on" }),
    ...(server.is_default ? { is_default: "on" } : {}),
  };
  for (const [n, { domain, max_per_minute, max_connections }] of server.domain_limits.entries()) {
    fields[`limit.${n}.domain`] = domain;
    fields[`limit.${n}.per_minute`] = textOf(max_per_minute);
    fields[`limit.${n}.connections`] = textOf(max_connections);
  }
  return fields;
}

interface LimitRow {
  n: number;
  domain: string;
  perMinute: string;
  connections: string;
}

/** Rows of limits: those with content, plus empty ones to fill in. */
export function limitRows(fields: Fields): LimitRow[] {
  const rows: LimitRow[] = [];
  for (let n = 0; n < MAX_ROWS + EMPTY_ROWS; n++) {
    const at = (name: string) => (fields[`limit.${n}.${name}`] ?? "").trim();
    const row = { domain: at("domain"), perMinute: at("per_minute"), connections: at("connections") };
    if (Object.values(row).some((text) => text !== "")) rows.push({ ...row, n: rows.length });
  }
  const empty = Math.min(EMPTY_ROWS, MAX_ROWS - rows.length);
  for (let n = 0; n < empty; n++) rows.push({ n: rows.length, domain: "", perMinute: "", connections: "" });
  return rows;
}

function limitsOf(fields: Fields): NewServer["domain_limits"] {
  return limitRows(fields)
    .filter(({ domain, perMinute, connections }) => domain !== "" || perMinute !== "" || connections !== "")
    .map(({ domain, perMinute, connections }) => ({
      domain,
      ...(perMinute === "" ? {} : { max_per_minute: numberOf(perMinute) }),
      ...(connections === "" ? {} : { max_connections: numberOf(connections) }),
    }));
}

/** Providers write `smtp.example.com:2525`: a port behind the host counts more than the field's default. */
function addressOf({ host = "", port = "" }: Fields): { host: string; port: number } {
  const [, name, own] = /^([^:]+):(\d{1,5})$/.exec(host.trim()) ?? [];
  return { host: name ?? host, port: numberOf(own ?? port) };
}

/** Servers on this machine rarely have a certificate, and what goes to them crosses no network. */
const IS_LOOPBACK = /^(?:localhost|127\.[\d.]+|::1)$/i;

function encryptionOf(fields: Fields): Pick<NewServer, "tls_mode" | "use_tls"> {
  const { encryption: choice } = fields;
  const mode = TLS_MODES.find((one) => one === choice) ?? "auto";
  const isNone = choice === "none" || (mode === "auto" && IS_LOOPBACK.test(addressOf(fields).host));
  return { tls_mode: mode, use_tls: !isNone };
}

function warmupOf({ warmup_start = "", warmup_factor = "", warmup_until = "" }: Fields): NewServer["warmup"] {
  if ([warmup_start, warmup_factor, warmup_until].every((text) => text.trim() === "")) return null;
  return {
    start_per_day: numberOf(warmup_start),
    factor: numberOf(warmup_factor),
    until_per_day: numberOf(warmup_until),
  };
}

function mailboxOf(fields: Fields): NewServer["bounce_mailbox"] {
  const { mailbox_host = "", mailbox_port = "", mailbox_username = "", mailbox_password = "" } = fields;
  const { mailbox_folder = "", mailbox_processed = "" } = fields;
  if (mailbox_host.trim() === "") return null;
  return {
    host: mailbox_host,
    username: mailbox_username,
    use_tls: fields.mailbox_tls !== undefined,
    ...(mailbox_port.trim() === "" ? {} : { port: numberOf(mailbox_port) }),
    ...(mailbox_password === "" ? {} : { password: mailbox_password }),
    ...(mailbox_folder.trim() === "" ? {} : { folder: mailbox_folder }),
    ...(mailbox_processed.trim() === "" ? {} : { processed_folder: mailbox_processed }),
  };
}

/** Login to save. For a relay without login both fields are empty; otherwise an empty field keeps the stored value. */
function loginOf({
  username = "",
  password = "",
  no_login,
}: Fields): Partial<Pick<NewServer, "username" | "password">> {
  if (no_login !== undefined) return { username: "", password: "" };
  return { ...(username === "" ? {} : { username }), ...(password === "" ? {} : { password }) };
}

/** All values except the login. */
function valuesOf(fields: Fields) {
  const { name = "", sender_name = "", sender_email = "" } = fields;
  const { reply_to_email = "", bounce_address = "", max_connections = "", max_per_second = "" } = fields;
  return {
    name,
    ...addressOf(fields),
    ...encryptionOf(fields),
    sender_name,
    sender_email,
    reply_to_email: textOrNull(reply_to_email),
    bounce_address: textOrNull(bounce_address),
    bounce_mailbox: mailboxOf(fields),
    max_connections: numberOf(max_connections),
    max_per_second: numberOrNull(max_per_second),
    warmup: warmupOf(fields),
    domain_limits: limitsOf(fields),
    is_default: fields.is_default !== undefined,
  } satisfies Change;
}

/** Parameters of a new server. The name defaults to its host. */
export const newServerOf = (fields: Fields): NewServer => ({
  username: "",
  password: "",
  ...valuesOf({ ...fields, name: fields.name?.trim() || addressOf(fields).host }),
  ...loginOf(fields),
});

/**
 * Returns only changed fields: any server field in the request makes the sender forget the server's state, and a
 * default should stay a default until it is overridden.
 */
export function changeOf(fields: Fields, server: Server): Change {
  const before: Record<string, unknown> = valuesOf({ ...fieldsOf(server) });
  const given = Object.entries(valuesOf(fields)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return { ...Object.fromEntries(given), ...loginOf(fields) };
}

/** Parameters to test a server before it is saved. */
export function loginToTry(fields: Fields): ParamsOf<"smtp-sender.validate"> {
  const { sender_email = "" } = fields;
  return {
    username: "",
    password: "",
    ...addressOf(fields),
    ...encryptionOf(fields),
    ...loginOf(fields),
    ...(sender_email.trim() === "" ? {} : { sender_email }),
  };
}

const OF_THE_SERVER = ["host", "port", "username", "password", "tls_mode", "use_tls", "sender_email"];

/** Returns whether the typed server is the stored one, so that the stored password may be used for a test. */
export function isStored(fields: Fields, server: Server): boolean {
  const changes = changeOf(fields, server);
  return !OF_THE_SERVER.some((name) => Object.hasOwn(changes, name));
}
