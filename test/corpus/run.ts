/**
 * Compares the parser's results on public bounce collections with their collectors' verdicts:
 * `npm run test:corpus -- FOLDER [--failures] [--odd | --even]`. FOLDER is a checkout or a folder of checkouts
 * (docs/measurements.md lists them). Prints a table by dialect, and with --failures each difference.
 *
 * found  expected number of recipients, and the right ones if the collection names them
 * kind   hard, soft, block, complaint, ignored as expected, for each recipient
 */
import { existsSync, readFileSync } from "node:fs";
import { readReport } from "../../services/bounces/reports/read-report.ts";
import type { Report, Verdict, VerdictKind } from "../../services/bounces/verdict.ts";
import { type Expected, isHeldOut, type Sample, samplesIn } from "./expectations.ts";

interface Tally {
  mails: number;
  recipients: number;
  found: number;
  kinds: number;
  falseBounces: number;
  complaints: number;
  complaintsFound: number;
}

const empty = (): Tally => ({
  mails: 0,
  recipients: 0,
  found: 0,
  kinds: 0,
  falseBounces: 0,
  complaints: 0,
  complaintsFound: 0,
});
const isIgnored = (kinds: readonly VerdictKind[]) => kinds.length === 1 && kinds[0] === "ignored";

function matchOf(expected: Expected, left: Verdict[]): Verdict | undefined {
  const same = (verdict: Verdict) => verdict.recipient?.toLowerCase() === expected.recipient?.toLowerCase();
  if (expected.recipient) return left.find(same);
  return left.find(({ kind }) => expected.kinds.includes(kind)) ?? left[0];
}

function account(sample: Sample, report: Report, tally: Tally): boolean {
  const left = [...report.verdicts];
  let wrong = false;
  tally.mails += 1;
  for (const expected of sample.expected) {
    const match = matchOf(expected, left) ?? (sample.expected.length === 1 ? left[0] : undefined);
    if (match) left.splice(left.indexOf(match), 1);
    if (!match && isIgnored(expected.kinds)) continue;
    const kind = match !== undefined && expected.kinds.includes(match.kind);
    // The collectors count this mail as either.
    if (match?.kind === "ignored" && kind && !isIgnored(expected.kinds)) continue;
    if (isIgnored(expected.kinds)) {
      tally.falseBounces += kind ? 0 : 1;
      wrong ||= !kind;
      continue;
    }
    // Those who forward complaints usually hide the address.
    if (expected.kinds.includes("complaint") && !expected.recipient) {
      tally.complaints += 1;
      tally.complaintsFound += kind ? 1 : 0;
      wrong ||= !kind;
      continue;
    }
    const found =
      match?.recipient != null &&
      (!expected.recipient || expected.recipient.toLowerCase() === match.recipient.toLowerCase());
    tally.recipients += 1;
    tally.found += found ? 1 : 0;
    tally.kinds += kind ? 1 : 0;
    wrong ||= !found || !kind;
  }
  return !wrong;
}

const percent = (part: number, whole: number) => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`);
const cell = (value: unknown, width: number) => String(value).padStart(width);

function print(title: string, rows: Map<string, Tally>): void {
  console.log(
    `\n${title.padEnd(34)}${["mails", "recipients", "found", "kind", "false bounces", "complaints"].map((name) => cell(name, 14)).join("")}`,
  );
  for (const [name, { mails, recipients, found, kinds, falseBounces, complaints, complaintsFound }] of [...rows].sort(
    ([one], [other]) => one.localeCompare(other),
  )) {
    const cells = [
      mails,
      recipients,
      percent(found, recipients),
      percent(kinds, recipients),
      falseBounces,
      percent(complaintsFound, complaints),
    ];
    console.log(name.padEnd(34) + cells.map((value) => cell(value, 14)).join(""));
  }
}

async function main(): Promise<void> {
  const [folder, ...options] = process.argv.slice(2);
  if (!folder || !existsSync(folder)) {
    process.stderr.write("Usage: npm run test:corpus -- FOLDER [--failures] [--odd | --even]\n");
    process.exit(64);
  }
  const byDialect = new Map<string, Tally>();
  const totals = new Map<string, Tally>();
  for (const sample of samplesIn(folder)) {
    const heldOut = isHeldOut(sample);
    if (options.includes("--odd") && heldOut) continue;
    if (options.includes("--even") && !heldOut) continue;
    const report = await readReport(readFileSync(sample.file));
    const tallies = [
      [byDialect, `${sample.collection} ${sample.dialect}`],
      [totals, sample.collection],
      [totals, heldOut ? "~ even numbers" : "~ odd numbers"],
      [totals, "~ all"],
    ] as const;
    let right = true;
    for (const [table, name] of tallies) {
      const tally = table.get(name) ?? empty();
      right = account(sample, report, tally);
      table.set(name, tally);
    }
    if (!right && options.includes("--failures")) {
      console.log(sample.file);
      console.log(
        `  expected ${sample.expected.map(({ kinds, recipient }) => `${kinds.join("|")} ${recipient ?? ""}`).join("; ")}`,
      );
      for (const { kind, reason, recipient, statusCode, diagnostic } of report.verdicts.slice(0, 5)) {
        console.log(`  ${report.dialect}: ${kind} ${reason} ${recipient} ${statusCode} ${diagnostic?.slice(0, 160)}`);
      }
    }
  }
  print("dialect", byDialect);
  print("collection", totals);
}

await main();
