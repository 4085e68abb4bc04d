/** Commands that work on the database directly and do not need the running service. */
import { MARK_RESTORED } from "../../models/statements/restored-database.ts";
import { type Config, readConfig } from "../lib/config.ts";
import { backup } from "./backup.ts";
import { checkBackup } from "./backup-check.ts";
import { withServiceDatabase } from "./backup-tools.ts";
import { table } from "./table.ts";

interface LocalCommand {
  name: string;
  args: string[];
  about: string;
  run(settings: Config, ...args: string[]): Promise<{ rows: object[]; failed?: boolean }>;
}

const USAGE_ERROR = 64;
const FAILED = 1;

export const localCommands: readonly LocalCommand[] = [
  {
    name: "backup",
    args: ["<file>"],
    about: "Back up the database into a file, and write a manifest; SECRET_KEY is not included",
    async run(settings, file) {
      const { rows, ...manifest } = await backup(settings, file!);
      const counted = manifest.kind === "files" ? null : Object.values(rows).reduce((sum, n) => sum + n, 0);
      return { rows: [{ file, ...manifest, rows: counted }] };
    },
  },
  {
    name: "restore-check",
    args: ["<file>", "<database-url>"],
    about: "Restore a backup into an empty database and check it; lists newsletters that a start would stop",
    async run(settings, file, url) {
      const rows = await checkBackup(settings, file!, url!);
      return { rows, failed: rows.some(({ result }) => result === "failed") };
    },
  },
  {
    name: "restored",
    args: [],
    about: "Mark the database as restored from a snapshot; stops running newsletters",
    async run(settings) {
      await withServiceDatabase(settings, (client) => client.query(MARK_RESTORED));
      return { rows: [{ restored: true, newsletters: "stopped when the service starts, or now if it runs" }] };
    },
  },
];

export const localUsage = ({ name, args }: LocalCommand): string => [name, ...args].join(" ");

/** The exit code; undefined if the words are none of these commands. */
export async function runLocally(words: readonly string[]): Promise<number | undefined> {
  const [name, ...args] = words.filter((word) => word !== "--json");
  const command = localCommands.find((one) => one.name === name);
  if (!command || words.includes("--help")) return undefined;
  if (args.length !== command.args.length || args.some((arg) => arg.startsWith("--"))) {
    process.stderr.write(`Usage: ${localUsage(command)}\n`);
    return USAGE_ERROR;
  }
  const { rows, failed } = await command.run(readConfig(process.env, { console: true }), ...args);
  process.stdout.write(`${words.includes("--json") ? JSON.stringify(rows) : table(rows)}\n`);
  return failed ? FAILED : 0;
}
