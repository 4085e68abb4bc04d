// Puts the code of our files without its types where load.js looks for it: before each `npm start` (where nothing has changed
// it reads and compares, in 0.1 s) and when the image is built. Types become spaces, so lines and columns stay what they are.
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { FOLDER, nameOf, ROOT } from "./place.js";

const FILES = ["moleculer.config.ts", "{mixins,models,services}/**/*.ts"];

function strip() {
  mkdirSync(FOLDER, { recursive: true });
  const there = new Set(readdirSync(FOLDER).filter((name) => name.endsWith(".js")));
  for (const file of globSync(FILES, { cwd: ROOT })) {
    const source = readFileSync(new URL(file, ROOT), "utf8");
    const name = nameOf(source);
    if (there.delete(name)) continue;
    // A process that starts meanwhile finds all of it or nothing.
    const unfinished = new URL(`${name}.${process.pid}`, FOLDER);
    writeFileSync(unfinished, stripTypeScriptTypes(source));
    renameSync(unfinished, new URL(name, FOLDER));
  }
  // Of files as they were before.
  for (const name of there) rmSync(new URL(name, FOLDER), { force: true });
}

try {
  strip();
} catch (error) {
  if (!error.code?.startsWith("E") || error.code.startsWith("ERR_")) throw error;
  process.stderr.write(`Code without types is not kept, so a start takes longer and more memory: ${error.message}\n`);
}
