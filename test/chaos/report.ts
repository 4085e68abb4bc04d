/** Reports a run as tables for people and as a list of broken promises for the test. */
import type { Account } from "./account.ts";
import type { AppliedFault } from "./faults.ts";
import { sparedBy } from "./kinds.ts";
import type { Ledger } from "./ledger.ts";
import { MAIL_KINDS } from "./ledger.ts";
import { longestWithin, type Span, type Watched } from "./watch.ts";

/**
 * Limits of a run. Seconds count from the start of a fault that spares the ability, and from the end of any other; for
 * two simultaneous faults only counts are checked.
 */
export const BOUNDS = {
  marketingDoubled: 0,
  mailsLost: 0,
  campaignsUnended: 0,
  campaignsMiscounted: 0,
  importsIncomplete: 0,
  webhooksMissing: 0,
  hitsMissing: 0,
  mailsOverLimit: 0,
  /** Longest time without a sent newsletter although some were waiting. */
  stallSeconds: 12,
  apiErrorSeconds: 10,
};

/** A mail that arrived this shortly before a fault may have lost its answer to it. */
const ANSWER_MS = 500;
/** Consequences are searched until the next fault, at most this long after the end. */
const AFTER_MS = 30_000;
/** Usual gap between newsletters of this load; one that is late because of a fault may have been due before it. */
const USUAL_GAP_MS = 2_000;

export interface Run {
  seeds: readonly number[];
  minutes: number;
  applied: readonly AppliedFault[];
  ledger: Ledger;
  watched: Watched;
  account: Account;
  settledAfterMs: number;
  deaths: readonly string[];
  /** Processes that did not become ready after recovery. */
  missing: readonly string[];
}

interface FaultEffect {
  fault: AppliedFault;
  stallMs: number;
  apiMs: number;
  /** The stall beyond the fault's own duration, for faults that spare nothing. */
  stallBeyondMs: number;
  apiBeyondMs: number;
  alone: boolean;
}

function effectsOf({ applied, watched }: Run): FaultEffect[] {
  return applied.map((fault) => {
    const next = Math.min(...applied.filter(({ fromMs }) => fromMs > fault.toMs).map(({ fromMs }) => fromMs));
    const span: Span = { fromMs: fault.fromMs, toMs: Math.min(fault.toMs + AFTER_MS, next) };
    const healed: Span = { fromMs: fault.toMs, toMs: span.toMs };
    const spared = sparedBy(fault.target);
    // Stalls that began under the previous fault are its effect: after an outage of the mail server, the retry pause
    // may be as long as the outage.
    const stalls = watched.stalls.filter((stall) => stall.fromMs > fault.fromMs - USUAL_GAP_MS);
    const alone = !applied.some((other) => other !== fault && other.fromMs < fault.toMs && other.toMs > fault.fromMs);
    return {
      fault,
      alone,
      stallMs: longestWithin(stalls, span),
      apiMs: longestWithin(watched.apiErrors, span),
      stallBeyondMs: longestWithin(stalls, spared.sending ? span : healed),
      apiBeyondMs: longestWithin(watched.apiErrors, spared.api ? span : healed),
    };
  });
}

/** Attributes a mail to the last fault that began before its first copy was answered, or before it was requested. */
function faultOf(applied: readonly AppliedFault[], atMs: number | undefined): string {
  const before = atMs === undefined ? [] : applied.filter(({ fromMs }) => fromMs <= atMs + ANSWER_MS);
  return before.at(-1)?.kind ?? "unknown time";
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);
const some = (all: readonly string[]) =>
  (all.length > 5 ? [...all.slice(0, 5), `… ${all.length} in all`] : all).join("; ");

/** The broken promises in words; tests expect none. */
export function broken(run: Run): string[] {
  const { account, ledger } = run;
  const { mail, webhooks } = account;
  const marketing = [...mail.newsletter.doubled, ...mail.limited.doubled];
  const lost = MAIL_KINDS.flatMap((kind) => mail[kind].lost);
  const counts: [found: readonly string[], bound: number, what: string][] = [
    [lost, BOUNDS.mailsLost, "mails lost"],
    [marketing, BOUNDS.marketingDoubled, "marketing mails doubled"],
    [account.unended, BOUNDS.campaignsUnended, "campaigns that did not end"],
    [account.miscounted, BOUNDS.campaignsMiscounted, "campaigns whose counters disagree with their rows"],
    [account.incompleteImports, BOUNDS.importsIncomplete, "imports that are incomplete"],
    [webhooks.missing, BOUNDS.webhooksMissing, "webhooks that never came"],
    [account.hitsMissing, BOUNDS.hitsMissing, "opens and clicks that were answered and not stored"],
    [ledger.refusals, 0, "requests that were refused or never answered"],
  ];
  const over = account.mostInWindow - account.limit;
  const times = effectsOf(run)
    .filter(({ alone }) => alone)
    .flatMap(({ fault, stallBeyondMs, apiBeyondMs }) => [
      ...(stallBeyondMs > BOUNDS.stallSeconds * 1_000
        ? [`no newsletter left for ${seconds(stallBeyondMs)} s: ${named(fault)}`]
        : []),
      ...(apiBeyondMs > BOUNDS.apiErrorSeconds * 1_000
        ? [`the API failed for ${seconds(apiBeyondMs)} s: ${named(fault)}`]
        : []),
    ]);
  return [
    ...counts
      .filter(([found, bound]) => found.length > bound)
      .map(([found, , what]) => `${found.length} ${what}: ${some(found)}`),
    ...(over > BOUNDS.mailsOverLimit
      ? [`${account.mostInWindow} mails in a window whose limit is ${account.limit}`]
      : []),
    ...(webhooks.unsettled > 0 ? [`${webhooks.unsettled} webhook deliveries that did not succeed`] : []),
    ...run.missing.map((text) => `not ready again: ${text}`),
    ...times,
  ];
}

const named = ({ no, kind, target, durationMs }: AppliedFault) =>
  `fault ${no}, ${kind}, ${target}, ${seconds(durationMs)} s`;

function table(head: string[], rows: (string | number)[][]): string {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...all.slice(1).map(line)].join("\n");
}

function mailTable({ account }: Run): string {
  const rows = MAIL_KINDS.map((kind) => {
    const { asked, delivered, lost, doubled, unknown, unknownDelivered, failed } = account.mail[kind];
    return [
      kind,
      asked,
      delivered,
      lost.length,
      doubled.length,
      `${unknown.length} (${unknownDelivered} delivered)`,
      failed.length,
    ];
  });
  return table(["mail", "asked for", "delivered", "lost", "doubled", "in doubt", "failed"], rows);
}

function faultTable(run: Run): string {
  const { account, ledger, applied } = run;
  const by = (addresses: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const address of addresses) {
      const kind = faultOf(applied, ledger.arrivals.get(address)?.[0] ?? ledger.askedAt.get(address));
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
  };
  const doubled = by(MAIL_KINDS.flatMap((kind) => account.mail[kind].doubled));
  const unknown = by(MAIL_KINDS.flatMap((kind) => account.mail[kind].unknown));
  const effects = Map.groupBy(effectsOf(run), ({ fault }) => fault.kind);
  const longest = (all: FaultEffect[], of: (effect: FaultEffect) => number) =>
    seconds(Math.max(0, ...all.filter(({ alone }) => alone).map(of)));
  const rows = [...effects]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([kind, all]) => [
      kind,
      all.length,
      doubled.get(kind) ?? 0,
      unknown.get(kind) ?? 0,
      `${longest(all, ({ stallMs }) => stallMs)} (${longest(all, ({ stallBeyondMs }) => stallBeyondMs)})`,
      `${longest(all, ({ apiMs }) => apiMs)} (${longest(all, ({ apiBeyondMs }) => apiBeyondMs)})`,
    ]);
  return table(
    ["fault", "times", "doubled", "in doubt", "longest stall, s (counted)", "API errors, s (counted)"],
    rows,
  );
}

export function reportText(run: Run): string {
  const { account, seeds, minutes, applied, watched, deaths } = run;
  const { webhooks } = account;
  const failures = broken(run);
  return [
    `Chaos, seed ${seeds}, ${minutes.toFixed(2)} minutes, ${applied.length} faults; settled ${seconds(run.settledAfterMs)} s after the last was healed.`,
    mailTable(run),
    faultTable(run),
    `Limit: ${account.mostInWindow} of ${account.limit} in the fullest window. Webhooks: ${webhooks.wanted} wanted, ${webhooks.missing.length} never came, ${webhooks.repeated} came again. ` +
      `Imports: ${run.ledger.imports.length}, ${account.incompleteImports.length} incomplete. Opens and clicks: ${run.ledger.opened.size + run.ledger.clicked.size} answered, ${account.hitsMissing.length} not stored.`,
    `API errors: ${[...watched.apiErrorsBy].map(([what, n]) => `${n} × ${what}`).join(", ") || "none"}. This process was late by ${watched.worstLagMs.toFixed(0)} ms at most.`,
    ...(deaths.length > 0 ? [`Processes that ended by themselves:\n  ${deaths.join("\n  ")}`] : []),
    failures.length === 0 ? "All as promised." : `Not as promised:\n  ${failures.join("\n  ")}`,
    "",
  ].join("\n\n");
}
