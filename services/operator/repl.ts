/** The commands for moleculer-repl, in the REPL of any node and in the attached console. */
import type { ServiceBroker } from "moleculer";
import { type Ask, askBroker } from "./ask-broker.ts";
import { type Command, commands } from "./commands.ts";
import { sentence, table } from "./table.ts";

interface ReplArgs extends Record<string, unknown> {
  options?: { json?: boolean } & Record<string, unknown>;
}

/** Flags that the REPL offers; `watch` needs a whole terminal. */
const replFlags = ({ flags = [] }: Command) => flags.filter((name) => name !== "watch");

const plainName = (arg: string) => arg.replace(/[<>[\]]/g, "");

export const printed = (
  { print = table }: Command,
  rows: object[],
  json: boolean | undefined,
  flags: readonly string[],
): string => (json ? JSON.stringify(rows) : print(rows, flags));

/** The `program` of commander, with which moleculer-repl registers its commands. */
interface Program {
  commands: { name(): string; helpGroup(heading: string): unknown; outputHelp(): void }[];
  outputHelp(): void;
}

/** Lists our commands before Moleculer's, which are registered first. */
const help = {
  command: "help [command]",
  description: "Show all commands, or how one is used",
  options: [],
  parse(command: { parent: Program; args: string[]; params: object }) {
    command.params = { program: command.parent, name: command.args[0] };
  },
  async action(_broker: ServiceBroker, parsed: unknown) {
    const { program, name } = parsed as { program: Program; name?: string };
    const isOurs = (one: { name(): string }) =>
      one.name() === "help" || commands.some((command) => command.name === one.name());
    const ours = program.commands.filter(isOurs);
    program.commands = [...ours, ...program.commands.filter((one) => !isOurs(one))];
    for (const one of program.commands) one.helpGroup(isOurs(one) ? "Flockmail:" : "Moleculer:");
    (program.commands.find((one) => one.name() === name) ?? program).outputHelp();
  },
};

export function replCommandsOver(askFrom: (broker: ServiceBroker) => Ask) {
  const all = commands.map((command) => ({
    command: [command.name, ...command.args].join(" "),
    description: command.about,
    options: [
      { option: "--json", description: "as JSON" },
      ...(command.options ?? []).map((name) => ({ option: `--${name} <${name}>`, description: `the ${name}` })),
      ...replFlags(command).map((name) => ({ option: `--${name}`, description: `with ${name}` })),
    ],
    // The typings declare an array; moleculer-repl passes an object with the arguments by name.
    async action(broker: ServiceBroker, parsed: unknown) {
      const given = parsed as ReplArgs;
      try {
        const args = command.args.map((arg) => given[plainName(arg)] as string | undefined);
        const values = (command.options ?? []).map((name) => given.options?.[name] as string | undefined);
        const rows = await command.run(askFrom(broker), ...args, ...values);
        const flags = replFlags(command).filter((name) => given.options?.[name]);
        process.stdout.write(`${printed(command, rows, given.options?.json, flags)}\n`);
      } catch (error) {
        process.stdout.write(`${sentence(error)}\n`);
      }
    },
  }));
  return [...all, help];
}

export const replCommands = replCommandsOver(askBroker);
