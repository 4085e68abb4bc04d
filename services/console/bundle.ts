/**
 * Bundles the editors' browser code with esbuild, into .cache/console. The image contains finished bundles and no esbuild:
 * `node services/console/bundle.ts` writes them during the build.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import type { BuildOptions, BuildResult } from "esbuild";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".cache/console");
const ENTRIES = { editor: "editor/main.tsx", code: "editor/code/code-editor.ts" } as const;
type Name = keyof typeof ENTRIES;
/** package.json pins exact versions, so its content identifies the packages' code. */
const PACKAGES = "package.json";

interface Bundle {
  /** Source files of the bundle, relative to the repository's root. */
  inputs: string[];
  /** Digest of the inputs' contents. */
  key: string;
  code: string;
}

function keyOf(inputs: readonly string[]): string {
  const hash = createHash("sha256");
  for (const input of inputs)
    hash
      .update(input)
      .update("\0")
      .update(readFileSync(join(ROOT, input)))
      .update("\0");
  return hash.digest("hex");
}

/** Returns the cached bundle, or undefined if there is none or the sources have changed. */
function cached(file: string): Bundle | undefined {
  try {
    const bundle = JSON.parse(readFileSync(file, "utf8")) as Bundle;
    return bundle.key === keyOf(bundle.inputs) ? bundle : undefined;
  } catch {
    return undefined;
  }
}

function build(name: Name): Bundle {
  // Loaded only when needed: the image does not contain it.
  const { buildSync } = createRequire(import.meta.url)("esbuild") as {
    buildSync: (options: BuildOptions) => BuildResult<{ write: false; metafile: true }>;
  };
  const { outputFiles, metafile } = buildSync({
    entryPoints: [join(import.meta.dirname, ENTRIES[name])],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "silent",
  });
  const ownSources = Object.keys(metafile.inputs).filter((input) => !input.includes("node_modules/"));
  const inputs = [PACKAGES, relative(ROOT, import.meta.filename), ...ownSources].toSorted();
  return { inputs, key: keyOf(inputs), code: outputFiles[0]!.text };
}

/** Returns the code of an editor. Builds it if the sources have changed since the last start. */
export function bundled(name: Name): Buffer {
  const file = join(FOLDER, `${name}.json`);
  const found = cached(file);
  if (found) return Buffer.from(found.code);
  const bundle = build(name);
  mkdirSync(FOLDER, { recursive: true });
  // Other processes of this checkout may start at the same time.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(bundle));
  renameSync(draft, file);
  return Buffer.from(bundle.code);
}

if (import.meta.main) for (const name of Object.keys(ENTRIES) as Name[]) bundled(name);
