/**
 * Provides Helm from PATH, or built by Go from its module into .cache/ (long test families only; takes a minute or two,
 * once). Without either, `withHelm` defines one skipped test that says why.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "./kustomize.ts";
import { long } from "./long.ts";

const VERSION = "v3.19.5";
const BUILT = resolve(import.meta.dirname, "../../.cache/helm", VERSION, "helm");
const BUILD_TIMEOUT_MS = 900_000;
const TIMEOUT_MS = 60_000;

const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Uses its own module, because several test files may build at once. */
function build(): void {
  const module = mkdtempSync(join(tmpdir(), "flockmail-helm-"));
  const part = `${BUILT}.${process.pid}`;
  // Uses the installed Go version and no surrounding workspace.
  const env = { ...process.env, GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local", GOWORK: "off" };
  const go = (...args: string[]) =>
    execFileSync("go", args, { cwd: module, env, stdio: ["ignore", "ignore", "pipe"], timeout: BUILD_TIMEOUT_MS });
  try {
    go("mod", "init", "flockmail.test/helm");
    go("get", `helm.sh/helm/v3/cmd/helm@${VERSION}`);
    go("build", "-o", part, "helm.sh/helm/v3/cmd/helm");
  } catch (error) {
    throw new Error(`helm is not on PATH, and Go could not build it: ${(error as Error).message}`);
  } finally {
    rmSync(module, { recursive: true });
  }
  renameSync(part, BUILT);
}

/** Returns the output of `helm ARGS`; throws with its error message. */
export type Helm = (...args: string[]) => string;

/** Defines tests that need helm. */
export function withHelm(define: (helm: Helm) => void): void {
  const found = runs("helm", "version") ? "helm" : existsSync(BUILT) ? BUILT : undefined;
  if (!found && !(long && runs("go", "version"))) {
    const how = long ? "no Go to build it with" : "`npm run test:failures` builds it where Go is";
    test.skip(`is not run without helm on PATH; ${how}`, () => {});
    return;
  }
  describe("(with helm)", () => {
    if (!found) beforeAll(build, BUILD_TIMEOUT_MS);
    define((...args) => execFileSync(found ?? BUILT, args, { encoding: "utf8", stdio: "pipe", timeout: TIMEOUT_MS }));
  });
}

/** Parses the objects that `helm template` wrote. */
export const objectsIn = (output: string): Manifest[] =>
  parseAllDocuments(output, { version: "1.1" })
    .map((document) => document.toJS() as Manifest | null)
    .filter((one) => one !== null);
