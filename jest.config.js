import { availableParallelism } from "node:os";

/** Compiles ESM TypeScript to CommonJS, for which jest needs no loader flags. */
const swc = [
  "@swc/jest",
  { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
];

/** Paths of a long family: skipped, unless its variable is set or an argument names one of its files. CONTRIBUTING.md lists the commands. */
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
  // Tools of `npm run reference` are installed there, with package.json files of our name.
  modulePathIgnorePatterns: ["<rootDir>/.cache/"],
  testPathIgnorePatterns: [
    // `npm run test:browser`: fetches Chromium, 400 MB.
    ...byHand(process.env.BROWSER, "test/browser/"),
    // `npm run test:failures`: installations of several processes and servers that are killed, stopped or cut off, and large tables.
    // crash.test.ts kills a sender in `npm test`, too.
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
    // `npm run test:chaos`: faults at random, for 30 minutes.
    ...byHand(false, "test/chaos"),
    // `npm run test:upgrade`: starts the first version that is upgraded beside this one, for minutes.
    ...byHand(false, "test/upgrade"),
    // `npm run test:mta`: real mail servers; needs root.
    ...byHand(false, "test/mta"),
    // `npm run test:fuzz`: a fuzzer that pip fetches, for two minutes.
    ...byHand(process.env.FUZZ === "long", "test/integration/api/schemathesis"),
    // `npm run test:image`: builds the image and runs the cluster's pods, as root.
    ...byHand(process.env.IMAGE === "long", "test/image/"),
  ],
  transform: { "^.+\\.ts$": swc },
  // Two more than cores: a file waits for more than half of its time. With more than four workers PostgreSQL runs out of connections.
  maxWorkers: Math.min(4, availableParallelism() + 2),
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  // No test measures elapsed time, and a busy machine is slow.
  testTimeout: 60_000,
  // On a busy machine a worker takes over a second to return its memory; jest calls that a leak after half a second. The test
  // environment reports real leaks.
  workerGracefulExitTimeout: 60_000,
};
