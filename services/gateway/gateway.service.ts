import type { Service } from "moleculer";
import { contractOf } from "../contracts.ts";
import { defineService } from "../define.ts";
import { config } from "../lib/config.ts";
import { permissionOf } from "../permissions.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { routes } from "./routes.ts";

type GatewayService = Service & { gateway?: Gateway; url?: string };

/** The REST API: maps HTTP requests to actions. It owns no data; its caches are at most a second old. */
export default defineService(
  "gateway",
  {},
  {
    actions: {},
    metadata: { calls: [...new Set(routes.map(({ action }) => action.split(".", 1)[0]!))] },

    created(this: GatewayService) {
      // Drains before any service stops, because requests in flight still need the services.
      this.broker.middlewares.add({ name: "DrainHttp", stopping: async () => this.gateway?.drain() });
    },

    async started(this: GatewayService) {
      this.gateway = await openGateway(this.broker, { routes, contractOf, permissionOf, settings: config() });
      this.url = this.gateway.url;
    },

    async stopped(this: GatewayService) {
      // Needed if only this service stops; a stopping broker has drained it already.
      await this.gateway?.drain();
    },

    events: {
      async "member.changed"(ctx) {
        (this as GatewayService).gateway?.authentication.forgetPerson(ctx.params.userId);
      },
      async "trackingDomain.changed"(ctx) {
        (this as GatewayService).gateway?.hosts.forget(ctx.params.companyId);
      },
      async "apiKey.deleted"(ctx) {
        (this as GatewayService).gateway?.authentication.forgetKey(ctx.params.apiKeyId);
      },
    },
  },
);
