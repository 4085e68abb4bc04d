// `node --import ./services/lib/processes/stripped/load.js …`: takes the code of our files from where strip.js put it. Node strips
// types by itself, with a program in WebAssembly that a process keeps for as long as it lives: 14 MB of 144 when idle, and 1 s
// of the 2.9 s of CPU that a start took. Its compile cache spares the second and costs 13 MB more: all that was read of it
// stays. What is not there, Node strips as ever. In plain JavaScript, or reading it would need what it spares.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { FOLDER, nameOf, ROOT } from "./place.js";

const PACKAGES = new URL("node_modules/", ROOT).href;
const isOurs = (url) => url.endsWith(".ts") && url.startsWith(ROOT.href) && !url.startsWith(PACKAGES);

function stripped(url) {
  try {
    return readFileSync(new URL(nameOf(readFileSync(new URL(url), "utf8")), FOLDER), "utf8");
  } catch {
    return undefined;
  }
}

registerHooks({
  load(url, context, nextLoad) {
    const source = isOurs(url) ? stripped(url) : undefined;
    return source === undefined ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
  },
});
