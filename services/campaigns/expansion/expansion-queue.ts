/**
 * Decides which campaign's next slice of recipients is written. Two queues run side by side, so that a list of a million
 * never holds up a receipt: campaigns with inline receivers and transactional ones in `quick`, all other lists in `bulk`.
 * Within a queue each campaign gets one slice per round. The first slice of a new campaign waits for neither queue.
 */
import type { ServiceBroker } from "moleculer";
import pLimit from "p-limit";
import { query } from "../../../models/database/db.ts";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { expandSlice, failExpansion } from "./expand.ts";

type Queue = "quick" | "bulk";

/** Slices, and so connections, of each queue at the same time; the process's pool serves the API, too. */
const MAX_CONCURRENT: Record<Queue, number> = { quick: 2, bulk: 1 };
const MAX_CONCURRENT_FIRST_SLICES = 3;
/** Of one company: another one's receipt finds a free one. */
const MAX_CONCURRENT_FIRST_SLICES_OF_ONE = 2;
/** After that the campaign waits for the repeated run. */
const MAX_WAIT_FOR_FIRST_SLICE_MS = 10_000;
/** A run of the repeating action ends after this time and continues with the next. */
const MAX_RUN_MS = 10_000;

interface Waiting {
  id: string;
  company_id: string;
  is_transactional: boolean;
}

const IS_WAITING = "expanded_at is null and status in ('pending', 'sending')";

// Each company's first before anybody's second: one that has a thousand campaigns waits for itself.
const WAITING = `select id, company_id, is_transactional from campaigns
  where ${IS_WAITING}
    and (campaign_type <> 'to_list' or is_transactional) = $1
  order by is_transactional desc, row_number() over (partition by company_id, is_transactional order by id), id limit 200`;

const COMPANY_OF = "select id, company_id, is_transactional from campaigns where id = $1 and expanded_at is null";

/** SQLSTATE classes 22 and 42: the statement or its data are wrong, and will be the next time, too. */
export const isPermanent = (error: unknown) => /^(22|42)[0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code));

/** What goes side by side: transactional campaigns, and each company's newsletters one after the other. */
const lines = (waiting: readonly Waiting[]): Waiting[][] => [
  ...Map.groupBy(waiting, (one) => (one.is_transactional ? one.id : one.company_id)).values(),
];

export class ExpansionQueue {
  readonly #broker: ServiceBroker;
  /** By company, so that a thousand sends of one do not hold up another's receipt. */
  readonly #firstSlices = new ConcurrencyLimit({
    total: MAX_CONCURRENT_FIRST_SLICES,
    perCompany: MAX_CONCURRENT_FIRST_SLICES_OF_ONE,
  });
  #running: Promise<number> | undefined;
  #runAgain = false;

  constructor(broker: ServiceBroker) {
    this.#broker = broker;
  }

  /**
   * Expands all waiting campaigns; returns the number of slices written. A call while a run is under way joins it and
   * makes it look once more at its end: it may already have passed the campaign that this call is about.
   */
  expandWaiting(): Promise<number> {
    this.#runAgain = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** For a campaign that has just become pending: its first slice now, the rest in rounds. */
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
    const writeSlices = async (line: readonly Waiting[]) => {
      let written = 0;
      for (const one of line) {
        if (isOver()) break;
        if (await writeSlice(one)) written++;
      }
      return written;
    };
    let slices = 0;
    for (;;) {
      const waiting = await query<Waiting>(WAITING, [queue === "quick"]);
      const round = await Promise.all(lines(waiting).map(writeSlices));
      const written = round.reduce((sum, n) => sum + n, 0);
      slices += written;
      // Nothing written: all is done, or other nodes are working on what is left.
      if (written === 0 || isOver()) return slices;
    }
  }

  /** A campaign whose slice fails must not hold up the others. It is tried again, unless the error is permanent. */
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
