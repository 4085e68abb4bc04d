/**
 * The batches of one server. Connections take from transactional ones first, then from each in turn, so that a campaign
 * of a hundred does not wait for one of a million. How many recipients a batch may prepare is decided here, too.
 */
import type { Batch } from "../delivery/batch.ts";
import type { Mail } from "../delivery/mail.ts";

/** A campaign prepares no less than this part of its fair share at once: fewer are not worth the two statements. */
const GROUPS_PER_SHARE = 4;
/** A node prepares and marks recipients in groups of at most so many, because each group costs two statements. */
const MAX_GROUP = 100;
/** A batch that has more ready prepares no further group yet: groups are larger then, and each costs a statement. */
const REFILL_BELOW = MAX_GROUP / 2;

interface Capacity {
  /** Recipients that the server may hold. */
  window: number;
  /** Recipients that all batches hold, without those whose results are promised. */
  held: number;
  /** Ready in the batch, for connections of their domain alone. */
  waiting: number;
  /** A connection has nothing to do, and the batch nothing ready for it. */
  connectionIdle: boolean;
}

/** A campaign's chunks go one after the other, so that the second one is still whole when the first one ends. */
const waitsForPrevious = ({ previous }: Batch): boolean => previous?.state === "open" && !previous.source.exhausted;

export class BatchQueue {
  readonly all: Batch[] = [];
  #urgent: readonly Batch[] = [];
  /** How many campaigns they belong to; the due copies of one count as another, so that neither holds up the other. */
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
    for (const other of this.all) if (other.previous === batch) other.previous = undefined;
    if (this.#preparedLast === batch) this.#preparedLast = this.all[at - 1];
    this.#count();
  }

  #count(): void {
    this.#urgent = this.all.filter(({ campaign }) => campaign.is_transactional);
    this.#campaigns = new Set(
      this.all.map(({ kind, campaign }) => `${kind === "copies"} ${campaign.campaign_id}`),
    ).size;
  }

  /** All batches in rotation, beginning behind the one that prepared last. */
  get inTurn(): readonly Batch[] {
    const at = this.#preparedLast ? this.all.indexOf(this.#preparedLast) + 1 : 0;
    return [...this.all.slice(at), ...this.all.slice(0, at)];
  }

  /** Transactional mail is outside the rotation. */
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
   * How many recipients the batch may prepare now. Campaigns have equal shares of the window; transactional mail waits
   * for none of the others.
   */
  allowance(batch: Batch, { window, held, waiting, connectionIdle }: Capacity): number {
    if (batch.ready.length >= REFILL_BELOW || waitsForPrevious(batch)) return 0;
    const fairShare = Math.ceil(window / this.#campaigns);
    const urgent = batch.campaign.is_transactional;
    const unsettled = batch.unrecorded - batch.promised - waiting;
    const room = urgent ? window - unsettled : Math.min(window - held, fairShare - unsettled);
    const starving = connectionIdle || (urgent && batch.ready.length === waiting);
    const minGroup = starving ? 1 : Math.max(1, Math.floor(fairShare / GROUPS_PER_SHARE));
    return room < minGroup ? 0 : Math.min(room, MAX_GROUP);
  }

  /** `pipelined`: its connection has another one under way. `refill`: called with batches that have few mails ready. */
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
