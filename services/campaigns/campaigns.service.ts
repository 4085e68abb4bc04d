/**
 * Owns campaigns: from the send request over the recipients' rows to the last status. Between the two the senders work,
 * on rows alone. Events are hints here: a lost one delays the next step by one poll.
 */
import { every } from "../../mixins/every.ts";
import { type Ctx, companyOf, defineService } from "../define.ts";
import { cancel } from "./cancel.ts";
import { contract } from "./contract.ts";
import { exportResults } from "./export.ts";
import { getCampaign, listCampaigns } from "./read.ts";
import { resume } from "./resume.ts";
import { startDue } from "./schedule.ts";
import { send } from "./send.ts";
import type { SendParams } from "./send-faults.ts";
import { faultsOfSend } from "./send-faults.ts";
import { settle, settleFinished } from "./settle.ts";
import { expandNow, expandWaiting } from "./turns.ts";

const EXPAND_PAUSE_MS = 500;
/** A schedule is due within two seconds. */
const SCHEDULE_PAUSE_MS = 750;
const SETTLE_PAUSE_MS = 1_000;

export default defineService("campaigns", contract, {
  mixins: [
    every(EXPAND_PAUSE_MS, "expandWaiting"),
    every(SCHEDULE_PAUSE_MS, "startDue"),
    every(SETTLE_PAUSE_MS, "settleFinished"),
  ],

  actions: {
    sendToList: { check: faultsOfSend("to_list"), handler: (ctx) => send(ctx as Ctx<SendParams>, "to_list") },
    sendToReceivers: {
      check: faultsOfSend("to_receivers"),
      handler: (ctx) => send(ctx as Ctx<SendParams>, "to_receivers"),
    },
    sendCustom: { check: faultsOfSend("custom"), handler: (ctx) => send(ctx as Ctx<SendParams>, "custom") },

    list: (ctx) => listCampaigns(companyOf(ctx), ctx.params),
    get: (ctx) => getCampaign(companyOf(ctx), ctx.params.id),
    cancel: (ctx) => cancel(companyOf(ctx), ctx.params.id),
    resume: (ctx) => resume(ctx, ctx.params.id),
    export: (ctx) => exportResults(companyOf(ctx), ctx.params.id),

    expandWaiting: async (ctx) => ({ done: await expandWaiting(ctx.broker) }),
    startDue: async (ctx) => ({ done: await startDue(ctx.broker) }),
    settleFinished: async () => ({ done: await settleFinished() }),
    settle: async (ctx) => ({ settled: await settle(ctx.params.campaign_id) }),
  },

  events: {
    "campaign.pending": (ctx) => expandNow(ctx.broker, ctx.params.campaignId),
    "campaign.drained": async (ctx) => {
      await settle(ctx.params.campaignId);
    },
  },
});
