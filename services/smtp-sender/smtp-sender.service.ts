/**
 * SMTP configurations, and the delivery of everything that is due: see engine.ts. Any number of nodes run it; each has a
 * renderer beside it, so that rendering is a local call.
 */
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { configErrors } from "./configs/config-errors.ts";
import {
  createConfig,
  findConfig,
  keepsDkimKey,
  listConfigs,
  removeConfig,
  updateConfig,
} from "./configs/smtp-configs.ts";
import { validate } from "./configs/try-server.ts";
import { contract } from "./contract.ts";
import { broadcastConfigChanged, engineOf, startEngine, stopEngine } from "./engine/start-engine.ts";
import { status } from "./engine/status.ts";
import { hourRoom } from "./limits/hour-room.ts";

export default defineService("smtp-sender", contract, {
  actions: {
    listConfigs: (ctx) => listConfigs(companyOf(ctx), ctx.params),
    createConfig: {
      validate: (ctx, isValid) => configErrors(ctx.params, isValid),
      handler: (ctx) => createConfig(companyOf(ctx), ctx.params),
    },
    getConfig: async (ctx) => (await findConfig(companyOf(ctx), ctx.params.id)).view(),
    updateConfig: {
      validate: (ctx, isValid) => configErrors(ctx.params, isValid, () => keepsDkimKey(companyOf(ctx), ctx.params.id)),
      async handler(ctx) {
        const updated = await updateConfig(companyOf(ctx), ctx.params);
        await broadcastConfigChanged(ctx, ctx.params.id);
        return updated;
      },
    },
    async removeConfig(ctx) {
      await removeConfig(companyOf(ctx), ctx.params.id);
      await broadcastConfigChanged(ctx, ctx.params.id);
      return null;
    },
    validate: (ctx) => validate(ctx.params),
    async hourRoom(ctx) {
      return hourRoom(companyOf(ctx), engineOf(this).limiter);
    },
    async status() {
      return status(this.broker.nodeID, engineOf(this).engine);
    },
  },

  events: {
    async "campaign.queued"() {
      engineOf(this).engine.kick();
    },
    async "smtpConfig.changed"(ctx) {
      await engineOf(this).engine.transports.reload(ctx.params.smtpConfigId);
    },
  },

  async started() {
    await startEngine(this);
  },
  async stopped() {
    await stopEngine(this);
  },
});
