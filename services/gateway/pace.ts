/** Computes a campaign's speed and remaining time from its recent progress. */
import { isFinished } from "../../models/campaign.ts";
import type { ReturnsOf } from "../contracts.ts";

export type CampaignProgress = ReturnsOf<"campaigns.progress">;

const WINDOW_MS = 10_000;

const doneOf = ({ sent_count: sent, failed_count: failed }: CampaignProgress) => sent + failed;

export class Pace {
  /** Samples of the last ten seconds, oldest first. */
  #noted: { atMs: number; done: number }[] = [];

  note(current: CampaignProgress, atMs = performance.now()): void {
    this.#noted = [...this.#noted.filter((one) => one.atMs >= atMs - WINDOW_MS), { atMs, done: doneOf(current) }];
  }

  /** Adds speed and remaining time, if known. */
  at(current: CampaignProgress): CampaignProgress {
    if (isFinished(current.status)) return { ...current, per_second: 0, seconds_left: 0 };
    const [first, last] = [this.#noted[0], this.#noted.at(-1)];
    const seconds = first && last ? (last.atMs - first.atMs) / 1_000 : 0;
    // Resuming puts failed recipients back, so the count can fall.
    const rate = seconds > 0 ? Math.max(0, (last!.done - first!.done) / seconds) : 0;
    const remaining = current.total_emails - doneOf(current);
    const isKnown = current.status === "sending" && rate > 0;
    return {
      ...current,
      per_second: Math.round(rate * 10) / 10,
      seconds_left: isKnown ? Math.max(0, Math.ceil(remaining / rate)) : null,
    };
  }
}
