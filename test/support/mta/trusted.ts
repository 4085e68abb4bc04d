/** Writes certificates to files: for servers, and for NODE_EXTRA_CA_CERTS of a service that should trust them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "../certificate.ts";
import { remove, serverFolder } from "./daemon.ts";

export interface CertificateFiles {
  /** The certificate alone, which is its own authority. */
  path: string;
  /** Key and certificate in one file, the format of Postfix. */
  chain: string;
  remove(): void;
}

export function trusted({ cert, key }: Certificate): CertificateFiles {
  const folder = serverFolder("certificate");
  const [path, chain] = [join(folder, "ca.pem"), join(folder, "chain.pem")];
  writeFileSync(path, cert);
  writeFileSync(chain, key + cert, { mode: 0o600 });
  return { path, chain, remove: () => remove(folder) };
}
