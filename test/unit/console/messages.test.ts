import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messages } from "../../../services/console/messages.ts";

const folder = join(import.meta.dirname, "../../../services/console");
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\{#[\s\S]*?#\}/gm;

/** Names of messages used in pages and views. Some are selected by a value that appears elsewhere. */
function words(): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(?:tsx?|njk)$/.test(file) && !file.startsWith("messages"),
  );
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").replaceAll(COMMENT, ""));
  return new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []));
}

test("every sentence of the console is shown by some page", () => {
  const read = words();
  const { problems: _byStatus, ...others } = messages;
  const names = Object.entries(others).flatMap(([section, sentences]) =>
    typeof sentences === "string" ? [section] : Object.keys(sentences).map((name) => `${section}.${name}`),
  );
  expect(names.length).toBeGreaterThan(900);
  expect(names.filter((name) => !read.has(name.split(".").at(-1)!))).toEqual([]);
});
