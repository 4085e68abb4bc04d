/** Runs services in the benchmark's own process, or in a forked one. */
import type { ServiceBroker } from "moleculer";

/** All services that answer requests. */
export const API_SERVICES = [
  "gateway",
  "accounts",
  "subscribers",
  "campaigns",
  "renderer",
  "tracking",
  "webhooks",
  "bounces",
  "smtp-sender",
];

/** Settings of every benchmark: free ports, a key, and a name server that never answers. */
export const benchEnvironment = (databaseUrl: string, folder: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: folder,
  HOST: "127.0.0.1",
  PORT: "0",
  HEALTH_PORT: "0",
  SECRET_KEY: "bench-secret-bench-secret-bench-secret",
  REGISTRATION: "open",
  DNS_SERVERS: "127.0.0.1:9",
  LOGLEVEL: "error",
});

interface Serving {
  broker: ServiceBroker;
  url: string;
  port: number;
}

/** Reads the environment now: import nothing of the service before. */
export async function startServices(names: readonly string[]): Promise<Serving> {
  const moleculer = await import("moleculer");
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const broker = new moleculer.ServiceBroker(brokerOptions(config()));
  for (const name of names) {
    broker.createService((await import(`../../services/${name}/${name}.service.ts`)).default);
  }
  await broker.start();
  const { url } = broker.getLocalService("gateway") as unknown as { url: string };
  return { broker, url, port: Number(new URL(url).port) };
}
