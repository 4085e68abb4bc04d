/** Checks the processes: every service has one, all run the same version, and none is near its limits. */
import { contracts } from "../../contracts.ts";
import { sizeText } from "../../lib/size-text.ts";
import { VERSION } from "../../lib/version.ts";
import type { Node } from "../nodes.ts";
import { type Check, clockFinding, type Finding, findingsOf } from "./finding.ts";

const AREA = "nodes";
const { ok, warn, fail } = findingsOf(AREA);

/** Services of a complete installation. */
const SERVICES = [...Object.keys(contracts), "gateway"];

const LAG_WARN_MS = 100;
const MEMORY_WARN = 0.85;
const MEMORY_FAIL = 0.95;
const FILES_WARN = 0.7;
/** Connections to mail servers, readers and other servers use one file descriptor each. */
const LEAST_FILES = 1_024;

/** Reports the worst node in one line, so a hundred nodes are as readable as one. */
function overNodes(
  check: string,
  nodes: readonly Node[],
  judge: (node: Node) => { state: "ok" | "warn" | "fail"; found: string } | undefined,
  allWell: string,
  advice: string,
): Finding {
  const judged = nodes.flatMap((node) => {
    const one = judge(node);
    return one && one.state !== "ok" ? [{ ...one, node: node.id }] : [];
  });
  if (judged.length === 0) return ok(check, allWell);
  const found = judged.slice(0, 5).map(({ node, found }) => `${node}: ${found}`);
  const more = judged.length > found.length ? ` and ${judged.length - found.length} more` : "";
  const make = judged.some(({ state }) => state === "fail") ? fail : warn;
  return make(check, found.join("; ") + more, advice);
}

function servicesFinding(nodes: readonly Node[]): Finding {
  const running = new Set(nodes.flatMap(({ services }) => services));
  const missing = SERVICES.filter((service) => !running.has(service));
  if (missing.length === 0)
    return ok("services", `all run, on ${nodes.length} ${nodes.length === 1 ? "node" : "nodes"}`);
  return fail(
    "services",
    `no process runs ${missing.join(", ")}`,
    "Start one, and check the log of the last one for the reason it ended.",
  );
}

/** `asking` is the version of the files that the command runs from. */
function versionFindings(nodes: readonly Node[], asking: string | undefined): Finding[] {
  const versions = [...new Set(nodes.flatMap(({ report }) => report?.vitals?.version ?? []))].sort();
  const all = versions.join(", ");
  return [
    versions.length > 1
      ? warn("version", all, "Normal during an update; afterwards restart the nodes of the older version.")
      : ok("version", all),
    asking !== undefined && asking !== VERSION
      ? warn(
          "version of the command",
          `${asking}, and the service is ${VERSION}`,
          "Restart the service, because its files are newer than the running process, or run the command of the running version.",
        )
      : ok("version of the command", asking ?? "not said"),
  ];
}

function nodeVersionFinding(nodes: readonly Node[]): Finding {
  const versions = [...new Set(nodes.flatMap(({ report }) => report?.vitals?.node_version ?? []))].sort();
  // Even versions are released in April of even years and supported for three years (20 until 2026-04), odd ones for
  // half a year.
  const unkept = versions.filter(
    (version) => Number.parseInt(version, 10) < 22 || Number.parseInt(version, 10) % 2 === 1,
  );
  if (unkept.length === 0) return ok("Node.js", versions.join(", ") || "not said");
  return warn(
    "Node.js",
    unkept.join(", "),
    "Use a long-term support version (24 or 22): this one gets no security fixes.",
  );
}

export function nodeFindings(nodes: readonly Node[], asking: string | undefined): Finding[] {
  const memory = ({ report }: Node) => {
    const limit = report?.vitals?.memory_limit_bytes;
    if (!report || !limit) return undefined;
    const share = report.memory_bytes / limit;
    const state = share >= MEMORY_FAIL ? "fail" : share >= MEMORY_WARN ? "warn" : "ok";
    return { state, found: `${sizeText(report.memory_bytes)} of ${sizeText(limit)}` } as const;
  };
  const files = ({ report }: Node) => {
    const { open_files: open, max_open_files: most } = report?.vitals ?? {};
    if (open == null || most == null) return undefined;
    const state = open > FILES_WARN * most || most < LEAST_FILES ? "warn" : "ok";
    return { state, found: `${open} of ${most} open` } as const;
  };
  const lag = ({ report }: Node) => {
    const ms = report?.vitals?.event_loop_lag_ms ?? 0;
    return { state: ms > LAG_WARN_MS ? "warn" : "ok", found: `${ms} ms` } as const;
  };
  const ready = ({ report }: Node) =>
    report
      ? ({
          state: report.ready ? "ok" : "warn",
          found: `${report.state}, database ${report.database}, NATS ${report.nats}`,
        } as const)
      : ({ state: "fail", found: "no answer" } as const);
  const clocks = nodes.flatMap(({ id, report, askedAtMs, answeredAtMs }) => {
    const theirsMs = report?.vitals?.clock_ms;
    if (theirsMs === undefined) return [];
    return [
      { ...clockFinding(AREA, "clocks", { whose: `The clock of ${id}`, theirsMs, askedAtMs, answeredAtMs }), id },
    ];
  });
  const wrongClock = clocks.find(({ state }) => state === "fail") ?? clocks.find(({ state }) => state === "warn");
  return [
    servicesFinding(nodes),
    overNodes(
      "ready",
      nodes,
      ready,
      `all ${nodes.length}`,
      "Check `ops status` and the log of that node; a node that starts or stops needs only a moment.",
    ),
    ...versionFindings(nodes, asking),
    nodeVersionFinding(nodes),
    overNodes(
      "event loop",
      nodes,
      lag,
      `p99 below ${LAG_WARN_MS} ms on each`,
      "Add nodes for its services or CPU: it is overloaded.",
    ),
    overNodes(
      "memory",
      nodes,
      memory,
      "enough on each",
      "Raise the container's limit and --max-old-space-size together: a node that passes its limit is killed.",
    ),
    overNodes(
      "open files",
      nodes,
      files,
      "enough on each",
      "Raise the limit (ulimit -n, LimitNOFILE) to 65536: each connection is a file.",
    ),
    wrongClock
      ? {
          area: AREA,
          check: "clocks",
          state: wrongClock.state,
          found: `${wrongClock.id}: ${wrongClock.found}`,
          advice: wrongClock.advice,
        }
      : ok("clocks", "agree"),
  ];
}

export const nodeChecks = (nodes: Promise<Node[]>, asking: string | undefined): Check[] => [
  {
    area: AREA,
    check: "nodes",
    advice: "Try again; if this persists, restart the process that runs the service operator.",
    work: async () => nodeFindings(await nodes, asking),
  },
];
