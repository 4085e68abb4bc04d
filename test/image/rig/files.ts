/** Files of an image, read from its mounted root. */
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** Everything except folders, by path from the root: a link's target, or a file's size and mode. */
export function filesIn(root: string, below = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      for (const [inner, what] of filesIn(root, path)) found.set(inner, what);
    } else if (entry.isSymbolicLink()) {
      found.set(path, `-> ${readlinkSync(join(root, path))}`);
    } else {
      const { size, mode } = statSync(join(root, path));
      found.set(path, `${size} bytes, ${mode.toString(8)}`);
    }
  }
  return found;
}
