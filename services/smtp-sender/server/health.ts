/**
 * Whether a server takes mail at the moment, as one sender sees it from the results (`ServerHealth`, pure), and as all
 * nodes read it in the row of its configuration (`ServerPauses`, delivery/back-off.ts).
 *
 * working    Mail goes out over as many connections as there may be.
 * paused     Nothing goes out until the pause in the configuration's row is over (delivery/back-off.ts).
 * probing    One connection with one mail. Accepted: working. Refused for now: paused again, for twice as long.
 *
 * A server that works is paused when no connection can be opened, or one ends before it took any mail; when MAIL is
 * refused with 4xx, from the first one, on a session that has not taken any mail (else that session is used up); when
 * DATA, the end of data or RCPT is refused with 4xx and the same text five times in a row with nothing accepted
 * between. At RCPT a text that speaks of the mailbox or of greylisting is that recipient's own wait and does not count.
 * Only an accepted message ends it: a connection that opens proves nothing. A mail whose refusal pauses the server does
 * not count as a try; those before it do.
 */
import { performance } from "node:perf_hooks";
import type { TransportConfig } from "../configs/transport-config.ts";
import {
  claimProbe,
  recordServerError,
  recordServerFailure,
  recordServerOpened,
  recordServerWorks,
  releaseProbe,
} from "../delivery/back-off.ts";
import { isRecipientsOwnWait, repeatedText } from "../delivery/refusals.ts";
import type { DependencyOutage } from "../engine/dependency-outage.ts";
import type { TransactionResult } from "../smtp/transaction.ts";

const EQUAL_REFUSALS = 5;

type ServerMode = "working" | "paused" | "probing";

export class ServerHealth {
  mode: ServerMode;
  #text = "";
  #equal = 0;

  constructor(mode: ServerMode) {
    this.mode = mode;
  }

  /** A message was accepted. One that was under way when the pause began does not end it. */
  accepted(): void {
    this.#equal = 0;
    if (this.mode === "probing") this.mode = "working";
  }

  /** Why this result pauses the server; undefined where it does not. */
  reasonToPause(result: TransactionResult): string | undefined {
    if (result.kind !== "refused") return undefined;
    const { stage, reply } = result;
    if (reply.code >= 500) {
      this.#equal = 0;
      return undefined;
    }
    if (stage === "rcpt" && isRecipientsOwnWait(reply)) return undefined;
    if (stage === "mail" || this.mode !== "working") return reply.text;
    const text = repeatedText(reply) ?? reply.text;
    this.#equal = text === this.#text ? this.#equal + 1 : 1;
    this.#text = text;
    return this.#equal >= EQUAL_REFUSALS ? reply.text : undefined;
  }

  become(mode: ServerMode): void {
    this.#equal = 0;
    this.mode = mode;
  }
}

/** At least until the row says for how long; and until it is asked again when the database is away. */
const UNKNOWN_PAUSE_MS = 1_000;

interface Options {
  retryBaseMs: number;
  outage: DependencyOutage;
}

export class ServerPauses {
  config: TransportConfig;
  lastError: string | null = null;
  /** Nothing is sent before this, by the monotonic clock. */
  until = 0;
  readonly health: ServerHealth;
  readonly #options: Options;
  #claimingProbe = false;
  /** The one mail that shows whether the server takes mail again. */
  #probe: object | undefined;
  #acceptedAt: number | undefined;

  constructor(config: TransportConfig, options: Options) {
    this.config = config;
    this.#options = options;
    this.health = new ServerHealth(config.failingForMs === null ? "working" : "paused");
  }

  /** False: paused, or being probed by one mail on one connection. */
  get working(): boolean {
    return this.health.mode === "working";
  }

  get paused(): boolean {
    return this.health.mode === "paused";
  }

  get maySend(): boolean {
    if (this.paused || performance.now() < this.until) return false;
    return this.working || this.#probe === undefined;
  }

  handedOver(mail: object): void {
    if (this.health.mode === "probing") this.#probe = mail;
  }

  /** True: it was the probe, and the server takes mail again. */
  answered(mail: object, result: TransactionResult): boolean {
    if (this.#probe === mail) this.#probe = undefined;
    if (result.kind !== "accepted") return false;
    this.#acceptedAt = performance.now();
    const probed = this.health.mode === "probing";
    this.health.accepted();
    if (probed) this.#recordWorks();
    return probed;
  }

  /** The session that may have had the probe is gone. */
  sessionBroke(): void {
    this.#probe = undefined;
  }

  opened(): void {
    if (this.config.workedBefore) return;
    this.config.workedBefore = true;
    this.#write(recordServerOpened(this.config));
  }

  /** Stores an error that only the user can correct. */
  failed(error: string): void {
    this.lastError = error;
    this.#write(recordServerError(this.config, error));
  }

  /** The pause is over for this node: one of all nodes gets to send a probe. */
  get mayProbe(): boolean {
    return this.paused && !this.#claimingProbe && performance.now() >= this.until;
  }

  /** Only while `mayProbe`. "sends": mail, or one mail as a probe, may be sent now; "away": the database is. */
  async claimProbe(): Promise<"sends" | "away" | { waitMs: number }> {
    this.#claimingProbe = true;
    try {
      const claim = await claimProbe(this.config);
      if (typeof claim === "object") {
        this.until = performance.now() + claim.waitMs;
        return claim;
      }
      this.health.become(claim === "probe" ? "probing" : "working");
      return "sends";
    } catch (error) {
      this.until = performance.now() + UNKNOWN_PAUSE_MS;
      this.#options.outage.report(error as Error);
      return "away";
    } finally {
      this.#claimingProbe = false;
    }
  }

  /** True: the probe has not been sent. While this node holds it, no node may claim mail for the server. */
  get probeIsUnused(): boolean {
    return this.health.mode === "probing" && this.#probe === undefined;
  }

  async returnProbe(): Promise<void> {
    this.health.become("paused");
    await releaseProbe(this.config).catch((error: Error) => this.#options.outage.report(error));
  }

  /**
   * Leaves the server alone from now on. Resolves with how long, when it is stored for all nodes; `hopeless`: it has
   * been failing for a day. Undefined: the database is away.
   */
  async pause(error: string): Promise<{ ms: number; hopeless: boolean } | undefined> {
    const probing = this.health.mode === "probing";
    this.health.become("paused");
    this.#probe = undefined;
    this.lastError = error;
    this.until = performance.now() + UNKNOWN_PAUSE_MS;
    const acceptedMsAgo = this.#acceptedAt === undefined ? null : performance.now() - this.#acceptedAt;
    try {
      const baseMs = this.#options.retryBaseMs;
      const pause = await recordServerFailure(this.config, { error, baseMs, probing, acceptedMsAgo });
      this.until = performance.now() + pause.ms;
      return pause;
    } catch (outage) {
      this.#options.outage.report(outage as Error);
      return undefined;
    }
  }

  /** The configuration was read again. */
  reloaded(config: TransportConfig): void {
    const changed = config.version !== this.config.version;
    this.config = config;
    if (changed) {
      // The user who changed it expects it to be tried now.
      if (config.failingForMs === null) this.health.become("working");
      this.until = 0;
    }
    // Another node may be unable to reach a server that accepts mail here.
    const acceptedMsAgo = performance.now() - (this.#acceptedAt ?? Number.NEGATIVE_INFINITY);
    if (config.failingForMs !== null && acceptedMsAgo < config.failingForMs) this.#recordWorks();
  }

  #recordWorks(): void {
    this.config.failingForMs = null;
    this.lastError = null;
    this.#write(recordServerWorks(this.config));
  }

  #write(work: Promise<void>): void {
    void work.catch((error: Error) => this.#options.outage.report(error));
  }
}
