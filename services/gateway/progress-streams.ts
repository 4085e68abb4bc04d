/**
 * Streams the progress of a campaign. Viewers of the same campaign in one process share one reader, which queries once
 * a second while anybody watches: a campaign costs one small statement per second and process, however many watch.
 * Viewers are disconnected when they lose access, lag behind or stay for an hour; browsers reconnect by themselves.
 */
import type { CallingOptions } from "moleculer";
import { isFinished } from "../../models/campaign.ts";
import { isServiceError, throttled } from "../lib/errors.ts";
import type { Context } from "./http/context.ts";
import { EventStream } from "./http/event-stream.ts";
import { type CampaignProgress, Pace } from "./pace.ts";

const PAUSE_MS = 1_000;
const RECHECK_MS = 5_000;
/** Time that a viewer may stay connected while the permissions cannot be checked. */
const UNCHECKED_MS = 60_000;
const LONGEST_MS = 60 * 60_000;
/** Failed reads in a row after which the streams end; browsers reconnect to another process. */
const MAX_FAILURES = 30;
const MAX_VIEWERS = 2_000;
const MAX_OF_COMPANY = 500;
const RETRY_SECONDS = 30;
/** Timeout of one read; the next one follows a second later anyway. */
const READ_TIMEOUT_MS = 5_000;

export interface Watch {
  companyId: string;
  /** Viewers with the same key share a reader. */
  key: string;
  read(): Promise<unknown>;
  /** Rejects when this viewer has lost access. */
  allowed(): Promise<unknown>;
}

interface Broker {
  call(action: string, params: unknown, options: CallingOptions): Promise<unknown>;
}

interface WatchRequest {
  companyId: string;
  action: string;
  /** Identify what is watched; equal parameters share a reader. */
  params: Record<string, unknown>;
  allowed: Watch["allowed"];
}

/** The shared reader checks only the company. Each viewer's further permissions are checked by its first call. */
export const feedOf = (broker: Broker, { companyId, action, params, allowed }: WatchRequest): Watch => ({
  companyId,
  key: `${companyId} ${action} ${JSON.stringify(params)}`,
  read: () => broker.call(action, params, { meta: { companyId }, timeout: READ_TIMEOUT_MS }),
  allowed,
});

interface Viewer {
  stream: EventStream;
  allowed: Watch["allowed"];
  checkAtMs: number;
  uncheckedAtMs: number;
  endAtMs: number;
}

const isRefusal = (error: unknown) =>
  (["UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND"] as const).some((code) => isServiceError(error, code));

class Feed {
  readonly companyId: string;
  readonly viewers = new Set<Viewer>();
  readonly #pace = new Pace();
  readonly #read: Watch["read"];
  readonly #onEmpty: () => void;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor({ companyId, read }: Watch, onEmpty: () => void) {
    this.companyId = companyId;
    this.#read = read;
    this.#onEmpty = onEmpty;
    this.#wait();
  }

  add(context: Context, first: CampaignProgress, allowed: Watch["allowed"]): void {
    const now = Date.now();
    const stream = new EventStream(context, () => this.#remove(viewer));
    const viewer: Viewer = {
      stream,
      allowed,
      checkAtMs: now + RECHECK_MS,
      uncheckedAtMs: now + UNCHECKED_MS,
      endAtMs: now + LONGEST_MS,
    };
    if (this.viewers.size === 0) this.#pace.note(first);
    this.viewers.add(viewer);
    this.#show([viewer], first);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const viewer of this.viewers) this.#end(viewer);
  }

  #end(viewer: Viewer): void {
    viewer.stream.end();
    this.#remove(viewer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#look(), PAUSE_MS);
  }

  #remove(viewer: Viewer): void {
    if (!this.viewers.delete(viewer) || this.viewers.size > 0) return;
    clearTimeout(this.#timer);
    this.#onEmpty();
  }

  #show(viewers: Iterable<Viewer>, current: CampaignProgress): void {
    const progress = this.#pace.at(current);
    for (const viewer of viewers) {
      viewer.stream.send("progress", progress);
      if (!isFinished(current.status)) continue;
      viewer.stream.send("end", progress);
      this.#end(viewer);
    }
  }

  async #look(): Promise<void> {
    try {
      const current = (await this.#read()) as CampaignProgress;
      this.#failures = 0;
      this.#pace.note(current);
      this.#show(this.viewers, current);
    } catch (error) {
      this.#failures++;
      if (isRefusal(error) || this.#failures >= MAX_FAILURES) return this.close();
    }
    const now = Date.now();
    for (const viewer of this.viewers) if (viewer.checkAtMs <= now) void this.#check(viewer, now);
    if (this.viewers.size > 0) this.#wait();
  }

  async #check(viewer: Viewer, now: number): Promise<void> {
    viewer.checkAtMs = now + RECHECK_MS;
    try {
      await viewer.allowed();
      viewer.uncheckedAtMs = Date.now() + UNCHECKED_MS;
    } catch (error) {
      if (isRefusal(error)) return this.#end(viewer);
    }
    if (Date.now() > Math.min(viewer.uncheckedAtMs, viewer.endAtMs)) this.#end(viewer);
  }
}

export class ProgressStreams {
  readonly #feeds = new Map<string, Feed>();
  #closed = false;

  #watching(companyId?: string): number {
    const feeds = [...this.#feeds.values()].filter((feed) => companyId === undefined || feed.companyId === companyId);
    return feeds.reduce((sum, { viewers }) => sum + viewers.size, 0);
  }

  /** Starts a stream. Throws 429 if too many watch. `first` is the result of this viewer's own call. */
  open(context: Context, watch: Watch, first: unknown): void {
    if (this.#watching() >= MAX_VIEWERS || this.#watching(watch.companyId) >= MAX_OF_COMPANY) {
      throw throttled(RETRY_SECONDS);
    }
    const feed = this.#feeds.get(watch.key) ?? new Feed(watch, () => this.#feeds.delete(watch.key));
    this.#feeds.set(watch.key, feed);
    feed.add(context, first as CampaignProgress, watch.allowed);
    if (this.#closed) feed.close();
  }

  /** The process stops: viewers reconnect to another one. */
  close(): void {
    this.#closed = true;
    for (const feed of this.#feeds.values()) feed.close();
  }
}
