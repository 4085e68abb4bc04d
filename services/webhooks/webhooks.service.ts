import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { purgeDeliveries } from "../../models/statements/webhook-deliveries.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { firstIdAt } from "../lib/ids.ts";
import { contract } from "./contract.ts";
import { getDelivery, listDeliveries, redeliver, sendTest } from "./deliveries.ts";
import { type DeliveryPump, startPump } from "./delivery-pump.ts";
import {
  createEndpoint,
  endpointErrors,
  endpointOf,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
  updateEndpoint,
} from "./endpoints.ts";

const POLL_MS = 1_000;
/** Pause between polls while nothing is due; retries, and deliveries whose event was lost, may be this late. */
const POLL_IDLE = { idlePauseMs: 2_000 };
const PURGE_EVERY_MS = 60_000;
const KEEP_LOG_MS = 30 * 24 * 3_600_000;

const pumpOf = (service: Service) => (service as Service & { pump: DeliveryPump }).pump;

/** Delivers webhook events from the outbox to companies' endpoints over HTTP. */
export default defineService("webhooks", contract, {
  mixins: [every(POLL_MS, "deliverDue", POLL_IDLE), every(PURGE_EVERY_MS, "purge")],

  created() {
    this.pump = startPump({
      disabled: (id) => this.logger.warn(`Webhook endpoint ${id} is disabled after three days of failures`),
      failed: (error) => this.logger.error(`Webhook delivery: ${(error as Error).message}`),
    });
  },

  async stopped() {
    await pumpOf(this).stop();
  },

  actions: {
    list: (ctx) => listEndpoints(ctx),
    create: { validate: endpointErrors, handler: (ctx) => createEndpoint(ctx) },
    get: async (ctx) => (await endpointOf(companyOf(ctx), ctx.params.id)).view(),
    update: { validate: endpointErrors, handler: (ctx) => updateEndpoint(ctx) },
    remove: (ctx) => removeEndpoint(ctx),
    rotateSecret: (ctx) => rotateSecret(ctx),
    test: (ctx) => sendTest(ctx),
    listDeliveries: (ctx) => listDeliveries(ctx),
    getDelivery: (ctx) => getDelivery(ctx),
    redeliver: (ctx) => redeliver(ctx),

    async deliverDue() {
      const claimed = await pumpOf(this).poll();
      return { claimed, idle: claimed === 0 };
    },
    async purge() {
      await purgeDeliveries(firstIdAt(Date.now() - KEEP_LOG_MS));
      return null;
    },
  },

  events: {
    async "webhook.queued"(ctx) {
      await pumpOf(this).queued(ctx.params.companyId);
    },
  },
});
