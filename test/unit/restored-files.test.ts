import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forgetMark, isMarkedRestored, madeAt, markRestored } from "../../services/lib/processes/restored-files.ts";

const folder = mkdtempSync(join(tmpdir(), "flockmail-restored-"));
const [original, copy] = [join(folder, "original"), join(folder, "copy")];
afterAll(() => rmSync(folder, { recursive: true }));

test("a copy of the database's folder is told from the original, which stays the same as files come and go", async () => {
  mkdirSync(join(original, "postgres"), { recursive: true });
  await sleep(20);
  writeFileSync(join(original, "postgres/postmaster.pid"), "");
  const first = madeAt(original);
  await sleep(20);
  cpSync(original, copy, { recursive: true, preserveTimestamps: true });
  await sleep(20);
  writeFileSync(join(copy, "postgres/postmaster.pid.lock"), "");
  rmSync(join(original, "postgres/postmaster.pid"));
  expect(madeAt(original)).toBe(first);
  // A file system without times of birth says so for both.
  if (first === "") expect(madeAt(copy)).toBe("");
  else expect(madeAt(copy)).not.toBe(first);
});

test("what an operator says of it holds until it is forgotten", () => {
  expect(isMarkedRestored(folder)).toBe(false);
  markRestored(folder);
  expect(isMarkedRestored(folder)).toBe(true);
  forgetMark(folder);
  expect(isMarkedRestored(folder)).toBe(false);
});
