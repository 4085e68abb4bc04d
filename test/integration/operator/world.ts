/** The whole service as a node of a cluster, and an operator connected to it over real NATS. */
import { readConfig } from "../../../services/lib/config.ts";
import { connectOperator, type OperatorConnection } from "../../../services/operator/ask.ts";
import { commandNamed } from "../../../services/operator/commands.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Server, startNats, startRedis } from "../../support/servers.ts";

export interface Cluster {
  app: App;
  env: Record<string, string>;
  connection: OperatorConnection;
  /** A command's rows, as `--json` prints them. */
  run(name: string, ...args: string[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export async function startNode(): Promise<Cluster> {
  const servers: Server[] = [await startNats(), await startRedis()];
  const env = { TRANSPORTER: servers[0]!.url, REDIS_URL: servers[1]!.url };
  const app = await startApp({ env });
  // An operator needs only the address of NATS.
  const connection = await connectOperator(readConfig({ TRANSPORTER: env.TRANSPORTER }, { console: true }));
  return {
    app,
    env,
    connection,
    run: async (name, ...args) => {
      const command = commandNamed(name)!;
      return JSON.parse(JSON.stringify(await command.run(connection.ask, ...args)));
    },
    stop: async () => {
      await connection.close();
      await app.stop();
      for (const server of servers) await server.stop();
    },
  };
}
