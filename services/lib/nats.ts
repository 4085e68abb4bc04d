/**
 * NATS: the servers that TRANSPORTER names, and how a connection to them is made. A server may be gone without a word, so
 * each is asked every second whether it is there; one that is silent is left for another within four seconds.
 */
import { readFileSync } from "node:fs";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type ConnectionOptions, credsAuthenticator } from "nats";

const PING_MS = 1_000;
/** Pings without an answer: one more second, and the connection is given up. */
const MAX_UNANSWERED = 2;
/** From the first packet to the end of the handshake. A frozen server takes connections and says nothing. */
const CONNECT_TIMEOUT_MS = 2_000;
const AGAIN_MS = 250;
const AGAIN_JITTER_MS = 100;

export interface NatsServers {
  /** `host:port`, or a host alone. */
  hosts: string[];
  tls: boolean;
  /** What all of them ask for: a user with a password, or a token. */
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
 * Reads a comma separated list of URLs, `nats://user:password@host:4222`, `nats://token@host` or `tls://host`; user, password
 * and token are percent-encoded and stand at one server at least. Null where it is none, or where servers differ in their
 * credentials.
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

/** The client would hold the certificate of a server that is named by its address against "localhost". */
const identityAmong = (hosts: string[]) => (_name: string, certificate: PeerCertificate) => {
  const errors = hosts.map((host) => checkServerIdentity(nameOf(host), certificate));
  return errors.includes(undefined) ? undefined : errors[0];
};

/** Throws where a file that is named cannot be read, in a sentence with the variable's name. */
function readNamed(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${path} (${variable}): ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** How to connect; `name` is what the servers' own reports call this client. */
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
    // Read anew at each connection: a file with credentials that end is replaced while the process runs.
    ...(credentials ? { authenticator: credsAuthenticator(() => readFileSync(credentials)) } : {}),
    pingInterval: PING_MS,
    maxPingOut: MAX_UNANSWERED,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: AGAIN_MS,
    reconnectJitter: AGAIN_JITTER_MS,
    reconnectJitterTLS: AGAIN_JITTER_MS,
    // Two refusals in a row end the client else, also where the servers' users were changed for a moment.
    ignoreAuthErrorAbort: true,
  };
}
