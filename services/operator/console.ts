/**
 * The operator's REPL, `npm run repl`, with the commands of commands.ts beside Moleculer's own. It attaches to the
 * cluster named by TRANSPORTER, else to the service that runs on DATA_DIR.
 */
import type { BrokerOptions, ServiceBroker } from "moleculer";
import { brokerOptions, hideFromRunner, nodeIdOfThisStart } from "../../moleculer.config.ts";
import { type Config, ConfigError, readConfig } from "../lib/config.ts";
import { askThroughSocket } from "./ask.ts";
import { askBroker } from "./ask-broker.ts";
import { replCommandsOver } from "./repl.ts";

const FIND_SERVICE_MS = 5_000;

function consoleOptions(settings: Config): BrokerOptions {
  hideFromRunner();
  const attached = Boolean(settings.TRANSPORTER);
  const overSocket = askThroughSocket(settings.DATA_DIR).ask;
  const customCommands = replCommandsOver(attached ? askBroker : () => overSocket);
  return {
    ...brokerOptions({ ...settings, LOGLEVEL: "warn" }),
    nodeID: `operator-${nodeIdOfThisStart()}`,
    middlewares: [],
    started: async (broker: ServiceBroker) => {
      if (attached) await broker.waitForServices(["operator"], FIND_SERVICE_MS);
    },
    replOptions: { delimiter: "flockmail $", customCommands },
  };
}

export default () => {
  try {
    return consoleOptions(readConfig(process.env, { console: true }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(78);
  }
};
