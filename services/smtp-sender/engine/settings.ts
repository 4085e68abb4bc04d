/** Defines the engine's settings: filled from the configuration by the service, shortened by tests. */
import { hostname } from "node:os";
import { config } from "../../lib/config.ts";
import { RFC_TIMEOUTS, type StageTimeouts } from "../smtp/timeouts.ts";

export interface EngineSettings {
  maxInDoubt: number;
  leaseMs: number;
  retryBaseMs: number;
  /** Polling interval: work without an event is found within this time. */
  pollMs: number;
  windowSeconds: number;
  /** The minute of `max_per_minute`; only tests shorten it. */
  domainWindowSeconds: number;
  /** Pause until a company at its hourly limit is checked again: unsent emails return their tokens. */
  hourRetryMs: number;
  allowPrivate: boolean;
  ehloName: string | undefined;
  /** Idle time after which a connection is closed. */
  idleMs: number;
  /** Time for emails in flight when the process stops. */
  stopMs: number;
  /** Maximum batches of a node (claim/batch-admission.ts). */
  maxBatches: number;
  maxMessagesPerConnection: number;
  /** Time-out until the greeting is read and STARTTLS is done; undefined: five minutes (RFC 5321). */
  greetingTimeoutMs: number | undefined;
  timeouts: StageTimeouts;
}

/** Our name in EHLO must be a domain (RFC 5321 section 4.1.4); without one nodemailer's default is used. */
function ehloName(baseUrl: string): string | undefined {
  const candidates = [new URL(baseUrl).hostname, hostname()];
  return candidates.find((name) => /^(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(name));
}

export function engineSettings(overrides: Partial<EngineSettings> = {}): EngineSettings {
  const {
    DRAIN_SECONDS,
    MAX_IN_DOUBT,
    SEND_LEASE_SECONDS,
    RETRY_BASE_SECONDS,
    LIMIT_WINDOW_SECONDS,
    ALLOW_PRIVATE_NETWORKS,
    BASE_URL,
  } = config();
  return {
    maxInDoubt: MAX_IN_DOUBT,
    leaseMs: SEND_LEASE_SECONDS * 1_000,
    retryBaseMs: RETRY_BASE_SECONDS * 1_000,
    pollMs: 1_000,
    windowSeconds: LIMIT_WINDOW_SECONDS,
    domainWindowSeconds: 60,
    hourRetryMs: 30_000,
    allowPrivate: ALLOW_PRIVATE_NETWORKS,
    ehloName: ehloName(BASE_URL),
    idleMs: 15_000,
    stopMs: DRAIN_SECONDS * 1_000,
    maxBatches: 200,
    maxMessagesPerConnection: 5_000,
    greetingTimeoutMs: undefined,
    timeouts: RFC_TIMEOUTS,
    ...overrides,
  };
}
