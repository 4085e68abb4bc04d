/**
 * Takes the tokens of a batch: from the company's hourly limit and, during warm-up, from the configuration's daily
 * limit. A recipient needs one of each for the email and for each copy. Copies that are retried individually need daily
 * tokens, too: on another day they would exceed its limit.
 */
import { performance } from "node:perf_hooks";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { Day, HourGrant, HourToken, HourTokens } from "./hour-limit.ts";
import { type DayGrant, giveOfDay, takeOfDay } from "./warmup-ledger.ts";

type Campaign = Pick<ClaimableCampaign, "company_id" | "smtp_config_id">;

const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0);

/** Number of leading recipients that fit. */
function fitting(wanted: readonly number[], available: number): number {
  let remaining = available;
  let n = 0;
  while (n < wanted.length && wanted[n]! <= remaining) remaining -= wanted[n++]!;
  return n;
}

export class DayTokens implements HourTokens {
  readonly #hour: HourTokens;
  readonly #campaign: Campaign;
  readonly #warmup: () => Warmup | null;

  /** `warmup`: the configuration's current warm-up. */
  constructor(hour: HourTokens, campaign: Campaign, warmup: () => Warmup | null) {
    this.#hour = hour;
    this.#campaign = campaign;
    this.#warmup = warmup;
  }

  async take(mails: readonly number[]): Promise<HourGrant> {
    const warmup = this.#warmup();
    if (!warmup) return this.#hour.take(mails);
    // An email with more copies than a whole day allows takes the full day, because it would otherwise wait forever.
    const wanted = mails.map((n) => Math.min(n, warmup.until_per_day));
    const atMs = performance.now();
    const day = await takeOfDay(this.#campaign, sum(wanted));
    return day ? this.#within(day, mails, wanted, atMs) : this.#hour.take(mails);
  }

  async #within(day: DayGrant, mails: readonly number[], wanted: readonly number[], atMs: number): Promise<HourGrant> {
    const n = fitting(wanted, day.granted);
    const grant = await this.#ofHour(mails.slice(0, n)).catch(async (error) => {
      await this.#giveBack(day.day, day.granted);
      throw error;
    });
    await this.#giveBack(day.day, day.granted - sum(wanted.slice(0, grant.tokens.length)));
    const until = atMs + day.lifeMs;
    const tokens = grant.tokens.map((token, i) => ({ ...token, ofDay: { day: day.day, mails: wanted[i]!, until } }));
    if (tokens.length < n) return { tokens, retryAfterMs: grant.retryAfterMs };
    if (n < mails.length) return { tokens, retryAfterMs: Math.max(1, day.leftMs), waitsForDay: true };
    return { tokens, retryAfterMs: 0 };
  }

  async #ofHour(mails: readonly number[]): Promise<HourGrant> {
    return mails.length === 0 ? { tokens: [], retryAfterMs: 0 } : this.#hour.take(mails);
  }

  /** Tokens that cannot be returned are lost for that day. */
  async #giveBack(day: Day, mails: number): Promise<void> {
    if (mails > 0) await giveOfDay(this.#campaign, day, mails).catch(() => {});
  }

  async giveBack(...tokens: readonly HourToken[]): Promise<void> {
    const days = tokens.flatMap(({ ofDay }) => ofDay ?? []);
    const given = days.length === 0 ? undefined : this.#giveBack(days[0]!.day, sum(days.map(({ mails }) => mails)));
    await Promise.all([this.#hour.giveBack(...tokens), given]);
  }

  #isOfToday({ ofDay }: HourToken): boolean {
    return ofDay === undefined || performance.now() < ofDay.until;
  }

  isFresh(token: HourToken): boolean {
    return this.#hour.isFresh(token) && this.#isOfToday(token);
  }

  isValid(token: HourToken): boolean {
    return this.#hour.isValid(token) && this.#isOfToday(token);
  }
}
