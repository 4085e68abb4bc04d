import { availableParallelism } from "node:os";

/** Source is ESM TypeScript; swc turns it into CommonJS for jest, which needs no loader flags that way. */
export default {
  // Node's, and a test file that leaves sockets, timers, child processes or databases behind fails.
  testEnvironment: "<rootDir>/test/support/leak-environment.ts",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // They need Chromium, 400 MB to fetch: `npm run test:browser`.
  testPathIgnorePatterns: process.env.BROWSER ? [] : ["<rootDir>/test/browser/"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2024" },
        module: { type: "commonjs" },
      },
    ],
  },
  // Jest would leave one of two cores to itself; beyond four the one PostgreSQL runs out of connections.
  maxWorkers: Math.min(4, availableParallelism()),
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  // A busy machine takes long for what is quick: nothing here means to measure.
  testTimeout: 60_000,
};
