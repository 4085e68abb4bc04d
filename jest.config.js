/** Source is ESM TypeScript; swc turns it into CommonJS for jest, which needs no loader flags that way. */
const swc = [
  "@swc/jest",
  { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
];
// Packages that jest cannot require as they are.
const ESM_ONLY = "p-limit|yocto-queue";

export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // They need Chromium, 400 MB to fetch: `npm run test:browser`.
  testPathIgnorePatterns: process.env.BROWSER ? [] : ["<rootDir>/test/browser/"],
  transform: { "^.+\\.ts$": swc, [`/node_modules/(?:${ESM_ONLY})/.+\\.js$`]: swc },
  transformIgnorePatterns: [`/node_modules/(?!(?:${ESM_ONLY})/)`],
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  testTimeout: 30_000,
};
