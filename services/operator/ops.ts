/** `npm run -s ops -- campaigns --json`: one command, its answer, an exit code. For scripts and `kubectl exec`. */
import { ConfigError, readConfig } from "../lib/config.ts";
import { connectOperator } from "./ask.ts";
import { type Command, commandNamed, commands, usageOf } from "./commands.ts";
import { sentence, table } from "./table.ts";

const USAGE_ERROR = 64;

function help(): string {
  const width = Math.max(...commands.map((command) => usageOf(command).length));
  const lines = commands.map((command) => `  ${usageOf(command).padEnd(width)}  ${command.about}`);
  return ["Usage: npm run -s ops -- COMMAND [ARGUMENT…] [--json]", "", ...lines].join("\n");
}

const needed = ({ args }: Command) => args.filter((arg) => arg.startsWith("<")).length;

async function main(words: string[]): Promise<number> {
  const json = words.includes("--json");
  const [name, ...given] = words.filter((word) => word !== "--json");
  if (!name || name === "help" || words.includes("--help")) {
    process.stdout.write(`${help()}\n`);
    return 0;
  }
  const command = commandNamed(name);
  const args = [...given];
  const values = (command?.options ?? []).map((option) => {
    const at = args.indexOf(`--${option}`);
    return at < 0 ? undefined : args.splice(at, 2)[1];
  });
  const option = args.find((word) => word.startsWith("--"));
  if (option) {
    const known = ["json", ...(command?.options ?? [])].map((one) => `--${one}`).join(" and ");
    process.stderr.write(`There is no option ${option} here; there is ${known}.\n`);
    return USAGE_ERROR;
  }
  if (!command || args.length < needed(command) || args.length > command.args.length) {
    const wrong = command ? `Usage: ${usageOf(command)}` : `There is no command ${name}; \`ops help\` lists all.`;
    process.stderr.write(`${wrong}\n`);
    return USAGE_ERROR;
  }
  const missing = Array<undefined>(command.args.length - args.length).fill(undefined);
  const connection = await connectOperator(readConfig(process.env, { console: true }));
  try {
    const rows = await command.run(connection.ask, ...args, ...missing, ...values);
    process.stdout.write(`${json ? JSON.stringify(rows) : table(rows)}\n`);
    return 0;
  } finally {
    await connection.close();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : sentence(error)}\n`);
  // What was opened in vain (NATS that does not answer) would keep the process for ever.
  process.exit(1);
}
