/**
 * Schedules the expansion of campaigns. Two queues run in parallel, so that a list of a million never delays a receipt:
 * transactional campaigns and those with inline receivers in `quick`, all other lists in `bulk`. Each campaign gets one
 * slice per round. The first slice of a new campaign bypasses both queues.
 */
import type { ServiceBroker } from "moleculer";
import pLimit from "p-limit";
import { query } from "../../../models/database/db.ts";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { expandSlice, failExpansion } from "./expand.ts";

type Queue = "quick" | "bulk";

/** Concurrent slices (and so connections) per queue; the API uses the same pool. */
const MAX_CONCURRENT: Record<Queue, number> = { quick: 2, bulk: 1 };
const MAX_CONCURRENT_FIRST_SLICES = 3;
/** Per company, so that another company's receipt finds a free slot. */
const MAX_CONCURRENT_FIRST_SLICES_PER_COMPANY = 2;
/** Wait after which the campaign is left to the periodic run. */
const MAX_WAIT_FOR_FIRST_SLICE_MS = 10_000;
/** A periodic run ends after this time; the next one continues. */
const MAX_RUN_MS = 10_000;

interface Waiting {
  id: string;
  company_id: string;
  is_transactional: boolean;
}

const IS_WAITING = "expanded_at is null and status in ('pending', 'sending')";

// Round robin over companies, so that one with a thousand campaigns delays only itself.
const WAITING = `select id, company_id, is_transactional from campaigns
  where ${IS_WAITING}
    and (campaign_type <> 'to_list' or is_transactional) = $1
  order by is_transactional desc, row_number() over (partition by company_id, is_transactional order by id), id limit 200`;

const COMPANY_OF = "select id, company_id, is_transactional from campaigns where id = $1 and expanded_at is null";

/** SQLSTATE classes 22 and 42: the statement or its data are wrong, so a retry cannot succeed. */
export const isPermanent = (error: unknown) => /^(22|42)[0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code));

/** Transactional campaigns run in parallel; newsletters of one company run one after the other. */
const sequences = (waiting: readonly Waiting[]): Waiting[][] => [
  ...Map.groupBy(waiting, (one) => (one.is_transactional ? one.id : one.company_id)).values(),
];

export class ExpansionQueue {
  readonly #broker: ServiceBroker;
  /** Limited per company, so that a thousand sends of one do not delay another's receipt. */
  readonly #firstSlices = new ConcurrencyLimit({
    total: MAX_CONCURRENT_FIRST_SLICES,
    perCompany: MAX_CONCURRENT_FIRST_SLICES_PER_COMPANY,
  });
  #running: Promise<number> | undefined;
  #runAgain = false;

  constructor(broker: ServiceBroker) {
    this.#broker = broker;
  }

  /**
   * Expands all waiting campaigns and returns the number of slices written. A call during a run joins it and makes it
   * repeat, because it may already have passed the new campaign.
   */
  expandWaiting(): Promise<number> {
    this.#runAgain = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Writes the first slice of a new campaign now and leaves the others to the rounds. */
  async expandNow(campaignId: string): Promise<void> {
    const [campaign] = await query<Waiting>(COMPANY_OF, [campaignId]);
    if (!campaign) return;
    const wait = { atMostMs: MAX_WAIT_FOR_FIRST_SLICE_MS };
    const outcome = await this.#firstSlices
      .run(campaign.company_id, () => this.#expandOne(campaign), wait)
      .catch(() => "nothing");
    if (outcome === "more") await this.expandWaiting();
  }

  async #run(): Promise<number> {
    const until = Date.now() + MAX_RUN_MS;
    let slices = 0;
    do {
      this.#runAgain = false;
      const [quick, bulk] = await Promise.all([this.#runQueue("quick", until), this.#runQueue("bulk", until)]);
      slices += quick + bulk;
    } while (this.#runAgain && !this.#broker.stopping && Date.now() < until);
    return slices;
  }

  async #runQueue(queue: Queue, until: number): Promise<number> {
    const isOver = () => this.#broker.stopping || Date.now() > until;
    const slot = pLimit(MAX_CONCURRENT[queue]);
    const writeSlice = (one: Waiting) => slot(async () => !isOver() && (await this.#expandOne(one)) !== "nothing");
    const writeSlices = async (sequence: readonly Waiting[]) => {
      let written = 0;
      for (const one of sequence) {
        if (isOver()) break;
        if (await writeSlice(one)) written++;
      }
      return written;
    };
    let slices = 0;
    for (;;) {
      const waiting = await query<Waiting>(WAITING, [queue === "quick"]);
      const round = await Promise.all(sequences(waiting).map(writeSlices));
      const written = round.reduce((sum, n) => sum + n, 0);
      slices += written;
      // Ends if nothing was written: everything is done, or other nodes hold the remaining campaigns.
      if (written === 0 || isOver()) return slices;
    }
  }

  /** Logs failures, so that one campaign does not block others. It is retried unless the error is permanent. */
  async #expandOne({ id: campaignId, company_id: owner }: Waiting) {
    try {
      return await expandSlice(this.#broker, campaignId, owner);
    } catch (error) {
      this.#broker.logger.error(
        `Recipients of campaign ${campaignId} could not be written: ${(error as Error).message}`,
      );
      if (isPermanent(error)) await failExpansion(this.#broker, campaignId);
      return "nothing";
    }
  }
}
