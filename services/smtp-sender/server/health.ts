/**
 * Tracks whether a server accepts mail: from this sender's results (`ServerHealth`, pure), and for all nodes in the row
 * of its configuration (`ServerPauses`, delivery/back-off.ts).
 *
 * working    Mail is sent over all permitted connections.
 * paused     Nothing is sent until the pause in the configuration's row is over (delivery/back-off.ts).
 * probing    One connection with one email. Accepted: working. Refused for now: paused again, for twice as long.
 *
 * A working server is paused if no connection can be opened, or one ends before it accepted any mail; on the first 4xx
 * to MAIL in a session that has accepted no mail (otherwise the session limit is reached); and if DATA, the end of data
 * or RCPT is refused with 4xx and the same text five times in a row with nothing accepted in between. A text at RCPT
 * about the mailbox or greylisting concerns that recipient and does not count. Only an accepted message ends a pause:
 * an open connection proves nothing. The refusal that pauses the server does not count as a try; earlier ones do.
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

  /** Called when a message was accepted. One that was in progress when the pause began does not end it. */
  accepted(): void {
    this.#equal = 0;
    if (this.mode === "probing") this.mode = "working";
  }

  /** Reason why this result pauses the server; undefined if it does not. */
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

/** Minimum pause until the row gives its length, and until the next try during a database outage. */
const UNKNOWN_PAUSE_MS = 1_000;

interface Options {
  retryBaseMs: number;
  outage: DependencyOutage;
}

export class ServerPauses {
  config: TransportConfig;
  lastError: string | null = null;
  /** End of the pause, by the monotonic clock. */
  until = 0;
  readonly health: ServerHealth;
  readonly #options: Options;
  #claimingProbe = false;
  /** The probe: one email that shows whether the server accepts mail again. */
  #probe: object | undefined;
  #acceptedAt: number | undefined;

  constructor(config: TransportConfig, options: Options) {
    this.config = config;
    this.#options = options;
    this.health = new ServerHealth(config.failingForMs === null ? "working" : "paused");
  }

  /** False: paused, or being probed. */
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

  /** True: it was the probe, and the server accepts mail again. */
  answered(mail: object, result: TransactionResult): boolean {
    if (this.#probe === mail) this.#probe = undefined;
    if (result.kind !== "accepted") return false;
    this.#acceptedAt = performance.now();
    const probed = this.health.mode === "probing";
    this.health.accepted();
    if (probed) this.#recordWorks();
    return probed;
  }

  /** Called when the session that may have carried the probe has ended. */
  sessionBroke(): void {
    this.#probe = undefined;
  }

  opened(): void {
    if (this.config.workedBefore) return;
    this.config.workedBefore = true;
    this.#write(recordServerOpened(this.config));
  }

  /** Stores an error that only the user can fix. */
  failed(error: string): void {
    this.lastError = error;
    this.#write(recordServerError(this.config, error));
  }

  /** The pause is over for this node; a single node may send a probe. */
  get mayProbe(): boolean {
    return this.paused && !this.#claimingProbe && performance.now() >= this.until;
  }

  /**
   * Claims the probe; only while `mayProbe`. "sends": mail, or one email as a probe, may be sent now; "away": database
   * outage.
   */
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

  /** True: the probe is claimed and not sent. Meanwhile no node may claim mail for the server. */
  get probeIsUnused(): boolean {
    return this.health.mode === "probing" && this.#probe === undefined;
  }

  async returnProbe(): Promise<void> {
    this.health.become("paused");
    await releaseProbe(this.config).catch((error: Error) => this.#options.outage.report(error));
  }

  /**
   * Pauses the server. Resolves with the length of the pause once it is stored for all nodes; `hopeless`: it has been
   * failing for a day. Undefined: database outage.
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

  /** Called when the configuration was reloaded. */
  reloaded(config: TransportConfig): void {
    const changed = config.version !== this.config.version;
    this.config = config;
    if (changed) {
      // A changed configuration is tried at once.
      if (config.failingForMs === null) this.health.become("working");
      this.until = 0;
    }
    // Another node may fail to reach a server that accepts mail here.
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
