/**
 * What is learnt of one recipient domain that defers: how much may go to it. Pure; all lengths are parts of a window, which
 * is the minute by which most providers count.
 *
 * Each deferral holds the domain back for a while, longer each time until it takes a mail again. One that comes after mails
 * were accepted says that the rate was too high: it is the ceiling, and seven tenths of it are used. From there the rate
 * doubles in each window, and near the ceiling it grows by a twentieth of that in each: a limit that was lifted is found out,
 * and one that was not costs a deferral every few minutes. After half an hour without one the domain is forgotten.
 *
 * It begins with seven tenths of the most that was accepted within a window of late: that is what a limit lets through, and
 * a server that deferred everything for a moment goes on as before. If a limit has become lower since, the first deferral
 * after mails were accepted shows it, and says nothing else: from there it begins as with a domain of which nothing is known.
 *
 * Where a few mails are accepted and the next one is deferred, again and again and at whatever rate, the rate is not the reason
 * (one server of four that is ill, greylisting by another name), and slowing down would only delay all (`isInVain`).
 */
export interface SlowDomain {
  /** Mails in a window, when it was last changed. */
  rate: number;
  /** The rate at which it last deferred; null: not known. */
  ceiling: number | null;
  /** Deferrals since the last mail that it accepted. */
  deferredInARow: number;
  /** Times in a row that it took a few mails and then deferred again. */
  inVainInARow: number;
  /** Its rate is what was accepted before; no deferral since says anything of it. */
  isFromBefore?: boolean;
  /** By the clock of the wall: other nodes read it. */
  changedAtMs: number;
  heldUntilMs: number;
  /** What it says, without what differs from mail to mail. */
  text: string;
}

const FIRST_RATE = 30;
const MIN_RATE = 2;
/** Nobody limits to so many in a minute. */
const MAX_RATE = 60_000;
const LESS = 0.7;
/** Up to this part of the ceiling the rate doubles. */
const NEAR = 0.85;
const GROWTH_NEAR = 0.05;
/** In windows. */
const FIRST_HOLD = 1 / 6;
const MAX_HOLD = 5;
const FORGOTTEN_AFTER = 30;
/** A limit of ten a minute or more that was learnt is met after more mails than this. */
const FEW_MAILS = 25;
const MAX_IN_VAIN = 5;

/** `accepted`: most mails that it took within a window of late. */
export const slowDomain = (text: string, nowMs: number, windowMs: number, accepted = 0): SlowDomain => ({
  rate: Math.max(FIRST_RATE, LESS * accepted),
  isFromBefore: LESS * accepted > FIRST_RATE,
  ceiling: null,
  deferredInARow: 1,
  inVainInARow: 0,
  changedAtMs: nowMs,
  heldUntilMs: nowMs + FIRST_HOLD * windowMs,
  text,
});

/** Mails in a window now. */
export function rateOf({ rate, ceiling, heldUntilMs }: SlowDomain, nowMs: number, windowMs: number): number {
  const windows = Math.max(0, nowMs - heldUntilMs) / windowMs;
  const doubled = rate * 2 ** windows;
  if (ceiling === null) return Math.min(MAX_RATE, doubled);
  const near = Math.max(rate, NEAR * ceiling);
  if (doubled <= near) return doubled;
  return Math.min(MAX_RATE, near + GROWTH_NEAR * ceiling * (windows - Math.log2(near / rate)));
}

/** The same in mails a minute, as people read it. */
export const perMinuteOf = (slow: SlowDomain, nowMs: number, windowMs: number): number =>
  Math.round((rateOf(slow, nowMs, windowMs) * 60_000) / windowMs);

/** Mails that it was sent since the last change: by rate and time, since other nodes send, too. */
const sentSince = (domain: SlowDomain, nowMs: number, windowMs: number): number =>
  (((domain.rate + rateOf(domain, nowMs, windowMs)) / 2) * Math.max(0, nowMs - domain.heldUntilMs)) / windowMs;

/** It deferred a mail that was handed over after the last change. */
export function deferredAgain(domain: SlowDomain, text: string, nowMs: number, windowMs: number): SlowDomain {
  const taken = domain.deferredInARow === 0;
  if (taken && domain.isFromBefore && sentSince(domain, nowMs, windowMs) < FEW_MAILS)
    return { ...slowDomain(text, nowMs, windowMs), inVainInARow: domain.inVainInARow };
  const rate = rateOf(domain, nowMs, windowMs);
  const deferredInARow = domain.deferredInARow + 1;
  const few = sentSince(domain, nowMs, windowMs) < FEW_MAILS;
  const inVainInARow = taken ? (few ? domain.inVainInARow + 1 : 0) : domain.inVainInARow;
  const hold = Math.min(MAX_HOLD, FIRST_HOLD * 2 ** (deferredInARow - 1));
  return {
    rate: taken ? Math.max(MIN_RATE, LESS * rate) : domain.rate,
    ceiling: taken ? rate : domain.ceiling,
    deferredInARow,
    inVainInARow,
    isFromBefore: domain.isFromBefore === true && !taken,
    changedAtMs: nowMs,
    heldUntilMs: nowMs + hold * windowMs,
    text,
  };
}

export const isInVain = ({ inVainInARow }: SlowDomain): boolean => inVainInARow >= MAX_IN_VAIN;

/** For how long a domain that was slowed in vain is left alone, in windows. */
export const LEFT_ALONE = FORGOTTEN_AFTER;

export const isForgotten = (domain: SlowDomain, nowMs: number, windowMs: number): boolean =>
  nowMs - domain.changedAtMs > FORGOTTEN_AFTER * windowMs || rateOf(domain, nowMs, windowMs) >= MAX_RATE;
