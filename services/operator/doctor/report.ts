/** The findings as a terminal shows them, and as an exit code. */
import { fitted, shown } from "../table.ts";
import type { Finding } from "./finding.ts";

/** As monitoring plugins do it: 0 all is well, 1 something should be looked at, 2 something is broken. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ state }) => state === "fail")) return 2;
  return findings.some(({ state }) => state === "warn") ? 1 : 0;
}

/** A line each, area by area; under what is not well stands what to do. The last line counts. */
export function reportOf(findings: readonly Finding[]): string {
  const width = (of: (finding: Finding) => string) => Math.max(0, ...findings.map((finding) => of(finding).length));
  const areaWidth = width(({ area }) => area);
  const checkWidth = width(({ check }) => check);
  const lines = findings.flatMap(({ area, check, state, found, advice }) => [
    `${state.padEnd(4)}  ${fitted(area, areaWidth)}  ${fitted(check, checkWidth)}  ${shown(found)}`.trimEnd(),
    ...(advice ? [`      → ${shown(advice)}`] : []),
  ]);
  const count = (wanted: Finding["state"]) => findings.filter(({ state }) => state === wanted).length;
  return [...lines, "", `${count("ok")} ok, ${count("warn")} to look at, ${count("fail")} broken`].join("\n");
}
