/** `npm run config:table`: writes the table of all variables into docs/configuration.md, between its two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "../services/lib/config.ts";

const PAGE = join(import.meta.dirname, "../docs/configuration.md");
const TABLE = /(?<=<!-- config:table -->\n)[\s\S]*?(?=<!-- \/config:table -->)/;

interface Setting {
  description: string;
  default?: unknown;
  derivedDefault?: { text: string };
}

export function configTable(): string {
  const rows = Object.entries(configSchema.properties as unknown as Record<string, Setting>).map(([name, setting]) => {
    const shownDefault = setting.derivedDefault?.text ?? setting.default;
    return `| \`${name}\` | ${shownDefault === undefined ? "" : `\`${shownDefault}\``} | ${setting.description} |`;
  });
  return ["| variable | default | meaning |", "|---|---|---|", ...rows].join("\n");
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(
    PAGE,
    readFileSync(PAGE, "utf8").replace(TABLE, () => `${configTable()}\n`),
  );
}
