/** Backup of the embedded database without a matching pg_dump, and its restore as in docs/backup.md. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Config } from "../../../services/lib/config.ts";
import { startEmbeddedPostgres } from "../../../services/lib/processes/embedded-postgres.ts";
import { backup, manifestOf } from "../../../services/operator/backup.ts";
import { checkBackup } from "../../../services/operator/backup-check.ts";
import { memoryFolder } from "../../support/memory-folder.ts";

jest.setTimeout(120_000);

describe("the embedded database without a pg_dump of its version", () => {
  const folder = mkdtempSync(join(memoryFolder(), "flockmail-files-"));
  const { PATH } = process.env;
  beforeAll(() => {
    // Hides a matching pg_dump of this machine: PATH has only tar and an outdated pg_dump.
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "pg_dump"), "#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.18'\n", { mode: 0o755 });
    process.env.PATH = `${bin}:${PATH}`;
  });
  afterAll(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true, force: true });
  });

  test("is copied while it is written to, and starts from the copy with everything committed before", async () => {
    const [data, restored, file] = [join(folder, "data"), join(folder, "restored"), join(folder, "flockmail.dump")];
    const server = await startEmbeddedPostgres(data);
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query("create table migrations (name text); insert into migrations values ('0001')");
    await client.query(
      "create table kept as select n, repeat(md5(n::text), 20) as text from generate_series(1, 20000) n",
    );
    let writing = true;
    const writer = (async () => {
      while (writing) {
        await client.query("insert into kept select n, 'later' from generate_series(1, 500) n");
        await client.query("update kept set text = 'changed' where n % 100 = 7");
        await client.query("checkpoint");
      }
    })();
    const settings = { DATA_DIR: data } as Config;
    const made = await backup(settings, file);
    writing = false;
    await writer;
    await client.end();
    await server.stop();
    expect(made).toMatchObject({ kind: "files", rows: {} });
    expect(JSON.parse(readFileSync(manifestOf(file), "utf8"))).toEqual(made);
    await expect(checkBackup(settings, file, "postgres://nowhere")).rejects.toThrow("Unpack it with tar");

    mkdirSync(restored);
    execFileSync("tar", ["-xf", file, "-C", restored]);
    const again = await startEmbeddedPostgres(restored);
    const reader = new pg.Client(again.url);
    await reader.connect();
    const { rows } = await reader.query(
      "select count(*) filter (where text <> 'later')::int >= 20000 as whole from kept",
    );
    expect(rows).toEqual([{ whole: true }]);
    await reader.end();
    await again.stop();
  });
});
