/** Broker middleware: tells a person who started Flockmail with one command where it is and what to do next. */
import { resolve } from "node:path";
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";

export function bannerText(config: Config): string {
  const data = config.DATABASE_URL ? "the PostgreSQL of DATABASE_URL" : resolve(config.DATA_DIR);
  return `
${config.SERVICE_NAME} is running.
  Console  ${config.BASE_URL}/app/
  API      ${config.BASE_URL}/api/   (reference: ${config.BASE_URL}/docs/)
  Health   http://localhost:${config.HEALTH_PORT}/ready
  Data     ${data}

Next: run \`npm run demo\` in a second terminal. It sends a campaign to 1,000 subscribers, to a mail server on this machine.
Ctrl-C stops it; all data is kept.
`;
}

export function startBanner(config: Config): Middleware {
  return {
    name: "StartBanner",
    started(broker: ServiceBroker) {
      const byHand = !config.DATABASE_URL || process.stdout.isTTY;
      if (byHand && broker.getLocalService("gateway")) process.stdout.write(bannerText(config));
    },
  } as Middleware;
}
