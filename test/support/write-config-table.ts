/** `npm run config:table`: writes the table of all configuration into the README, between its two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configTable } from "../../services/lib/config.ts";

const README = join(import.meta.dirname, "../../README.md");
const TABLE = /(?<=<!-- config:table -->\n)[\s\S]*?(?=<!-- \/config:table -->)/;

writeFileSync(
  README,
  readFileSync(README, "utf8").replace(TABLE, () => `${configTable()}\n`),
);
