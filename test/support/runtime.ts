/**
 * Jest's loader of modules, but for packages: those are Node's own, loaded once in a worker and shared by its files. The
 * project's modules are each file's own as ever. Packages that a file mocks are its own too.
 */
import { createRequire, isBuiltin } from "node:module";
import type JestRuntime from "jest-runtime";
import { requireShared, setUpPackages } from "./shared-packages.ts";

setUpPackages();

/** Jest's own globals are bound to the file. */
const OF_JEST = /^(?:jest|@jest\/)/;

const isPackage = (name: string) => !/^[./]/.test(name) && !isBuiltin(name) && !OF_JEST.test(name);

// Its types are those of its CommonJS half.
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
