/** Certificates that a service process is to trust, as a file for NODE_EXTRA_CA_CERTS. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "../certificate.ts";
import { remove, serverFolder } from "./daemon.ts";

export function trusted(...certificates: Certificate[]): { path: string; remove(): void } {
  const folder = serverFolder("ca");
  const path = join(folder, "ca.pem");
  writeFileSync(path, certificates.map(({ cert }) => cert).join(""));
  return { path, remove: () => remove(folder) };
}
