/** Broker middleware: finds out before anything is started that a port is taken. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";

async function refuseTaken(name: "PORT" | "HEALTH_PORT", port: number): Promise<void> {
  const server = createServer().listen(port);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new Error(`port ${port} is taken by another program; choose one with ${name}=…`);
    throw new Error(`cannot listen on port ${port} (${name}): ${message}`);
  }
  await new Promise((done) => server.close(done));
}

export function freePorts(config: Config): Middleware {
  return {
    name: "FreePorts",
    async starting(broker: ServiceBroker) {
      const both = config.PORT === config.HEALTH_PORT && config.PORT !== 0;
      if (both && broker.getLocalService("gateway")) throw new Error(`PORT and HEALTH_PORT are both ${config.PORT}`);
      if (broker.getLocalService("gateway")) await refuseTaken("PORT", config.PORT);
      if (broker.services.length > 1) await refuseTaken("HEALTH_PORT", config.HEALTH_PORT);
    },
  } as Middleware;
}
