/**
 * The packages that the test files of a worker share (runtime.ts). They are known by a symbol of the process: jest loads the
 * environment by another loader than the runtime, and this module with each of them.
 */
import { createRequire } from "node:module";

const KEY = Symbol.for("packages that test files share");
/** Who asked for each first. */
const asked = (): Map<string, string> => {
  const place = globalThis as unknown as Record<symbol, Map<string, string> | undefined>;
  place[KEY] ??= new Map();
  return place[KEY];
};

export function requireShared(from: string, name: string): unknown {
  const known = asked();
  if (!known.has(name)) known.set(name, from);
  return createRequire(from)(name);
}

const own = createRequire(import.meta.url);

/** As the service sets it in a process (models/database/db.ts): a shared package has it from the first file that does so on. */
export function setUpPackages(): void {
  const { types } = own("pg") as typeof import("pg");
  types.setTypeParser(types.builtins.INT8, Number);
}

/**
 * Moleculer gives promises its `timeout`, which rejects with an error of a class of its own: loaded anew, it would find the
 * old one there, and not know the error. What is assigned to a built-in can be enumerated, what is its own cannot.
 */
function dropAdditions(): void {
  for (const builtIn of [Promise, Promise.prototype]) {
    for (const name of Object.keys(builtIn)) delete (builtIn as unknown as Record<string, unknown>)[name];
  }
}

/** The next file loads them anew: nothing that an earlier one left in them is there. */
export function dropSharedPackages(): void {
  const { cache } = own;
  const drop = (path: string): void => {
    const module = cache[path];
    if (!module) return;
    delete cache[path];
    for (const { id } of module.children) drop(id);
  };
  for (const [name, from] of asked()) drop(createRequire(from).resolve(name));
  asked().clear();
  dropAdditions();
  setUpPackages();
}
