/**
 * Leaving a server alone and finding out whether it takes mail again: when ServerHealth says that it takes none, its mail
 * goes back, all nodes read in its row until when to wait (delivery/back-off.ts), and then one node sends one mail as a probe.
 * The transport asks here whether it may send, and reports what it hands over and what is accepted.
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
import type { Batch, Mail } from "../delivery/batch.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import { ServerHealth } from "./server-health.ts";

/** At least until the row says for how long; and until it is asked again when the database is away. */
const UNKNOWN_PAUSE_MS = 1_000;
/** A timer may be a little early. */
const AFTER_PAUSE_MS = 10;

/** What pauses ask of the transport. */
interface PausedTransport {
  config(): TransportConfig;
  readonly retryBaseMs: number;
  /** Mails and copies that wait. */
  waiting(): number;
  /** Leases go back, and copies are left to retries; the batches that ended. */
  giveBack(): readonly Batch[];
  quitConnections(): void;
  stopCampaigns(batches: readonly Batch[], error: string): Promise<void>;
  wake(): void;
  lookForWork(): void;
  reportOutage(error: Error): void;
}

export class ServerPauses {
  lastError: string | null = null;
  /** Nothing is sent before this, by the monotonic clock. */
  until = 0;
  readonly #transport: PausedTransport;
  readonly #health: ServerHealth;
  #claimingProbe = false;
  /** The one mail that shows whether the server takes mail again. */
  #probe: Mail | undefined;
  #acceptedAt: number | undefined;

  constructor(transport: PausedTransport, failing: boolean) {
    this.#transport = transport;
    this.#health = new ServerHealth(failing ? "paused" : "working");
  }

  /** False: paused, or being probed by one mail on one connection. */
  get working(): boolean {
    return this.#health.mode === "working";
  }

  get paused(): boolean {
    return this.#health.mode === "paused";
  }

  get maySend(): boolean {
    if (this.paused || performance.now() < this.until) return false;
    return this.working || this.#probe === undefined;
  }

  handedOver(mail: Mail): void {
    if (this.#health.mode === "probing") this.#probe = mail;
  }

  answered(mail: Mail, result: TransactionResult): void {
    if (this.#probe === mail) this.#probe = undefined;
    if (result.kind !== "accepted") return;
    this.#acceptedAt = performance.now();
    const probed = this.#health.mode === "probing";
    this.#health.accepted();
    if (!probed) return;
    this.#recordWorks();
    this.#transport.lookForWork();
  }

  /** The session that may have had the probe is gone. */
  sessionBroke(): void {
    this.#probe = undefined;
  }

  reasonToPause(result: TransactionResult): string | undefined {
    return this.#health.reasonToPause(result);
  }

  opened(): void {
    const config = this.#transport.config();
    if (config.workedBefore) return;
    config.workedBefore = true;
    this.#write(recordServerOpened(config));
  }

  /** What only the user can change. */
  recordError(error: string): void {
    this.#write(recordServerError(this.#transport.config(), error));
  }

  /** Asked whenever there may be work: when the pause is over for this node, one of all nodes gets to send the probe. */
  async tryAgain(): Promise<void> {
    const transport = this.#transport;
    if (!this.paused || this.#claimingProbe || performance.now() < this.until) return;
    if (transport.waiting() === 0) return;
    this.#claimingProbe = true;
    try {
      const claim = await claimProbe(transport.config());
      if (claim === "probe") this.#health.become("probing");
      else if (claim === "works") this.#health.become("working");
      else this.#wait(claim.waitMs);
    } catch (error) {
      this.until = performance.now() + UNKNOWN_PAUSE_MS;
      transport.reportOutage(error as Error);
    } finally {
      this.#claimingProbe = false;
    }
    if (!this.paused) transport.wake();
  }

  /** The probe found nothing to send: while this node holds it, no node may claim mail for the server. */
  returnUnusedProbe(): void {
    if (this.#health.mode !== "probing" || this.#probe || this.#transport.waiting() > 0) return;
    this.#health.become("paused");
    this.#write(releaseProbe(this.#transport.config()).then(() => this.#transport.lookForWork()));
  }

  #wait(ms: number): void {
    this.until = performance.now() + ms;
    this.#transport.giveBack();
    this.#lookAfter(ms);
  }

  #lookAfter(ms: number): void {
    setTimeout(() => this.#transport.lookForWork(), ms + AFTER_PAUSE_MS).unref();
  }

  /** Leaves the server alone for a while; the leases go back, its mail is not touched. */
  async pause(error: string): Promise<void> {
    const transport = this.#transport;
    const probing = this.#health.mode === "probing";
    if (this.paused) return;
    this.#health.become("paused");
    this.#probe = undefined;
    this.lastError = error;
    // What a server holds against a session ends with it: postscreen defers everybody on the first one.
    transport.quitConnections();
    this.until = performance.now() + UNKNOWN_PAUSE_MS;
    const batches = transport.giveBack();
    try {
      const { ms, hopeless } = await recordServerFailure(transport.config(), {
        error,
        baseMs: transport.retryBaseMs,
        probing,
        acceptedMsAgo: this.#acceptedAt === undefined ? null : performance.now() - this.#acceptedAt,
      });
      this.until = performance.now() + ms;
      if (hopeless) await transport.stopCampaigns(batches, `The SMTP server could not be used for 24 hours. ${error}`);
      this.#lookAfter(ms);
    } catch (outage) {
      transport.reportOutage(outage as Error);
    }
  }

  /** The configuration was read again. */
  reloaded(changed: boolean): void {
    const { failingForMs } = this.#transport.config();
    if (changed) {
      // Whoever changed it expects it to be tried now.
      if (failingForMs === null) this.#health.become("working");
      this.until = 0;
    }
    // Another node may be unable to reach a server that accepts mail here.
    const acceptedMsAgo = performance.now() - (this.#acceptedAt ?? Number.NEGATIVE_INFINITY);
    if (failingForMs !== null && acceptedMsAgo < failingForMs) this.#recordWorks();
  }

  #recordWorks(): void {
    const config = this.#transport.config();
    config.failingForMs = null;
    this.lastError = null;
    this.#write(recordServerWorks(config));
  }

  #write(work: Promise<void>): void {
    void work.catch((error: Error) => this.#transport.reportOutage(error));
  }
}
