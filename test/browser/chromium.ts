/** Chromium for tests: CHROMIUM names it, else it is on PATH, else it is unpacked from Debian packages. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { type Program, program } from "../support/programs.ts";

const PACKAGES = ["chromium", "chromium-common", "fonts-dejavu-core"];

/** Its start script looks for itself under /usr: unpacked elsewhere, the binary is started directly. */
function direct({ path, env }: Program): Program {
  const binary = join(path, "../../lib/chromium/chromium");
  if (!env.LD_LIBRARY_PATH || !existsSync(binary)) return { path, env };
  // One of its libraries keeps a part of itself in a folder of its own, and finds it by an absolute path.
  const folders = env.LD_LIBRARY_PATH.split(delimiter).flatMap((folder) => [folder, join(folder, "pulseaudio")]);
  return { path: binary, env: { LD_LIBRARY_PATH: folders.join(delimiter) } };
}

export async function launchChromium(): Promise<Browser> {
  const given = process.env.CHROMIUM;
  const { path, env } = given ? { path: given, env: {} } : direct(await program("chromium", PACKAGES));
  return chromium.launch({
    executablePath: path,
    env: { ...(process.env as Record<string, string>), ...env },
    // Nothing but loopback is needed; without these it asks its maker's hosts at every start.
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
}
