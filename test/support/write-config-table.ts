/** `npm run config:table`: writes the table of all variables into docs/configuration.md, between its two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configTable } from "../../services/lib/config.ts";

const PAGE = join(import.meta.dirname, "../../docs/configuration.md");
const TABLE = /(?<=<!-- config:table -->\n)[\s\S]*?(?=<!-- \/config:table -->)/;

writeFileSync(
  PAGE,
  readFileSync(PAGE, "utf8").replace(TABLE, () => `${configTable()}\n`),
);
