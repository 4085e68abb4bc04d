/**
 * Packages shared by the test files of a worker (runtime.ts). Stored under a process-wide symbol, because jest loads
 * the environment and the runtime, and this module with each, by different loaders.
 */
import { createRequire } from "node:module";
import type { Ajv, AnySchema, ValidateFunction } from "ajv";

const KEY = Symbol.for("packages that test files share");
/** The first file that loaded each package. */
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

/**
 * Applies settings that the service makes per process (models/database/db.ts): on a shared package they persist from
 * the first file on.
 */
export function setUpPackages(): void {
  const { types } = own("pg") as typeof import("pg");
  types.setTypeParser(types.builtins.INT8, Number);
  compileSchemasOnce();
}

const OPTIONS = [
  "allErrors",
  "discriminator",
  "ownProperties",
  "strict",
  "useDefaults",
  "validateFormats",
  "verbose",
] as const;

/** Equal for instances of Ajv that make the same function of a schema: a format's name says what it checks. */
const kindOf = (ajv: Ajv) =>
  JSON.stringify([ajv.constructor.name, OPTIONS.map((option) => ajv.opts[option]), Object.keys(ajv.formats)]);

/**
 * Compiles equal JSON schemas once per worker: each file has its own copy of the contracts. Instances with schemas that
 * others refer to compile as usual.
 */
function compileSchemasOnce(): void {
  const { prototype } = own("ajv/dist/core").default as { prototype: Ajv };
  const { compile } = prototype;
  const compiled = new Map<string, ValidateFunction>();
  const compileOnce = function (this: Ajv, schema: AnySchema, meta?: boolean): ValidateFunction {
    if (meta || Object.values(this.schemas).some((added) => !added?.meta)) return compile.call(this, schema, meta);
    const key = `${kindOf(this)} ${JSON.stringify(schema)}`;
    const validate = compiled.get(key) ?? compile.call(this, schema);
    compiled.set(key, validate);
    return validate;
  };
  Object.assign(prototype, { compile: compileOnce });
}

/**
 * Moleculer adds `timeout` to promises, which rejects with its own error class: a reloaded Moleculer would find the old
 * method and not recognise its error. Unlike native methods, added ones are enumerable.
 */
function dropAdditions(): void {
  for (const builtIn of [Promise, Promise.prototype]) {
    for (const name of Object.keys(builtIn)) delete (builtIn as unknown as Record<string, unknown>)[name];
  }
}

/** Makes the next file reload the packages without any state of earlier files. */
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
