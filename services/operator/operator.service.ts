import { defineService } from "../define.ts";
import { config } from "../lib/config.ts";
import { failuresByReason, runningCampaigns } from "./campaigns.ts";
import { contract } from "./contract.ts";
import { openDoor } from "./door.ts";
import { hideFigures, showFigures } from "./figures.ts";
import { healthNow } from "./health.ts";
import { limitsNow } from "./limits.ts";
import { deadWebhooks, queues, requeueDead, webhookQueues } from "./queues.ts";
import { reseal, unreadableSecrets } from "./reseal.ts";
import { backingOff, lanes, senders } from "./senders.ts";
import { storyOf } from "./why.ts";

const doors = new WeakMap<object, () => Promise<void>>();

/** Answers operators' questions over all companies. Reads rows and asks nodes; the commands are in commands.ts. */
export default defineService("operator", contract, {
  actions: {
    campaigns: (ctx) => runningCampaigns(ctx),
    failures: (ctx) => failuresByReason(ctx.params.campaign_id),
    senders: (ctx) => senders(ctx),
    backingOff: (ctx) => backingOff(ctx),
    limits: (ctx) => limitsNow(ctx),
    why: (ctx) => storyOf(ctx.params.recipient),
    lanes: (ctx) => lanes(ctx),
    deadWebhooks: (ctx) => deadWebhooks(ctx.params.endpoint_id),
    reseal: () => reseal(),
    webhooks: () => webhookQueues(),
    requeueWebhooks: (ctx) => requeueDead(ctx),
    queues: () => queues(),
    health: (ctx) => healthNow(ctx),
  },

  async started() {
    showFigures();
    const unreadable = await unreadableSecrets();
    if (unreadable > 0) this.logger.warn(`${unreadable} stored passwords and keys are sealed with another SECRET_KEY`);
    if (!config().TRANSPORTER) doors.set(this, await openDoor(this.broker, config().DATA_DIR));
  },

  async stopped() {
    hideFigures();
    await doors.get(this)?.();
  },
});
