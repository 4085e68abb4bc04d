import { retryInOutage } from "../../models/database/outage.ts";
import { defineService } from "../define.ts";
import { config } from "../lib/config.ts";
import { failuresByReason, runningCampaigns } from "./campaign-progress.ts";
import { beginSession, consoleLink, continueSession, endSession, listSessions } from "./console-sessions.ts";
import { contract } from "./contract.ts";
import { dependencies } from "./dependencies.ts";
import { examine } from "./doctor/doctor.ts";
import { backingOff, batches, companyLimits, senders, slowDomains } from "./live-status.ts";
import { traceOf } from "./mail-trace.ts";
import { health } from "./nodes.ts";
import { openOperatorSocket } from "./operator-socket.ts";
import { hideQueueMetrics, showQueueMetrics } from "./queue-metrics.ts";
import { deadWebhooks, queues, requeueDead, webhookQueues } from "./queues.ts";
import { historyOf } from "./recipient-history.ts";
import { reseal, unreadableSecrets } from "./reseal.ts";
import { overview } from "./status/overview.ts";

/** Answers operators' questions over all companies from rows and nodes; the commands are in commands.ts. */
export default defineService("operator", contract, {
  actions: {
    campaigns: (ctx) => runningCampaigns(ctx, ctx.params),
    failures: (ctx) => failuresByReason(ctx.params.campaign_id),
    senders: (ctx) => senders(ctx),
    backingOff: (ctx) => backingOff(ctx),
    slowDomains: (ctx) => slowDomains(ctx),
    limits: (ctx) => companyLimits(ctx),
    why: (ctx) => historyOf(ctx, ctx.params.recipient),
    trace: (ctx) => traceOf(ctx, ctx.params.mail),
    status: (ctx) => overview(ctx),
    doctor: (ctx) => examine(ctx),
    batches: (ctx) => batches(ctx),
    deadWebhooks: (ctx) => deadWebhooks(ctx.params.endpoint_id),
    reseal: () => reseal(),
    webhooks: () => webhookQueues(),
    requeueWebhooks: (ctx) => requeueDead(ctx),
    queues: () => queues(),
    health: (ctx) => health(ctx),
    dependencies: (ctx) => dependencies(ctx.broker),
    consoleLink,
    beginSession,
    continueSession: (ctx) => continueSession(ctx.params),
    consoleSessions: () => listSessions(),
    endSession,
  },

  async started() {
    showQueueMetrics();
    const unreadable = await retryInOutage(unreadableSecrets);
    if (unreadable > 0) this.logger.warn(`${unreadable} stored passwords and keys are sealed with another SECRET_KEY`);
    if (!config().TRANSPORTER) this.closeSocket = await openOperatorSocket(this.broker, config().DATA_DIR);
  },

  async stopped() {
    hideQueueMetrics();
    await this.closeSocket?.();
  },
});
