/**
 * Manages SMTP configurations and delivers everything that is due: see README.md. Any number of nodes can run it; each
 * also runs a renderer, so that rendering is a local call.
 */
import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { call } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { hostErrors } from "./configs/config-errors.ts";
import {
  createConfig,
  findConfig,
  idsOfConfigs,
  listConfigs,
  newConfigErrors,
  patchErrors,
  removeConfig,
  updateConfig,
  viewOf,
} from "./configs/smtp-configs.ts";
import { limitReports, limitTries, storedLogin, tryServer } from "./configs/try-server.ts";
import { contract } from "./contract.ts";
import { failuresOf, reportOn } from "./deliverability/daily-check.ts";
import { checkRecords } from "./dkim/activation.ts";
import { createDkimKey, newDkimKeyErrors } from "./dkim/make-key.ts";
import {
  broadcastConfigChanged,
  type SenderNode,
  slowDomainsOf,
  startEngine,
  statusOf,
} from "./engine/start-engine.ts";
import { hourRoom } from "./limits/hour-limit.ts";
import { sendTests } from "./test-send/test-send.ts";

function nodeOf(service: Service & { sender?: SenderNode }): SenderNode {
  if (!service.sender) throw new Error("The sender has not started yet");
  return service.sender;
}

/** Together with the pause of a key (services/smtp-sender/dkim/dkim-keys.ts) its record is found within a minute. */
const KEYS_PAUSE_MS = 15_000;

export default defineService("smtp-sender", contract, {
  mixins: [every(KEYS_PAUSE_MS, "activateDkimKeys")],
  actions: {
    listConfigs: (ctx) => listConfigs(companyOf(ctx), ctx.params),
    createConfig: {
      validate: newConfigErrors,
      async handler(ctx) {
        const created = await createConfig(ctx);
        // Starts the check now so that the first send need not wait; the answer does not wait for the DNS.
        call(ctx, "smtp-sender.checkDeliverability", { id: created.id }).catch(() => {});
        return created;
      },
    },
    getConfig: async (ctx) => viewOf(await findConfig(companyOf(ctx), ctx.params.id)),
    updateConfig: {
      validate: patchErrors,
      async handler(ctx) {
        const updated = await updateConfig(ctx);
        await broadcastConfigChanged(ctx, ctx.params.id);
        return updated;
      },
    },
    async removeConfig(ctx) {
      await removeConfig(ctx);
      await broadcastConfigChanged(ctx, ctx.params.id);
      return null;
    },
    validate: {
      validate: hostErrors,
      async handler(ctx) {
        await limitTries(companyOf(ctx));
        return tryServer(ctx.params);
      },
    },
    async validateConfig(ctx) {
      const stored = await findConfig(companyOf(ctx), ctx.params.id);
      await limitTries(companyOf(ctx));
      return tryServer(storedLogin(stored));
    },
    async listSlowDomains(ctx) {
      return slowDomainsOf(this.broker, await idsOfConfigs(companyOf(ctx)));
    },
    async deliverability(ctx) {
      const stored = await findConfig(companyOf(ctx), ctx.params.id);
      await limitReports(companyOf(ctx));
      const { checks } = await reportOn(stored, (id) => broadcastConfigChanged(ctx, id));
      return { checks };
    },
    async checkDeliverability(ctx) {
      const activated = (id: string) => broadcastConfigChanged(ctx, id);
      return { failures: await failuresOf(companyOf(ctx), ctx.params.id, activated) };
    },
    createDkimKey: { validate: newDkimKeyErrors, handler: createDkimKey },
    async activateDkimKeys(ctx) {
      await checkRecords({
        activated: (id) => broadcastConfigChanged(ctx, id),
        failed: ({ id }, error) => this.logger.warn(`The DKIM key ${id} cannot be activated: ${error.message}`),
      });
      return null;
    },
    async sendTests(ctx) {
      return sendTests(ctx, nodeOf(this).limiter);
    },
    async hourRoom(ctx) {
      return hourRoom(companyOf(ctx), nodeOf(this).limiter);
    },
    async giveUpLeases(ctx) {
      return nodeOf(this).engine.giveUp(ctx.params.leases);
    },
    async history() {
      return { settled: nodeOf(this).engine.history.settled ?? null };
    },
    async status() {
      return statusOf(this.broker.nodeID, nodeOf(this).engine);
    },
  },

  events: {
    async "campaign.queued"() {
      nodeOf(this).engine.checkForWork();
    },
    async "campaign.stopped"() {
      nodeOf(this).engine.stops.checkNow();
    },
    async "smtpConfig.changed"(ctx) {
      await nodeOf(this).engine.configChanged(ctx.params.smtpConfigId);
    },
  },

  created() {
    // Drains in parallel with a gateway on the same node, which finishes its requests in the same time.
    this.broker.middlewares.add({ name: "DrainSender", stopping: async () => void this.sender?.engine.stop() });
  },

  async started() {
    this.sender = await startEngine(this);
  },
  async stopped() {
    const node = this.sender as SenderNode | undefined;
    await node?.engine.stop();
    node?.slots?.stop();
  },
});
