/** Broker middleware: warns at start if links in emails would only work on this machine. */
import type { Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";
import { isLoopbackHost } from "../services/lib/ssrf/local-host.ts";

export function baseUrlWarning({ BASE_URL }: Pick<Config, "BASE_URL">): Middleware {
  return {
    name: "BaseUrlWarning",
    // Logged after all services have started, so that a service that fails to start is reported alone.
    started(broker: ServiceBroker) {
      if (!broker.getLocalService("renderer") || !isLoopbackHost(new URL(BASE_URL).hostname)) return;
      broker.logger.warn(
        `BASE_URL is ${BASE_URL}: links in emails only work on this machine. Set it to the public URL before you send to others.`,
      );
    },
  } as Middleware;
}
