/**
 * Checks this process's configuration for settings that work but are dangerous or useless; invalid ones are refused at
 * start.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../../lib/config.ts";
import { isLocalHost, isLoopbackHost } from "../../lib/ssrf/local-host.ts";
import { type Check, type Finding, findingsOf } from "./finding.ts";

const AREA = "settings";
const { ok, warn, fail } = findingsOf(AREA);

const LEAST_SECRET = 32;
/** A typed secret has fewer distinct characters than a random one. */
const LEAST_DIFFERENT = 12;
const DAY_MS = 24 * 3_600_000;
const EXPIRES_SOON_DAYS = 14;

const ANOTHER_KEY =
  'Take one of `openssl rand -hex 32`, and change it step by step as docs/operations.md says ("Change SECRET_KEY").';

/** Findings never contain any part of a key. */
export function secretFinding({ SECRET_KEY: key }: Pick<Config, "SECRET_KEY">): Finding {
  if (key === undefined) return ok("SECRET_KEY", "made by the service, in DATA_DIR");
  const different = new Set(key).size;
  if (key.length < LEAST_SECRET) return warn("SECRET_KEY", `${key.length} characters`, ANOTHER_KEY);
  if (different < LEAST_DIFFERENT) return warn("SECRET_KEY", `${different} different characters`, ANOTHER_KEY);
  return ok("SECRET_KEY", `${key.length} characters`);
}

/** `unreadable` counts stored secrets that no key of this process opens. */
export function sealedFindings({ SECRET_KEY_OLD }: Pick<Config, "SECRET_KEY_OLD">, unreadable: number): Finding[] {
  return [
    unreadable > 0
      ? fail(
          "stored secrets",
          `${unreadable} cannot be opened`,
          "Set the SECRET_KEY that they were sealed with as SECRET_KEY_OLD, and run `ops reseal`: until then their campaigns fail.",
        )
      : ok("stored secrets", "all can be opened"),
    SECRET_KEY_OLD
      ? warn(
          "SECRET_KEY_OLD",
          "set",
          "Run `ops reseal`, and remove it when nothing is left to reseal and links in older mails no longer matter.",
        )
      : ok("SECRET_KEY_OLD", "not set"),
  ];
}

export function addressFindings(
  settings: Pick<Config, "BASE_URL" | "REGISTRATION" | "TRUST_PROXY" | "SYSTEM_SMTP_URL" | "ALLOW_PRIVATE_NETWORKS">,
): Finding[] {
  const { BASE_URL, REGISTRATION, TRUST_PROXY, SYSTEM_SMTP_URL, ALLOW_PRIVATE_NETWORKS } = settings;
  const { hostname, protocol } = new URL(BASE_URL);
  const isPublic = !isLocalHost(hostname);
  const isSecure = protocol === "https:";
  const baseUrl = isLoopbackHost(hostname)
    ? warn(
        "BASE_URL",
        BASE_URL,
        "Set it to the public address before you send to others: links open only on this machine.",
      )
    : !isSecure
      ? warn(
          "BASE_URL",
          BASE_URL,
          "Use a proxy with TLS and set it to https://: passwords and links are sent in plain text, and mailbox providers ignore one-click unsubscribes.",
        )
      : ok("BASE_URL", BASE_URL);
  return [
    baseUrl,
    REGISTRATION === "open" && isPublic
      ? warn("REGISTRATION", "open at a public address", "Set it to invite unless strangers may send mail through you.")
      : ok("REGISTRATION", REGISTRATION),
    // The service itself does not speak TLS, so https implies a proxy.
    TRUST_PROXY === 0 && isSecure
      ? warn(
          "TRUST_PROXY",
          "0, and https needs a proxy in front",
          "Set it to the number of proxies: otherwise all clients share one address and its rate limits.",
        )
      : ok("TRUST_PROXY", String(TRUST_PROXY)),
    SYSTEM_SMTP_URL === undefined && isPublic
      ? warn(
          "SYSTEM_SMTP_URL",
          "not set",
          "Set it: without it invitations must be passed on as links, and lost passwords need `ops set-password`.",
        )
      : ok("SYSTEM_SMTP_URL", SYSTEM_SMTP_URL === undefined ? "not set" : "set"),
    ALLOW_PRIVATE_NETWORKS && isPublic
      ? warn(
          "ALLOW_PRIVATE_NETWORKS",
          "true at a public address",
          "Set it to false and list the hosts that companies may reach in ALLOWED_PRIVATE_HOSTS: otherwise they can reach your databases.",
        )
      : ok("ALLOW_PRIVATE_NETWORKS", String(ALLOW_PRIVATE_NETWORKS)),
  ];
}

export function certificateFinding(validToMs: number, nowMs: number): Finding {
  const days = Math.floor((validToMs - nowMs) / DAY_MS);
  const until = new Date(validToMs).toISOString().slice(0, 10);
  const advice = "Renew the certificate in INBOUND_TLS_CERT: it is read again when the file changes.";
  if (days < 0) return fail("INBOUND_TLS_CERT", `over since ${until}`, advice);
  if (days < EXPIRES_SOON_DAYS) return warn("INBOUND_TLS_CERT", `good until ${until}, ${days} days`, advice);
  return ok("INBOUND_TLS_CERT", `good until ${until}`);
}

/** `unreadableSecrets` queries the database. */
export function settingsChecks(settings: Config, unreadableSecrets: () => Promise<number>): Check[] {
  const { INBOUND_TLS_CERT: certificate } = settings;
  const checks: Check[] = [
    {
      area: AREA,
      check: "settings",
      advice: "Correct it as docs/configuration.md says.",
      work: async () => [secretFinding(settings), ...addressFindings(settings)],
    },
    {
      area: AREA,
      check: "stored secrets",
      advice: "Try again when the database answers.",
      work: async () => sealedFindings(settings, await unreadableSecrets()),
    },
  ];
  if (certificate !== undefined) {
    checks.push({
      area: AREA,
      check: "INBOUND_TLS_CERT",
      advice: "Let the process read the file that INBOUND_TLS_CERT names.",
      work: async () => {
        const { validTo } = new X509Certificate(await readFile(certificate));
        return [certificateFinding(Date.parse(validTo), Date.now())];
      },
    });
  }
  return checks;
}
