/** Source is ESM TypeScript; swc turns it into CommonJS for jest, which needs no loader flags that way. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testPathIgnorePatterns: [
    // They need Chromium, 400 MB to fetch: `npm run test:browser`.
    ...(process.env.BROWSER ? [] : ["<rootDir>/test/browser/"]),
    // They take minutes and root: `npm run test:mta`, or a file of them by name. One short case always runs.
    ...(process.argv.some((arg) => arg.includes("test/mta")) ? [] : ["<rootDir>/test/mta/(?!postfix-plain)"]),
  ],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2024" },
        module: { type: "commonjs" },
      },
    ],
  },
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  testTimeout: 30_000,
};
