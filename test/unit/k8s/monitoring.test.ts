/** Compares alerts, dashboards and runbook with the service's metrics. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { commandNamed } from "../../../services/operator/commands.ts";
import { longTest } from "../../support/long.ts";
import { program } from "../../support/programs.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const FOLDER = join(ROOT, "k8s/monitoring");
const read = (path: string) => readFileSync(join(FOLDER, path), "utf8");

interface Rules {
  spec: { groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[] };
}
const { spec } = parse(read("alerts.yaml")) as Rules;
const alerts = spec.groups.flatMap(({ rules }) => rules);
const runbook = read("README.md");
const dashboards = readdirSync(join(FOLDER, "dashboards")).map((file) => read(`dashboards/${file}`));

/** All metrics in the code; histograms have three series each. */
const known = new Set(
  ["services", "mixins", "models"]
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .flatMap((file) => [...readFileSync(join(ROOT, file), "utf8").matchAll(/"((?:flockmail|process)_[a-z_]+)"/g)])
    .map(([, name]) => name!),
);
const metricsIn = (text: string) =>
  new Set(
    [...text.matchAll(/\b(?:flockmail|process)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, "")),
  );

test.each(["alerts.yaml", ...readdirSync(join(FOLDER, "dashboards")).map((file) => `dashboards/${file}`)])(
  "%s uses existing metrics",
  (path) => {
    const asked = [...metricsIn(read(path))];
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  },
);

test.each(["smtp-sender-prometheus", "smtp-sender-metric", "prometheus-adapter-values"])(
  "examples/%s.yaml scales by an existing metric",
  (name) => {
    const asked = [...metricsIn(read(`../examples/${name}.yaml`))];
    expect(asked).toEqual(["flockmail_send_queue_recipients"]);
    expect(asked.filter((metric) => !known.has(metric))).toEqual([]);
  },
);

test("each alert has a section in the runbook, and vice versa", () => {
  const pages = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(pages).toEqual(alerts.map(({ alert }) => alert));
});

test("the runbook names commands that exist", () => {
  const named = [...runbook.matchAll(/`ops ([\w-]+)/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !commandNamed(name))).toEqual([]);
});

test("each alert has a test case in promtool's format", () => {
  const { tests } = parse(read("alerts.test.yaml")) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const fired = new Set(cases.filter(({ exp_alerts }) => exp_alerts).map(({ alertname }) => alertname));
  expect([...fired].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test("every panel of the dashboards has a query and its own position", () => {
  for (const dashboard of dashboards) {
    const { panels } = JSON.parse(dashboard) as {
      panels: { gridPos: { x: number; y: number }; targets: { expr: string }[] }[];
    };
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    for (const { targets } of panels) expect(targets.every(({ expr }) => expr.length > 0)).toBe(true);
  }
});

// Debian's package is 50 MB.
longTest(
  "promtool accepts the rules and all cases",
  async () => {
    const { path, env } = await program("promtool", ["prometheus"]);
    const folder = mkdtempSync(join(tmpdir(), "flockmail-promtool-"));
    try {
      writeFileSync(join(folder, "alerts.rules.yaml"), stringify(spec));
      cpSync(join(FOLDER, "alerts.test.yaml"), join(folder, "alerts.test.yaml"));
      const run = (...args: string[]) =>
        execFileSync(path, args, { cwd: folder, env: { ...process.env, ...env }, encoding: "utf8", timeout: 30_000 });
      expect(run("check", "rules", "alerts.rules.yaml")).toContain(`SUCCESS: ${alerts.length} rules found`);
      expect(run("test", "rules", "alerts.test.yaml")).toContain("SUCCESS");
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  300_000,
);
