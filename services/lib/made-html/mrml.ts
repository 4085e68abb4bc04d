/** mrml, which compiles MJML: WebAssembly that reaches neither files nor the network. For worker threads alone. */
import { createRequire } from "node:module";
import type { ToHtmlResult } from "mrml";

const require = createRequire(import.meta.url);

/** What ended in a trap must not be asked again: its memory is as the trap left it. */
function forget(): void {
  delete require.cache[require.resolve("mrml")];
}

/** Undefined where it gave up: the source is too much for its memory or its stack. */
export function mrmlOf(source: string): ToHtmlResult | undefined {
  const { Engine } = require("mrml") as typeof import("mrml");
  const engine = new Engine();
  let isDone = false;
  try {
    engine.setParserOptions({ includeLoader: { type: "noop" } });
    const result = engine.toHtml(source);
    isDone = true;
    return result;
  } catch (error) {
    if (error instanceof RangeError || (error as Error).name === "RuntimeError") return undefined;
    throw error;
  } finally {
    if (isDone) engine.free();
    else forget();
  }
}
