/**
 * Owns campaigns: from the send request over the recipients' rows to the last status. Between the two the senders work,
 * on rows alone. Events are hints here: a lost one delays the next step by one poll.
 */
import { every } from "../../mixins/every.mixin.ts";
import { defineService } from "../define.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { cancel } from "./cancel.ts";
import { sendConfirmation } from "./confirmation.ts";
import { contract } from "./contract.ts";
import { exportResults } from "./export.ts";
import { downloadMedia, streamMedia } from "./media/download.ts";
import { getMedia, listMedia } from "./media/read.ts";
import { removeMedia } from "./media/remove.ts";
import { upload } from "./media/upload.ts";
import { getCampaign, listCampaigns } from "./read.ts";
import { resume } from "./resume.ts";
import { startDue } from "./schedule.ts";
import { send } from "./send.ts";
import { errorsOfSend } from "./send-faults.ts";
import type { SendParams } from "./send-params.ts";
import { settle, settleFinished } from "./settle.ts";
import { tidy } from "./tidy.ts";
import { expandNow, expandWaiting } from "./turns.ts";

const EXPAND_PAUSE_MS = 500;
/** A schedule is due within two seconds. */
const SCHEDULE_PAUSE_MS = 750;
const SETTLE_PAUSE_MS = 1_000;
const TIDY_PAUSE_MS = 10 * 60_000;

export default defineService("campaigns", contract, {
  mixins: [
    every(EXPAND_PAUSE_MS, "expandWaiting"),
    every(SCHEDULE_PAUSE_MS, "startDue"),
    every(SETTLE_PAUSE_MS, "settleFinished"),
    every(TIDY_PAUSE_MS, "tidy"),
  ],

  actions: {
    sendToList: { validate: errorsOfSend("to_list"), handler: (ctx) => send(ctx as Ctx<SendParams>, "to_list") },
    sendToReceivers: {
      validate: errorsOfSend("to_receivers"),
      handler: (ctx) => send(ctx as Ctx<SendParams>, "to_receivers"),
    },
    sendCustom: { validate: errorsOfSend("custom"), handler: (ctx) => send(ctx as Ctx<SendParams>, "custom") },

    list: (ctx) => listCampaigns(companyOf(ctx), ctx.params),
    get: (ctx) => getCampaign(companyOf(ctx), ctx.params.id),
    cancel: (ctx) => cancel(companyOf(ctx), ctx.params.id),
    resume: (ctx) => resume(ctx, ctx.params.id),
    export: (ctx) => exportResults(companyOf(ctx), ctx.params.id),

    listMedia: (ctx) => listMedia(companyOf(ctx), ctx.params),
    createMedia: (ctx) => upload(companyOf(ctx), ctx.params.filename, ctx.stream!),
    getMedia: (ctx) => getMedia(companyOf(ctx), ctx.params.id),
    removeMedia: (ctx) => removeMedia(companyOf(ctx), ctx.params.id),
    downloadMedia: (ctx) => downloadMedia(ctx.params.id),
    streamMedia: (ctx) => streamMedia(ctx.params.id),

    sendConfirmation: (ctx) => sendConfirmation(ctx, ctx.params),
    expandWaiting: async (ctx) => ({ done: await expandWaiting(ctx.broker) }),
    startDue: async (ctx) => ({ done: await startDue(ctx.broker) }),
    settleFinished: async (ctx) => ({ done: await settleFinished(ctx.broker) }),
    tidy: async (ctx) => ({ done: await tidy(ctx.broker) }),
    settle: async (ctx) => ({ settled: await settle(ctx.params.campaign_id, ctx.broker) }),
  },

  events: {
    "campaign.pending": (ctx) => expandNow(ctx.broker, ctx.params.campaignId),
    "campaign.drained": async (ctx) => {
      await settle(ctx.params.campaignId, ctx.broker);
    },
  },
});
