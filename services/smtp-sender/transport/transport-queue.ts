/**
 * The lanes of one relay. Connections take from transactional ones first, then from each in turn, so that a campaign of a
 * hundred does not wait for one of a million.
 */

import type { BatchDelivery } from "../delivery/batch-delivery.ts";
import type { PreparedMail } from "../delivery/prepared-mail.ts";
import { MAX_GROUP } from "./room.ts";

export class TransportQueue {
  readonly all: BatchDelivery[] = [];
  /** How many campaigns they belong to. */
  campaigns = 0;
  #turn = 0;

  add(lane: BatchDelivery): void {
    const { campaign_id } = lane.campaign;
    if (lane.chunk) lane.previous = this.all.findLast((one) => one.chunk && one.campaign.campaign_id === campaign_id);
    this.all.push(lane);
    this.#count();
  }

  remove(lane: BatchDelivery): void {
    const at = this.all.indexOf(lane);
    if (at >= 0) this.all.splice(at, 1);
    for (const other of this.all) if (other.previous === lane) other.previous = undefined;
    this.#count();
  }

  #count(): void {
    this.campaigns = new Set(this.all.map(({ campaign: turn }) => turn.campaign_id)).size;
  }

  /** Recipients that connections could be sending to. */
  get work(): number {
    let work = 0;
    for (const lane of this.all) if (lane.state === "open") work += lane.left;
    return work;
  }

  get anyReady(): boolean {
    return this.all.some((lane) => lane.ready.length > 0);
  }

  next(): PreparedMail | undefined {
    for (;;) {
      const urgent = this.all.filter((lane) => lane.campaign.is_transactional);
      const job = this.#nextOf(urgent) ?? this.#nextOf(this.all);
      // A lease may run out while a mail waits for a slow connection.
      if (!job || job.batch.source.stillOurs(job.row)) return job;
      job.batch.again(job);
      job.batch.leaseLost();
    }
  }

  #nextOf(lanes: readonly BatchDelivery[]): PreparedMail | undefined {
    for (let tried = 0; tried < lanes.length; tried++) {
      this.#turn = (this.#turn + 1) % lanes.length;
      const lane = lanes[this.#turn]!;
      const job = lane.next();
      if (lane.ready.length < MAX_GROUP / 2) lane.fill();
      if (job) return job;
    }
    return undefined;
  }
}
