/**
 * Holds the batches of one server. Connections take from transactional batches first, then from the others in rotation,
 * so that a campaign of a hundred does not wait for one of a million. Also decides how many recipients a batch may
 * prepare.
 */
import type { Batch } from "../delivery/batch.ts";
import type { Mail } from "../delivery/mail.ts";

/** Minimum part of its fair share that a campaign prepares at once: fewer are not worth the two statements. */
const GROUPS_PER_SHARE = 4;
/** Maximum group size for preparing and marking recipients; each group costs two statements. */
const MAX_GROUP = 100;
/** A batch with more ready emails prepares no further group yet: larger groups need fewer statements. */
const REFILL_BELOW = MAX_GROUP / 2;

interface Capacity {
  /** Maximum recipients that the server may hold. */
  window: number;
  /** Recipients held by all batches, except those whose results are promised. */
  held: number;
  /** Ready emails that wait for connection slots of their domain. */
  waiting: number;
  /** A connection is idle, and the batch has nothing ready for it. */
  connectionIdle: boolean;
}

/** A campaign's chunks run one after another, so that the second is still untouched when the first ends. */
const waitsForPrevious = ({ previous }: Batch): boolean => previous?.state === "open" && !previous.source.exhausted;

export class BatchQueue {
  readonly all: Batch[] = [];
  #urgent: readonly Batch[] = [];
  /** Number of their campaigns; due copies of a campaign count as another, so that neither blocks the other. */
  #campaigns = 0;
  #position = 0;
  #preparedLast: Batch | undefined;

  add(batch: Batch): void {
    const { campaign_id } = batch.campaign;
    if (batch.chunk) batch.previous = this.all.findLast((one) => one.chunk && one.campaign.campaign_id === campaign_id);
    this.all.push(batch);
    this.#count();
  }

  remove(batch: Batch): void {
    const at = this.all.indexOf(batch);
    if (at >= 0) this.all.splice(at, 1);
    for (const next of this.all) if (next.previous === batch) next.previous = undefined;
    if (this.#preparedLast === batch) this.#preparedLast = this.all[at - 1];
    this.#count();
  }

  #count(): void {
    this.#urgent = this.all.filter(({ campaign }) => campaign.is_transactional);
    this.#campaigns = new Set(
      this.all.map(({ kind, campaign }) => `${kind === "copies"} ${campaign.campaign_id}`),
    ).size;
  }

  /** All batches in rotation, starting after the one that prepared last. */
  get inTurn(): readonly Batch[] {
    const at = this.#preparedLast ? this.all.indexOf(this.#preparedLast) + 1 : 0;
    return [...this.all.slice(at), ...this.all.slice(0, at)];
  }

  /** Transactional mail is not part of the rotation. */
  prepared(batch: Batch): void {
    if (!batch.campaign.is_transactional) this.#preparedLast = batch;
  }

  /** Recipients that connections could be sending to. */
  get work(): number {
    let work = 0;
    for (const batch of this.all) if (batch.state === "open") work += batch.left;
    return work;
  }

  get anyReady(): boolean {
    return this.all.some((batch) => batch.ready.length > 0);
  }

  /**
   * Number of recipients that the batch may prepare now. Campaigns have equal shares of the window; transactional mail
   * waits for none of the others.
   */
  allowance(batch: Batch, { window, held, waiting, connectionIdle }: Capacity): number {
    if (batch.ready.length >= REFILL_BELOW || waitsForPrevious(batch)) return 0;
    const fairShare = Math.ceil(window / this.#campaigns);
    const urgent = batch.campaign.is_transactional;
    const unsettled = batch.unrecorded - batch.promised - waiting;
    const allowed = urgent ? window - unsettled : Math.min(window - held, fairShare - unsettled);
    const starving = connectionIdle || (urgent && batch.ready.length === waiting);
    const minGroup = starving ? 1 : Math.max(1, Math.floor(fairShare / GROUPS_PER_SHARE));
    return allowed < minGroup ? 0 : Math.min(allowed, MAX_GROUP);
  }

  /**
   * `pipelined`: its connection has another email in progress. `refill`: called with batches that have few ready emails.
   */
  next(pipelined: boolean, refill: (batch: Batch) => void): Mail | undefined {
    for (const batches of [this.#urgent, this.all]) {
      for (let tried = 0; tried < batches.length; tried++) {
        this.#position = (this.#position + 1) % batches.length;
        const batch = batches[this.#position]!;
        const mail = batch.next(pipelined);
        if (batch.ready.length < REFILL_BELOW) refill(batch);
        if (mail) return mail;
      }
    }
    return undefined;
  }
}
