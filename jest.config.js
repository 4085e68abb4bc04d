import { availableParallelism } from "node:os";

/** Compiles ESM TypeScript to CommonJS, so that jest needs no loader flags. */
const swc = [
  "@swc/jest",
  { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
];

/**
 * Paths of a slow test family: skipped, unless its variable is set or an argument names one of its files.
 * CONTRIBUTING.md lists the commands.
 */
const byHand = (isRun, ...paths) =>
  paths
    .filter((path) => !isRun && !process.argv.some((arg) => new RegExp(path).test(arg)))
    .map((path) => `<rootDir>/${path}`);

export default {
  // Fails a test file that leaves sockets, timers, child processes or databases behind.
  testEnvironment: "<rootDir>/test/support/leak-environment.ts",
  // Loads packages once in a worker instead of once in each file.
  runtime: "<rootDir>/test/support/runtime.ts",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // Contains tools of `npm run reference`, whose package.json files have our name.
  modulePathIgnorePatterns: ["<rootDir>/.cache/"],
  testPathIgnorePatterns: [
    // `npm run test:browser`: fetches Chromium, 400 MB.
    ...byHand(process.env.BROWSER, "test/browser/"),
    // `npm run test:failures`: installations of several processes with killed, stopped or disconnected servers, and
    // large tables. crash.test.ts kills a sender in `npm test`, too.
    ...byHand(
      process.env.FAILURES === "long",
      "test/cluster/",
      "test/integration/api/plans",
      "test/integration/bounces/killed-listener",
      "test/integration/campaigns/(?:expand-large|nats)",
      "test/integration/postgres/(?:hosts|pgbouncer)",
      "test/integration/process/(?:cluster|demo|restart-in-place|tour)",
      "test/integration/smtp-sender/outage",
      "test/integration/webhooks/killed-node",
    ),
    // `npm run test:chaos`: 30 minutes of random faults.
    ...byHand(false, "test/chaos"),
    // `npm run test:upgrade`: runs the oldest supported version beside this one, for minutes.
    ...byHand(false, "test/upgrade"),
    // `npm run test:mta`: real mail servers; needs root.
    ...byHand(false, "test/mta"),
    // `npm run test:fuzz`: a fuzzer installed by pip, for two minutes.
    ...byHand(process.env.FUZZ === "long", "test/integration/api/schemathesis"),
    // `npm run test:image`: builds the image and runs the cluster's pods, as root.
    ...byHand(process.env.IMAGE === "long", "test/image/"),
  ],
  transform: { "^.+\\.ts$": swc },
  // Two more than cores, because test files mostly wait. More than four workers exhaust PostgreSQL's connections.
  maxWorkers: Math.min(4, availableParallelism() + 2),
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  // Generous, because a busy machine is slow and no test measures elapsed time.
  testTimeout: 60_000,
  // On a busy machine a worker takes over a second to free its memory, and jest reports a leak after half a second. The
  // test environment reports real leaks.
  workerGracefulExitTimeout: 60_000,
};
