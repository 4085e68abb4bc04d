/**
 * A real pgbouncer in front of the tests' PostgreSQL: 1.18 from Debian 12, without support for prepared statements, or
 * 1.24 from Debian 13, which supports them and runs here with its own release's loader and libraries.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { startChild, untilListening } from "./child.ts";
import { asNonRoot } from "./postgres15.ts";
import { program, programOf } from "./programs.ts";

export interface Pgbouncer {
  /** The URL of a database through pgbouncer, from its direct URL. */
  url(database: string): string;
  stop(): Promise<void>;
}

export interface PgbouncerOptions {
  version: "1.18" | "1.24";
  mode: "transaction" | "session" | "statement";
  settings?: Record<string, string | number>;
}

async function find({ version }: PgbouncerOptions): Promise<{ command: string[]; env?: Record<string, string> }> {
  if (version === "1.24") return { command: await programOf("trixie", "pgbouncer", ["pgbouncer"]) };
  const { path, env } = await program("pgbouncer", ["pgbouncer"]);
  return { command: [path], env };
}

export async function startPgbouncer(options: PgbouncerOptions): Promise<Pgbouncer> {
  const found = await find(options);
  const server = new URL(process.env.TEST_SERVER_URL!);
  const folder = mkdtempSync(join(tmpdir(), "flockmail-pgbouncer-"));
  const port = await unusedPort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    pool_mode: options.mode,
    auth_type: "trust",
    auth_file: join(folder, "users"),
    max_client_conn: 200,
    // Fewer than clients, so that sessions are shared.
    default_pool_size: 5,
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\n* = host=${server.hostname} port=${server.port}\n`;
  writeFileSync(join(folder, "pgbouncer.ini"), `${databases}[pgbouncer]\n${lines.join("\n")}\n`);
  writeFileSync(settings.auth_file, `"${server.username}" "${server.password}"\n`);
  const [command, ...args] = asNonRoot([...found.command, join(folder, "pgbouncer.ini")]);
  const child = startChild(command!, args, { env: found.env });
  await untilListening(child, port);
  return {
    url(database) {
      const url = new URL(database);
      url.port = `${port}`;
      url.hostname = "127.0.0.1";
      return url.href;
    },
    async stop() {
      await child.stop();
      if (existsSync(folder)) rmSync(folder, { recursive: true });
    },
  };
}
