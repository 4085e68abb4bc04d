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
  const [name, ...args] = words.filter((word) => word !== "--json");
  if (!name || name === "help" || words.includes("--help")) {
    process.stdout.write(`${help()}\n`);
    return 0;
  }
  const option = words.find((word) => word.startsWith("--") && word !== "--json");
  if (option) {
    process.stderr.write(`There is no option ${option}; the only one is --json.\n`);
    return USAGE_ERROR;
  }
  const command = commandNamed(name);
  if (!command || args.length < needed(command) || args.length > command.args.length) {
    const wrong = command ? `Usage: ${usageOf(command)}` : `There is no command ${name}; \`ops help\` lists all.`;
    process.stderr.write(`${wrong}\n`);
    return USAGE_ERROR;
  }
  const connection = await connectOperator(readConfig(process.env, { console: true }));
  try {
    const rows = await command.run(connection.ask, ...args);
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
