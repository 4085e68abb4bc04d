/** `npm run -s ops -- status --json`: runs one command, prints its answer and exits. For scripts and `kubectl exec`. */
import { ConfigError, readConfig } from "../lib/config.ts";
import { connectOperator } from "./ask.ts";
import { NotReached } from "./ask-broker.ts";
import { localCommands, localUsage, runLocally } from "./backup-commands.ts";
import { type Command, commandNamed, commands, usageOf } from "./commands.ts";
import { printed } from "./repl.ts";
import { watchStatus } from "./status/watch.ts";
import { sentence } from "./table.ts";

const USAGE_ERROR = 64;

function help(): string {
  const all = [
    ...commands.map((command) => [usageOf(command), command.about] as const),
    ...localCommands.map((command) => [localUsage(command), command.about] as const),
  ];
  const width = Math.max(...all.map(([usage]) => usage.length));
  const lines = all.map(([usage, about]) => `  ${usage.padEnd(width)}  ${about}`);
  return ["Usage: npm run -s ops -- COMMAND [ARGUMENT…] [--json]", "", ...lines].join("\n");
}

const needed = ({ args }: Command) => args.filter((arg) => arg.startsWith("<")).length;

interface ParsedCommand {
  command: Command;
  /** Values of all arguments, then of all options. */
  values: (string | undefined)[];
  flags: string[];
  json: boolean;
}

/** A sentence if the words are wrong. */
function parsed(words: string[]): ParsedCommand | string {
  const [name = "", ...args] = words.filter((word) => word !== "--json");
  const command = commandNamed(name);
  const values = (command?.options ?? []).map((option) => {
    const at = args.indexOf(`--${option}`);
    return at < 0 ? undefined : args.splice(at, 2)[1];
  });
  if (!command) return `There is no command ${name}; \`ops help\` lists all.`;
  const flags = (command.flags ?? []).filter((flag) => args.includes(`--${flag}`));
  for (const flag of flags) args.splice(args.indexOf(`--${flag}`), 1);
  const option = args.find((word) => word.startsWith("--"));
  if (option) return `There is no option ${option} here. Usage: ${usageOf(command)} [--json]`;
  if (args.length < needed(command) || args.length > command.args.length) return `Usage: ${usageOf(command)}`;
  const missing = Array<undefined>(command.args.length - args.length).fill(undefined);
  return { command, values: [...args, ...missing, ...values], flags, json: words.includes("--json") };
}

function print({ command, flags, json }: ParsedCommand, rows: object[]): number {
  process.stdout.write(`${printed(command, rows, json, flags)}\n`);
  return command.exitCode?.(rows) ?? 0;
}

async function run(asked: ParsedCommand): Promise<number> {
  const { command, values, flags, json } = asked;
  const connection = await connectOperator(readConfig(process.env, { console: true }));
  try {
    if (flags.includes("watch") && process.stdout.isTTY && !json) {
      await watchStatus(connection.ask, process.stdout);
      return 0;
    }
    return print(asked, await command.run(connection.ask, ...values));
  } finally {
    await connection.close();
  }
}

async function main(words: string[]): Promise<number> {
  const name = words.find((word) => word !== "--json");
  if (name === undefined || name === "help" || words.includes("--help")) {
    process.stdout.write(`${help()}\n`);
    return 0;
  }
  const asked = parsed(words);
  if (typeof asked === "string") {
    process.stderr.write(`${asked}\n`);
    return USAGE_ERROR;
  }
  try {
    return await run(asked);
  } catch (error) {
    const { command } = asked;
    const isAway = error instanceof NotReached || error instanceof ConfigError;
    if (!isAway || !command.withoutService) throw error;
    return print(asked, await command.withoutService(error, process.env));
  }
}

try {
  const words = process.argv.slice(2);
  const code = (await runLocally(words)) ?? (await main(words));
  await new Promise<void>((done) => process.stdout.write("", () => done()));
  // Connections that failed or are still being opened (NATS) would keep the process running.
  process.exit(code);
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : sentence(error)}\n`);
  process.exit(1);
}
