import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { contract } from "./contract.ts";
import { listDeliveries, redeliver, sendTest } from "./deliveries.ts";
import {
  createEndpoint,
  endpointErrors,
  endpointOf,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
  updateEndpoint,
} from "./endpoints.ts";
import { closeIdleConnections } from "./post.ts";
import { type Pump, startPump } from "./pump.ts";
import { tidy } from "./tidy.ts";

const POLL_MS = 1_000;
const TIDY_MS = 60_000;

const pumps = new WeakMap<Service, Pump>();

/** Tells companies' own systems what happened to their mails: the outbox's rows, delivered over HTTP. */
export default defineService("webhooks", contract, {
  mixins: [every(POLL_MS, "deliverDue"), every(TIDY_MS, "tidy")],

  created() {
    const pump = startPump({
      disabled: (id) => this.logger.warn(`Webhook endpoint ${id} is disabled: three days of nothing but failures`),
      failed: (error) => this.logger.error(`Webhook delivery: ${(error as Error).message}`),
    });
    pumps.set(this, pump);
  },

  async stopped() {
    await pumps.get(this)?.stop();
    closeIdleConnections();
  },

  actions: {
    list: (ctx) => listEndpoints(ctx),
    create: { validate: endpointErrors, handler: (ctx) => createEndpoint(companyOf(ctx), ctx.params) },
    get: async (ctx) => (await endpointOf(companyOf(ctx), ctx.params.id)).view(),
    update: { validate: endpointErrors, handler: (ctx) => updateEndpoint(companyOf(ctx), ctx.params) },
    remove: (ctx) => removeEndpoint(companyOf(ctx), ctx.params.id),
    rotateSecret: (ctx) => rotateSecret(companyOf(ctx), ctx.params.id),
    test: (ctx) => sendTest(ctx),
    listDeliveries: (ctx) => listDeliveries(ctx),
    redeliver: (ctx) => redeliver(ctx),

    async deliverDue() {
      const claimed = await pumps.get(this)!.fill();
      return { claimed, idle: claimed === 0 };
    },
    tidy: () => tidy(),
  },

  events: {
    async "webhook.queued"() {
      await pumps.get(this)!.fill();
    },
  },
});
