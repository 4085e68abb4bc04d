/** Logins for Postfix by Cyrus SASL: one user in a database of its own, with the mechanisms that a case wants. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { program } from "../programs.ts";
import { remove, serverFolder } from "./daemon.ts";

export const LOGIN = { username: "ann", password: "correct horse" };
const REALM = "mx.to.example";

export interface Sasl {
  /** For startPostfix. */
  main: Record<string, string>;
  env: Record<string, string>;
  remove(): void;
}

export async function makeSasl(mechanisms: readonly string[]): Promise<Sasl> {
  const { path, env } = await program("saslpasswd2", ["sasl2-bin", "libsasl2-modules", "libsasl2-modules-db"]);
  const folder = serverFolder("sasl");
  const plugins = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
    .map((architecture) => resolve(path, "../../lib", architecture, "sasl2"))
    .find(existsSync);
  if (!plugins) throw new Error("The package libsasl2-modules holds no plug-ins for this machine.");
  const withPlugins = { ...env, SASL_PATH: plugins };
  const database = join(folder, "sasldb2");
  execFileSync(path, ["-p", "-c", "-f", database, "-u", REALM, LOGIN.username], {
    input: LOGIN.password,
    env: { ...process.env, ...withPlugins },
  });
  // Postfix reads it as its own user.
  chmodSync(database, 0o644);
  writeFileSync(
    join(folder, "smtpd.conf"),
    `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: ${database}\nmech_list: ${mechanisms.join(" ")}\n`,
  );
  return {
    main: {
      smtpd_sasl_auth_enable: "yes",
      smtpd_sasl_type: "cyrus",
      smtpd_sasl_path: "smtpd",
      smtpd_sasl_local_domain: REALM,
      smtpd_sasl_security_options: "noanonymous",
      cyrus_sasl_config_path: folder,
      // Nobody is let in for the address alone.
      mynetworks: "192.0.2.1",
    },
    env: { SASL_PATH: plugins },
    remove: () => remove(folder),
  };
}
