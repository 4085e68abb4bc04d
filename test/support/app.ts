/**
 * The service for tests: a broker without transporter that runs the named services (all by default) with its own
 * database and free ports. `await app.stop()` in afterAll cleans up.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { createDatabase, type TestDatabase } from "./database.ts";
import { quickPasswords } from "./quick-passwords.ts";

const SERVICES = join(import.meta.dirname, "../../services");

export interface App {
  broker: ServiceBroker;
  /** Base address of the API; empty without the gateway. */
  url: string;
  databaseUrl: string;
  stop(): Promise<void>;
}

const serviceNames = () =>
  readdirSync(SERVICES).filter((name) => existsSync(join(SERVICES, name, `${name}.service.ts`)));

export interface AppOptions {
  services?: string[];
  /** Overrides the configuration. Start the app before anything reads config(). */
  env?: Record<string, string>;
  /** Dropped with the app. */
  database?: TestDatabase;
}

export async function startApp(options: AppOptions = {}): Promise<App> {
  const database = options.database ?? (await createDatabase());
  const passwords = quickPasswords();
  Object.assign(process.env, {
    DATABASE_URL: database.url,
    SECRET_KEY: "test-secret-test-secret-test-secret",
    PORT: "0",
    HEALTH_PORT: "0",
    ALLOW_PRIVATE_NETWORKS: "true",
    LOGLEVEL: "fatal",
    // Nothing listens on this port, so no test queries real name servers.
    DNS_SERVERS: "127.0.0.1:9",
    // Requests that a test left open must not delay its end.
    DRAIN_SECONDS: "3",
    // Lets the test client choose its address, so that rate limits count what a test intends.
    TRUST_PROXY: "1",
    ...options.env,
  });
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const broker = new ServiceBroker({ ...brokerOptions(config()), nodeID: `test-${process.pid}-${Date.now()}` });
  for (const name of options.services ?? serviceNames()) {
    const module = (await import(join(SERVICES, name, `${name}.service.ts`))) as { default: ServiceSchema };
    broker.createService(module.default);
  }
  await broker.start();
  const gateway = broker.getLocalService("gateway") as unknown as { url?: string } | null;
  return {
    broker,
    url: gateway?.url ?? "",
    databaseUrl: database.url,
    stop: async () => {
      await broker.stop();
      passwords.stop();
      await database.drop();
    },
  };
}
