/** Renders findings for a terminal and as an exit code. */
import { fitted, withoutControls } from "../table.ts";
import type { Finding } from "./finding.ts";

/** Follows monitoring plugins: 0 ok, 1 warnings, 2 failures. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ state }) => state === "fail")) return 2;
  return findings.some(({ state }) => state === "warn") ? 1 : 0;
}

const SEVERITY: Finding["state"][] = ["fail", "warn", "ok"];

/**
 * Formats one line per finding, problems first and with advice; findings that are ok only with `all`. Ends with a
 * count.
 */
export function reportOf(found: readonly Finding[], all: boolean): string {
  const findings = SEVERITY.filter((state) => all || state !== "ok").flatMap((wanted) =>
    found.filter(({ state }) => state === wanted),
  );
  const width = (textOf: (finding: Finding) => string) =>
    Math.max(0, ...findings.map((finding) => textOf(finding).length));
  const areaWidth = width(({ area }) => area);
  const checkWidth = width(({ check }) => check);
  const lines = findings.flatMap(({ area, check, state, found, advice }) => [
    `${state.padEnd(4)}  ${fitted(area, areaWidth)}  ${fitted(check, checkWidth)}  ${withoutControls(found)}`.trimEnd(),
    ...(advice ? [`      → ${withoutControls(advice)}`] : []),
  ]);
  const count = (wanted: Finding["state"]) => found.filter(({ state }) => state === wanted).length;
  const more = all || count("ok") === 0 ? "" : " (--all lists them)";
  const counts = `${count("fail")} fail, ${count("warn")} warn, ${count("ok")} ok${more}`;
  return [...lines, ...(lines.length > 0 ? [""] : []), counts].join("\n");
}
