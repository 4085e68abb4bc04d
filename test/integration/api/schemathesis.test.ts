/**
 * Runs Schemathesis, a third-party fuzzer, on the OpenAPI document: no 5xx and no undescribed answer. Only in the long
 * family (`npm run test:fuzz`), because pip downloads it; FUZZ_SEED repeats a run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { pythonPackage } from "../../support/python-package.ts";
import { furnish } from "./furnish.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const PACKAGE = "schemathesis==4.32.5";
const HOOKS = join(ROOT, "test/support/schemathesis-hooks.py");
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** Number of requests per operation and phase. */
const EXAMPLES = process.env.FUZZ_EXAMPLES ?? "60";
const PHASES = "examples,coverage,fuzzing";
/** Excludes streams, which last an hour, and operations that would remove the run's own credentials. */
const LEFT_OUT = "/stream/$|/api-keys/|/members/|/sessions/|/logout/|/auth/password|/api/companies/[^/]+/$";

jest.setTimeout(3_600_000);

describe("requests that Schemathesis generates from the document", () => {
  let app: App;
  let company: TestCompany;
  /** Keeps the output of the run for inspection. */
  const folder = join(ROOT, ".cache/schemathesis");
  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
    await furnish(company, app);
    mkdirSync(folder, { recursive: true });
  });
  afterAll(() => app?.stop());

  const run = async (name: string, credentials: string, paths: string) => {
    const [report, log] = [join(folder, `${name}.xml`), join(folder, `${name}.log`)];
    const says = openSync(log, "w");
    const seed = process.env.FUZZ_SEED ? ["--seed", process.env.FUZZ_SEED] : [];
    const child = spawn(
      "python3",
      [
        ...["-m", "schemathesis.cli", "run", `${app.url}/openapi.json`, "--url", app.url, "--header", credentials],
        ...["--checks", CHECKS.join(","), "--phases", PHASES, "--max-examples", EXAMPLES, "--continue-on-failure"],
        ...["--include-path-regex", paths, "--exclude-path-regex", LEFT_OUT, "--report", "junit"],
        ...[
          "--report-junit-path",
          report,
          "--warnings",
          "off",
          "--suppress-health-check",
          "all",
          "--no-color",
          ...seed,
        ],
      ],
      {
        cwd: folder,
        env: { ...process.env, PYTHONPATH: pythonPackage(PACKAGE), SCHEMATHESIS_HOOKS: HOOKS },
        stdio: ["ignore", says, says],
      },
    );
    const [code] = await once(child, "exit");
    closeSync(says);
    return {
      code,
      output: readFileSync(log, "utf8"),
      cases: Number(/tests="(\d+)"/.exec(readFileSync(report, "utf8"))?.[1] ?? 0),
    };
  };

  const ways = [
    ["an API key, on what a company has", () => `X-API-Key: ${company.key}`, "^/api/emails/"],
    ["a person, on accounts and companies", () => `Authorization: Bearer ${company.token}`, "^/api/(auth|companies)/"],
  ] as const;
  test.each(ways)("%s: no 5xx and no undocumented answer", async (name, credentials, paths) => {
    const { code, output, cases } = await run(name.replace(/\W+/g, "-"), credentials(), paths);
    expect(output).toContain("Test cases:");
    expect(cases).toBeGreaterThan(0);
    expect([code, code === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
    process.stdout.write(`${name}: ${/Test cases:.*/s.exec(output)?.[0].slice(0, 300)}\n`);
  });
});
