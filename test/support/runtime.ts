/**
 * Jest's module loader, except that packages are loaded by Node, once per worker, and shared by its files. The
 * project's modules, and packages that a file mocks, are loaded per file as usual.
 */
import { createRequire, isBuiltin } from "node:module";
import type JestRuntime from "jest-runtime";
import { requireShared, setUpPackages } from "./shared-packages.ts";

setUpPackages();

/** Jest's own globals are bound to the file. */
const OF_JEST = /^(?:jest|@jest\/)/;

const isPackage = (name: string) => !/^[./]/.test(name) && !isBuiltin(name) && !OF_JEST.test(name);

// The types describe its CommonJS version.
const Runtime = (createRequire(import.meta.url)("jest-runtime") as typeof JestRuntime).default;

export default class SharedPackagesRuntime extends Runtime {
  readonly #mocked = new Set<string>();

  override setMock(...given: Parameters<InstanceType<typeof Runtime>["setMock"]>): void {
    this.#mocked.add(given[1]);
    super.setMock(...given);
  }

  override requireModuleOrMock<T = unknown>(from: string, name: string): T {
    if (isPackage(name) && !this.#mocked.has(name)) return requireShared(from, name) as T;
    return super.requireModuleOrMock(from, name);
  }
}
