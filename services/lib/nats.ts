/**
 * Connects to the NATS servers of TRANSPORTER. A server may vanish silently, so each is pinged every second, and a
 * silent one is replaced within four seconds.
 */
import { readFileSync } from "node:fs";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type ConnectionOptions, credsAuthenticator } from "nats";

const PING_MS = 1_000;
/** Unanswered pings before the connection is closed a second later. */
const MAX_UNANSWERED = 2;
/** Handshake time-out. A frozen server accepts connections and says nothing. */
const CONNECT_TIMEOUT_MS = 2_000;
const AGAIN_MS = 250;
const RECONNECT_JITTER_MS = 100;

export interface NatsServers {
  /** `host:port`, or a host alone. */
  hosts: string[];
  tls: boolean;
  /** Credentials common to all servers: user and password, or a token. */
  user?: string;
  pass?: string;
  token?: string;
}

const PROTOCOLS = ["nats:", "tls:"];

function credentialsOf({ username, password }: URL): Pick<NatsServers, "user" | "pass" | "token"> {
  if (!username) return {};
  const user = decodeURIComponent(username);
  return password ? { user, pass: decodeURIComponent(password) } : { token: user };
}

/**
 * Parses a comma-separated list of URLs, `nats://user:password@host:4222`, `nats://token@host` or `tls://host`; user,
 * password and token are percent-encoded and given for at least one server. Null if it is invalid, or if servers differ
 * in their credentials.
 */
export function parseNatsServers(list: string): NatsServers | null {
  const servers: NatsServers = { hosts: [], tls: false };
  let given: string | undefined;
  try {
    for (const text of list.split(",")) {
      const url = new URL(text.trim());
      if (!PROTOCOLS.includes(url.protocol) || !url.hostname || url.search || !/^\/?$/.test(url.pathname)) return null;
      const credentials = credentialsOf(url);
      const compared = JSON.stringify(credentials);
      if (url.username && given !== undefined && given !== compared) return null;
      if (url.username) given = compared;
      servers.hosts.push(url.host);
      servers.tls ||= url.protocol === "tls:";
      Object.assign(servers, credentials);
    }
  } catch {
    return null;
  }
  return servers;
}

interface NatsSettings {
  TRANSPORTER?: string;
  NATS_CA?: string;
  NATS_CREDENTIALS_FILE?: string;
}

/** The servers' addresses, for messages: without user, password or token. */
export const natsAddresses = ({ TRANSPORTER = "" }: NatsSettings): string =>
  parseNatsServers(TRANSPORTER)?.hosts.join(", ") ?? "";

const nameOf = (host: string) => new URL(`nats://${host}`).hostname.replace(/^\[|\]$/g, "");

/** For a server named by its address the client would compare the certificate with "localhost". */
const identityAmong = (hosts: string[]) => (_name: string, certificate: PeerCertificate) => {
  const errors = hosts.map((host) => checkServerIdentity(nameOf(host), certificate));
  return errors.includes(undefined) ? undefined : errors[0];
};

/** Throws a sentence with the variable's name if its file cannot be read. */
function readNamed(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${path} (${variable}): ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Connection options; `name` identifies this client in the servers' reports. */
export function natsOptions(settings: NatsSettings, name: string): ConnectionOptions {
  const { hosts, tls, user, pass, token } = parseNatsServers(settings.TRANSPORTER ?? "")!;
  const { NATS_CA: ca, NATS_CREDENTIALS_FILE: credentials } = settings;
  if (credentials) readNamed("NATS_CREDENTIALS_FILE", credentials);
  return {
    name,
    servers: hosts,
    user,
    pass,
    token,
    ...(tls || ca
      ? {
          tls: {
            ...(ca ? { ca: readNamed("NATS_CA", ca) } : {}),
            checkServerIdentity: identityAmong(hosts),
          } as ConnectionOptions["tls"],
        }
      : {}),
    // Read at each connection: a file with expiring credentials is replaced while the process runs.
    ...(credentials ? { authenticator: credsAuthenticator(() => readFileSync(credentials)) } : {}),
    pingInterval: PING_MS,
    maxPingOut: MAX_UNANSWERED,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: AGAIN_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    // Otherwise two refusals in a row end the client, even if the servers' users changed only for a moment.
    ignoreAuthErrorAbort: true,
  };
}
