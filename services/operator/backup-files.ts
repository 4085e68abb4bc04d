/**
 * Copies the files of the running embedded database, whose packages contain no matching pg_dump. Writes a tar archive
 * of PostgreSQL's online backup, including the write-ahead log that makes the files consistent.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type pg from "pg";

/** Files that PostgreSQL recreates or must not find in a copy. The write-ahead log is added after all files. */
const LEFT_OUT = [
  "postmaster.pid",
  "postmaster.opts",
  "pg_wal/*",
  "pg_replslot/*",
  "pg_dynshmem/*",
  "pg_notify/*",
  "pg_serial/*",
  "pg_snapshots/*",
  "pg_stat_tmp/*",
  "pg_subtrans/*",
];
const SLOT = "flockmail_backup";

/** Exit code 1 means that a file changed while it was read; the write-ahead log repairs that. */
async function tar(...args: string[]): Promise<void> {
  const child = spawn("tar", args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-2_000);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0 && code !== 1) throw new Error(`tar failed: ${stderr.trim() || `exit code ${code}`}`);
}

interface Stopped {
  labelfile: string;
  first: string;
  last: string;
}

const STOP = `
  with stopped as (select * from pg_backup_stop(true))
  select labelfile, pg_walfile_name(lsn) as last, substring(labelfile from '\\(file ([0-9A-F]{24})\\)') as first from stopped`;

/** Writes the archive; to restore, put its `postgres` folder and `postgres.password` into an empty DATA_DIR. */
export async function copyFiles(client: pg.Client, dataDir: string, file: string): Promise<void> {
  const root = resolve(dataDir);
  const archive = resolve(file);
  const folder = mkdtempSync(join(dirname(archive), ".flockmail-backup-"));
  try {
    // The slot keeps all log from the start of the backup; it disappears with this connection.
    await client.query("select pg_create_physical_replication_slot($1, true, true)", [SLOT]);
    await client.query("select pg_backup_start($1, true)", [SLOT]);
    const excluded = LEFT_OUT.map((name) => `--exclude=postgres/${name}`);
    await tar("-cf", archive, ...excluded, "-C", root, "postgres", "postgres.password");
    const { labelfile, first, last } = (await client.query<Stopped>(STOP)).rows[0]!;
    mkdirSync(join(folder, "postgres"));
    writeFileSync(join(folder, "postgres/backup_label"), labelfile, { mode: 0o600 });
    const log = readdirSync(join(root, "postgres/pg_wal")).filter((name) => name >= first && name <= last);
    await tar("-rf", archive, "-C", folder, "postgres/backup_label");
    await tar("-rf", archive, "-C", root, ...log.map((name) => `postgres/pg_wal/${name}`));
    await client.query("select pg_drop_replication_slot($1)", [SLOT]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
