/** The commands in the form that moleculer-repl takes: for any node's REPL, and for the console that attaches to one. */
import type { ServiceBroker } from "moleculer";
import { type Ask, askBroker } from "./ask-broker.ts";
import { type Command, commands } from "./commands.ts";
import { sentence, table } from "./table.ts";

interface Given extends Record<string, unknown> {
  options?: { json?: boolean } & Record<string, unknown>;
}

const plainName = (arg: string) => arg.replace(/[<>[\]]/g, "");

/** What a terminal shows of a command's rows. */
export const printed = ({ print = table }: Command, rows: object[], json: boolean | undefined): string =>
  json ? JSON.stringify(rows) : print(rows);

export function replCommandsOver(askFrom: (broker: ServiceBroker) => Ask) {
  return commands.map((command) => ({
    command: [command.name, ...command.args].join(" "),
    ...(command.aliases ? { alias: command.aliases } : {}),
    description: command.about,
    options: [
      { option: "--json", description: "as JSON" },
      ...(command.options ?? []).map((name) => ({ option: `--${name} <${name}>`, description: `the ${name}` })),
    ],
    // The typings promise an array; moleculer-repl hands over an object with the arguments by name.
    async action(broker: ServiceBroker, parsed: unknown) {
      const given = parsed as Given;
      try {
        const args = command.args.map((arg) => given[plainName(arg)] as string | undefined);
        const values = (command.options ?? []).map((name) => given.options?.[name] as string | undefined);
        const rows = await command.run(askFrom(broker), ...args, ...values);
        process.stdout.write(`${printed(command, rows, given.options?.json)}\n`);
      } catch (error) {
        process.stdout.write(`${sentence(error)}\n`);
      }
    },
  }));
}

export const replCommands = replCommandsOver(askBroker);
