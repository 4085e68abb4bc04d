/**
 * The service as tests use it: a broker without transporter, with the named services (all by default), on a database
 * of its own and free ports. `await app.stop()` in afterAll leaves nothing behind.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { createDatabase, type TestDatabase } from "./database.ts";
import { quickPasswords } from "./quick-passwords.ts";

const SERVICES = join(import.meta.dirname, "../../services");

export interface App {
  broker: ServiceBroker;
  /** Base address of the API; empty when the gateway is not among the services. */
  url: string;
  databaseUrl: string;
  stop(): Promise<void>;
}

const serviceNames = () =>
  readdirSync(SERVICES).filter((name) => existsSync(join(SERVICES, name, `${name}.service.ts`)));

export interface AppOptions {
  services?: string[];
  /** Overrides configuration; it must be given before anything reads config(), so start the app first. */
  env?: Record<string, string>;
  /** It is dropped with the app. */
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
    // Nobody listens there: no test asks the world.
    DNS_SERVERS: "127.0.0.1:9",
    // What a test left hanging must not hold up its end.
    DRAIN_SECONDS: "3",
    // The test client speaks for many addresses, so that the throttles per address count what a test means them to.
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
