/** Loads mrml, the MJML compiler: WebAssembly without access to files or network. For worker threads only. */
import { createRequire } from "node:module";
import type { ToHtmlResult } from "mrml";
import { RENDER_OPTIONS } from "./corrected.ts";

const require = createRequire(import.meta.url);

/** An instance that trapped must not be reused: its memory is in an unknown state. */
function forget(): void {
  delete require.cache[require.resolve("mrml")];
}

/** Undefined if mrml ran out of memory or stack. */
export function mrmlOf(source: string): ToHtmlResult | undefined {
  const { Engine } = require("mrml") as typeof import("mrml");
  const engine = new Engine();
  let isDone = false;
  try {
    engine.setParserOptions({ includeLoader: { type: "noop" } });
    engine.setRenderOptions(RENDER_OPTIONS);
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
