/** Finds Chromium for tests: CHROMIUM, then PATH, then Debian packages. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { type Program, program } from "../support/programs.ts";

const PACKAGES = ["chromium", "chromium-common", "fonts-dejavu-core"];

/** Chromium's start script searches for itself under /usr, so an unpacked binary is started directly. */
function direct({ path, env }: Program): Program {
  const binary = join(path, "../../lib/chromium/chromium");
  if (!env.LD_LIBRARY_PATH || !existsSync(binary)) return { path, env };
  // A library looks for files of its own folder by an absolute path.
  const folders = env.LD_LIBRARY_PATH.split(delimiter).flatMap((folder) => [folder, join(folder, "pulseaudio")]);
  return { path: binary, env: { LD_LIBRARY_PATH: folders.join(delimiter) } };
}

export async function launchChromium(): Promise<Browser> {
  const given = process.env.CHROMIUM;
  const { path, env } = given ? { path: given, env: {} } : direct(await program("chromium", PACKAGES));
  return chromium.launch({
    executablePath: path,
    env: { ...(process.env as Record<string, string>), ...env },
    // Only loopback is needed; without these flags it contacts its vendor at every start.
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
}
