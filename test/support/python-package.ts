/** Python packages that check our output; the product needs none. */
import { execFileSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const INSTALL_TIMEOUT_MS = 300_000;

/** The folder of "name==version" for PYTHONPATH; pip downloads it once, with binaries for this Python. */
export function pythonPackage(name: string): string {
  const python = (...args: string[]) =>
    execFileSync("python3", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: INSTALL_TIMEOUT_MS });
  try {
    const version = python("-c", "import sys; print('%d.%d' % sys.version_info[:2])").trim();
    const folder = join(ROOT, ".cache/python", version, name.replace("==", "-"));
    if (!existsSync(folder)) {
      const part = `${folder}.part`;
      rmSync(part, { recursive: true, force: true });
      python("-m", "pip", "install", "--quiet", "--root-user-action", "ignore", "--target", part, name);
      renameSync(part, folder);
    }
    return folder;
  } catch (error) {
    throw new Error(`${name} could not be fetched, which needs python3 with pip: ${(error as Error).message}`);
  }
}
