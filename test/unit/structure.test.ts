import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";

const root = join(import.meta.dirname, "../..");

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));
}

const files = ["services", "mixins", "models"].flatMap(sources);
const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^"';]*?from\s+"(\.[^"]+)"|import\s*\(?\s*"(\.[^"]+)"/g;

const importsOf = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const targets = [...text.matchAll(IMPORT)].map(([, from, bare]) =>
      normalize(join(dirname(file), (from ?? bare) as string)),
    );
    return [file, new Set(targets)] as const;
  }),
);

/** Strongly connected components of more than one file (Tarjan). */
function circles(): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const target of importsOf.get(file)!) {
      if (!importsOf.has(target)) continue;
      if (!index.has(target)) {
        visit(target);
        low.set(file, Math.min(low.get(file)!, low.get(target)!));
      } else if (stack.includes(target)) {
        low.set(file, Math.min(low.get(file)!, index.get(target)!));
      }
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return found;
}

/** "lib", "models", "mixins", "actors" (the pages all actors share: services/*.ts) or the name of a service. */
function roomOf(file: string): string {
  const [top, second] = file.split(sep);
  if (top !== "services") return top!;
  return second!.endsWith(".ts") ? "actors" : second!;
}

const isContract = (file: string) =>
  /^services\/[\w-]+\/contract(?:s\/[\w-]+|-[\w-]+)?\.ts$/.test(file.replaceAll(sep, "/"));

/** Layers that each folder may import: lib ← models ← mixins ← the actors' shared pages and each service. */
function allowed(file: string, target: string): boolean {
  const from = roomOf(file);
  const to = roomOf(target);
  if (from === to) return true;
  if (from === "lib") return false;
  if (from === "models") return to === "lib";
  if (from === "mixins") return to === "lib" || to === "models";
  if (from === "actors") return to === "lib" || to === "models" || isContract(target);
  return ["lib", "models", "mixins", "actors"].includes(to) || isContract(target);
}

test("no source file imports itself through others", () => {
  expect(circles()).toEqual([]);
});

test("imports follow the layers lib ← models ← mixins ← services, and no service imports another's modules", () => {
  const wrong = [...importsOf].flatMap(([file, targets]) =>
    [...targets]
      .filter((target) => importsOf.has(target) && !allowed(file, target))
      .map((target) => `${file} imports ${relative(".", target)}`),
  );
  expect(wrong).toEqual([]);
});

test("nine of ten files have at most 260 lines, and none more than 450", () => {
  const lengths = files
    .map((file) => readFileSync(join(root, file), "utf8").split("\n").length - 1)
    .sort((a, b) => a - b);
  expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(260);
  expect(lengths.at(-1)).toBeLessThanOrEqual(450);
});
