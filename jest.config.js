import { availableParallelism } from "node:os";

/** Source is ESM TypeScript; swc turns it into CommonJS for jest, which needs no loader flags that way. */
const swc = [
  "@swc/jest",
  { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
];

const isLong = process.env.FAILURES === "long";

export default {
  // Node's, and a test file that leaves sockets, timers, child processes or databases behind fails.
  testEnvironment: "<rootDir>/test/support/leak-environment.ts",
  // Packages are loaded once in a worker, and not once in each file.
  runtime: "<rootDir>/test/support/runtime.ts",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // What tools of the reference are installed from there has a package.json of the same name.
  modulePathIgnorePatterns: ["<rootDir>/.cache/"],
  testPathIgnorePatterns: [
    // They need Chromium, 400 MB to fetch: `npm run test:browser`.
    ...(process.env.BROWSER ? [] : ["<rootDir>/test/browser/"]),
    // What each of them does to a cluster the short case of test/chaos, or crash.test.ts with the engine alone, does too: `npm run test:failures`, or a file by name.
    ...(isLong || process.argv.some((arg) => arg.includes("test/cluster/"))
      ? []
      : ["<rootDir>/test/cluster/(?:cut-off|failover|failures|hour-limit|step-aside|vanished-senders)"]),
    // It makes a company of half a million rows, and asks for the plan of each read: a minute of CPU.
    ...(isLong || process.argv.some((arg) => arg.includes("api/plans"))
      ? []
      : ["<rootDir>/test/integration/api/plans"]),
    // They start version 0.1.0 beside this one, and take minutes: `npm run test:upgrade`, or a file of them by name.
    ...(process.argv.some((arg) => arg.includes("test/upgrade")) ? [] : ["<rootDir>/test/upgrade/"]),
    // They take minutes and root: `npm run test:mta`, or a file of them by name. One short case always runs.
    ...(process.argv.some((arg) => arg.includes("test/mta")) ? [] : ["<rootDir>/test/mta/(?!postfix-plain)"]),
    // A fuzzer that pip fetches, for two minutes: `npm run test:fuzz`.
    ...(process.env.FUZZ === "long" ? [] : ["<rootDir>/test/integration/api/schemathesis"]),
    // They build the image and run the cluster's pods, as root and for minutes: `npm run test:image`.
    ...(process.env.IMAGE === "long" ? [] : ["<rootDir>/test/image/"]),
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
