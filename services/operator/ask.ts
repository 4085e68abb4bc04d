/** Connects a command to the running service: over NATS to a cluster, else through the operator socket. */
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { ServiceBroker } from "moleculer";
import { brokerOptions, nodeIdOfThisStart } from "../../moleculer.config.ts";
import type { Config } from "../lib/config.ts";
import { natsAddresses } from "../lib/nats.ts";
import { socketPath } from "../lib/processes/single-instance.ts";
import { withTimeout } from "../lib/timeouts.ts";
import { ANSWER_MS, type Ask, askBroker, NotReached } from "./ask-broker.ts";

export interface OperatorConnection {
  ask: Ask;
  close(): Promise<void>;
}

export const SOCKET_NAME = "operator.sock";
const FIND_SERVICE_MS = 5_000;

/** Needed because Moleculer retries to connect, and waits for services, forever. */
const within = (timeoutMs: number, work: Promise<unknown>, otherwise: string) =>
  withTimeout(work, timeoutMs, () => new NotReached(otherwise));

/** Joins the cluster as a temporary node without services, database or port. */
async function askOverNats(settings: Config): Promise<OperatorConnection> {
  const broker = new ServiceBroker({
    ...brokerOptions({ ...settings, LOGLEVEL: "fatal" }),
    nodeID: `operator-${nodeIdOfThisStart()}`,
    middlewares: [],
    skipProcessEventRegistration: true,
  });
  const host = natsAddresses(settings);
  await within(FIND_SERVICE_MS, broker.start(), `NATS does not answer at ${host} (TRANSPORTER)`);
  await within(
    FIND_SERVICE_MS,
    broker.waitForServices(["operator"]),
    `No Flockmail node is connected to ${host} (TRANSPORTER)`,
  );
  return { ask: askBroker(broker), close: () => broker.stop() };
}

/** The socket's answer: one line of JSON. */
export interface Answer {
  value?: unknown;
  error?: { message: string; data?: unknown };
}

async function throughSocket(path: string, question: object): Promise<unknown> {
  const socket = connect(path);
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("The service does not answer")));
  const failed = new Promise<never>((_, reject) => socket.once("error", reject));
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  socket.write(`${JSON.stringify(question)}\n`);
  try {
    const { value } = await Promise.race([lines.next(), failed]);
    if (!value) throw new Error("The service ended before it answered");
    const answer = JSON.parse(value) as Answer;
    if (answer.error) throw Object.assign(new Error(answer.error.message), { data: answer.error.data });
    return answer.value;
  } finally {
    socket.destroy();
  }
}

export function askThroughSocket(directory: string): OperatorConnection {
  const path = socketPath(directory, SOCKET_NAME);
  const ask: Ask = async (action, params, as) => {
    try {
      return (await throughSocket(path, { action, params, as })) as never;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ECONNREFUSED") throw error;
      throw new NotReached(`No Flockmail runs on ${directory} (DATA_DIR), and TRANSPORTER names no cluster`);
    }
  };
  return { ask, close: async () => {} };
}

export const connectOperator = async (settings: Config): Promise<OperatorConnection> =>
  settings.TRANSPORTER ? askOverNats(settings) : askThroughSocket(settings.DATA_DIR);
