import { availableParallelism } from "node:os";

/** Source is ESM TypeScript; swc turns it into CommonJS for jest, which needs no loader flags that way. */
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
  // Node's, and a test file that leaves sockets, timers, child processes or databases behind fails.
  testEnvironment: "<rootDir>/test/support/leak-environment.ts",
  // Packages are loaded once in a worker, and not once in each file.
  runtime: "<rootDir>/test/support/runtime.ts",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // What tools of the reference are installed from there has a package.json of the same name.
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
      "test/integration/webhooks/killed-node",
    ),
    // `npm run test:chaos`: faults at random, for 30 minutes.
    ...byHand(false, "test/chaos"),
    // `npm run test:upgrade`: starts version 0.1.0 beside this one, for minutes.
    ...byHand(false, "test/upgrade"),
    // `npm run test:mta`: real mail servers; needs root.
    ...byHand(false, "test/mta"),
    // `npm run test:fuzz`: a fuzzer that pip fetches, for two minutes.
    ...byHand(process.env.FUZZ === "long", "test/integration/api/schemathesis"),
    // `npm run test:image`: builds the image and runs the cluster's pods, as root.
    ...byHand(process.env.IMAGE === "long", "test/image/"),
  ],
  transform: { "^.+\\.ts$": swc },
  // Two more than cores: more than half of the time a file waits, for a lease to run out or a process to start. Beyond four
  // the one PostgreSQL runs out of connections.
  maxWorkers: Math.min(4, availableParallelism() + 2),
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  // A busy machine takes long for what is quick: nothing here means to measure.
  testTimeout: 60_000,
  // A worker exits within 1 ms, and then gives a gigabyte back: 0.2 s, and beside other work over 1 s. Jest calls it a leak after 0.5 s
  // by the clock. What a file really leaves behind its environment has named before, or keeps the worker for longer than this.
  workerGracefulExitTimeout: 60_000,
};
