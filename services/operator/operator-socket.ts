/**
 * Lets operators reach a service that runs in one process: a Unix socket in DATA_DIR that only the process's owner may
 * open. A request for an action is one line of JSON, and so is its answer.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { ServiceBroker } from "moleculer";
import type { ActionOf } from "../contracts.ts";
import type { Caller } from "../lib/caller.ts";
import { socketPath } from "../lib/processes/single-instance.ts";
import { type Answer, SOCKET_NAME } from "./ask.ts";
import { askBroker } from "./ask-broker.ts";
import { operatorActions } from "./commands.ts";

async function answer(broker: ServiceBroker, line: string): Promise<Answer> {
  try {
    const { action, params, as } = JSON.parse(line) as { action: ActionOf; params: never; as?: Caller };
    if (!operatorActions.has(action)) throw new Error(`${action} is not an operator action`);
    return { value: await askBroker(broker)(action, params, as) };
  } catch (error) {
    const { message, data } = error as Error & { data?: unknown };
    return { error: { message, data } };
  }
}

async function serve(broker: ServiceBroker, socket: Socket): Promise<void> {
  socket.on("error", () => socket.destroy());
  for await (const line of createInterface({ input: socket })) {
    const answered = await answer(broker, line);
    if (!socket.destroyed) socket.write(`${JSON.stringify(answered)}\n`);
  }
}

/** Returns a function that closes the socket. In a read-only folder the service starts without the socket. */
export async function openOperatorSocket(broker: ServiceBroker, directory: string): Promise<() => Promise<void>> {
  const path = socketPath(directory, SOCKET_NAME);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    serve(broker, socket).catch(() => socket.destroy());
  });
  try {
    mkdirSync(directory, { recursive: true });
    rmSync(path, { force: true });
    await new Promise<void>((done, failed) => server.once("error", failed).listen(path, done));
    chmodSync(path, 0o600);
  } catch (error) {
    broker.logger.warn(
      `Operator commands cannot reach this process because its socket could not be opened: ${(error as Error).message}`,
    );
  }
  return async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((done) => server.close(done));
  };
}
