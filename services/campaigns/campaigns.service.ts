/**
 * Owns campaigns from the send request to the final status; in between the senders work on rows alone. Events only
 * shorten waits: a lost event delays the next step by one poll.
 */
import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { retryInOutage } from "../../models/database/outage.ts";
import { defineService } from "../define.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { cursorOf } from "../lib/download.ts";
import { sendAddressChanges } from "./address-change-mails.ts";
import { audience, audienceErrors } from "./audience.ts";
import { sendConfirmations } from "./confirmation.ts";
import { contract } from "./contract.ts";
import { createDraft, findDraft, listDrafts, removeDraft, updateDraft } from "./drafts/drafts.ts";
import { duplicate } from "./drafts/duplicate.ts";
import { previewDraft } from "./drafts/preview-draft.ts";
import { checkDraft, sendDraft } from "./drafts/send-draft.ts";
import { createNextPartitions } from "./expansion/create-next-partitions.ts";
import { ExpansionQueue } from "./expansion/expansion-queue.ts";
import { exportResults } from "./export-results.ts";
import { failures } from "./failures.ts";
import { remove } from "./lifecycle/delete.ts";
import { edit, errorsOfEdit } from "./lifecycle/edit.ts";
import { ownText } from "./lifecycle/own-text.ts";
import { errorsOfResend, resend } from "./lifecycle/resend.ts";
import { resume } from "./lifecycle/resume.ts";
import { retryable } from "./lifecycle/retryable.ts";
import { cancel, startDue } from "./lifecycle/schedule.ts";
import { settle, settleFinished } from "./lifecycle/settle.ts";
import { startByZone } from "./lifecycle/start-by-zone.ts";
import { stopAny, stopOwn } from "./lifecycle/stop.ts";
import { decideWinners } from "./lifecycle/winners.ts";
import { getCampaign, listCampaigns, progressOf } from "./list-campaigns.ts";
import { copyMedia } from "./media/copy-media.ts";
import { downloadMedia, mediaBytes } from "./media/download-media.ts";
import { getMedia, listMedia, listMediaFolders, mediaUsage, removeMedia, updateMedia } from "./media/media-files.ts";
import { mediaLimit, upload } from "./media/upload.ts";
import { removeOld } from "./retention.ts";
import { send } from "./send/send.ts";
import { errorsOfSend } from "./send/send-errors.ts";
import type { SendParams } from "./send/send-params.ts";
import { errorsOfTest, sendTest } from "./send/test-send.ts";
import { tidy } from "./tidy.ts";

/** Poll interval while idle: maximum delay after a lost event or a crash of another node. */
const IDLE = { idlePauseMs: 2_000 };
const EXPAND_PAUSE_MS = 500;
/** Keeps the start of a scheduled campaign within two seconds. */
const SCHEDULE_PAUSE_MS = 750;
const SCHEDULE_IDLE = { idlePauseMs: 1_500 };
const SETTLE_PAUSE_MS = 1_000;
/** Test durations are given in minutes. */
const WINNER_PAUSE_MS = 1_000;
const WINNER_IDLE = { idlePauseMs: 5_000 };
const CONFIRM_PAUSE_MS = 500;
const TIDY_PAUSE_MS = 10 * 60_000;
const RETENTION_PAUSE_MS = 60_000;

interface Campaigns extends Service {
  expansionQueue: ExpansionQueue;
}
const queueOf = (service: Service) => (service as Campaigns).expansionQueue;

export default defineService("campaigns", contract, {
  mixins: [
    every(EXPAND_PAUSE_MS, "expandWaiting", IDLE),
    every(SCHEDULE_PAUSE_MS, "startDue", SCHEDULE_IDLE),
    every(SCHEDULE_PAUSE_MS, "startByZone", SCHEDULE_IDLE),
    every(SETTLE_PAUSE_MS, "settleFinished", IDLE),
    every(WINNER_PAUSE_MS, "decideWinners", WINNER_IDLE),
    every(CONFIRM_PAUSE_MS, "sendConfirmations", IDLE),
    every(TIDY_PAUSE_MS, "tidy"),
    every(RETENTION_PAUSE_MS, "removeOld"),
  ],

  created() {
    (this as Campaigns).expansionQueue = new ExpansionQueue(this.broker);
  },

  started: () => retryInOutage(() => createNextPartitions()),

  actions: {
    sendToList: { validate: errorsOfSend("to_list"), handler: (ctx) => send(ctx as Ctx<SendParams>, "to_list") },
    sendToReceivers: {
      validate: errorsOfSend("to_receivers"),
      handler: (ctx) => send(ctx as Ctx<SendParams>, "to_receivers"),
    },
    sendCustom: { validate: errorsOfSend("custom"), handler: (ctx) => send(ctx as Ctx<SendParams>, "custom") },
    sendTest: { validate: errorsOfTest, handler: (ctx) => sendTest(ctx) },
    audience: {
      validate: (ctx) => audienceErrors(ctx.params),
      handler: (ctx) => audience(companyOf(ctx), ctx.params),
    },

    listDrafts: (ctx) => listDrafts(companyOf(ctx), ctx.params),
    createDraft: (ctx) => createDraft(companyOf(ctx), ctx.params),
    getDraft: async (ctx) => (await findDraft(companyOf(ctx), ctx.params.id)).view(),
    updateDraft: (ctx) => updateDraft(companyOf(ctx), ctx.params),
    removeDraft: (ctx) => removeDraft(companyOf(ctx), ctx.params.id),
    checkDraft: (ctx) => checkDraft(companyOf(ctx), ctx.params.id),
    previewDraft: (ctx) => previewDraft(ctx),
    sendDraft: (ctx) => sendDraft(ctx),
    resend: { validate: errorsOfResend, handler: (ctx) => resend(ctx) },
    duplicate: (ctx) => duplicate(companyOf(ctx), ctx.params.id),

    list: (ctx) => listCampaigns(ctx),
    get: (ctx) => getCampaign(ctx),
    progress: (ctx) => progressOf(ctx),
    ownText: (ctx) => ownText(companyOf(ctx), ctx.params.id),
    update: { validate: errorsOfEdit, handler: (ctx) => edit(ctx) },
    remove: (ctx) => remove(ctx),
    cancel: (ctx) => cancel(ctx),
    stop: (ctx) => stopOwn(ctx),
    resume: (ctx) => resume(ctx, ctx.params.id),
    retryable: (ctx) => retryable(companyOf(ctx), ctx.params),
    failures: (ctx) => failures(companyOf(ctx), ctx.params.id),
    export: (ctx) => exportResults(ctx, cursorOf(ctx)),

    listMedia: (ctx) => listMedia(companyOf(ctx), ctx.params),
    createMedia: async (ctx) => upload(companyOf(ctx), await mediaLimit(ctx), ctx.params, ctx.stream!),
    listMediaFolders: (ctx) => listMediaFolders(companyOf(ctx)),
    getMedia: (ctx) => getMedia(companyOf(ctx), ctx.params.id),
    updateMedia: (ctx) => updateMedia(companyOf(ctx), ctx.params),
    copyMedia: (ctx) => copyMedia(ctx, companyOf(ctx), ctx.params),
    mediaUsage: (ctx) => mediaUsage(companyOf(ctx), ctx.params.id),
    removeMedia: (ctx) => removeMedia(companyOf(ctx), ctx.params.id),
    downloadMedia: (ctx) => downloadMedia(ctx.params.id, ctx.meta),
    mediaBytes: (ctx) => mediaBytes(ctx.params.id, cursorOf(ctx)),

    sendConfirmations: async ({ broker }) => ({
      done: (await sendConfirmations(broker)) + (await sendAddressChanges(broker)),
    }),
    async expandWaiting() {
      return { done: await queueOf(this).expandWaiting() };
    },
    startDue: async (ctx) => ({ done: await startDue(ctx.broker) }),
    startByZone: async (ctx) => ({ done: await startByZone(ctx.broker) }),
    decideWinners: async (ctx) => ({ done: await decideWinners(ctx.broker) }),
    settleFinished: async (ctx) => ({ done: await settleFinished(ctx.broker) }),
    async tidy(ctx) {
      await createNextPartitions();
      return { done: await tidy(ctx.broker) };
    },
    removeOld: async (ctx) => ({ done: await removeOld(ctx.broker) }),
    stopAny: (ctx) => stopAny(ctx),
    settle: async (ctx) => ({ settled: await settle(ctx.params.campaign_id, ctx.broker) }),
  },

  events: {
    "campaign.pending"(ctx) {
      return queueOf(this).expandNow(ctx.params.campaignId);
    },
    "campaign.drained": async (ctx) => {
      await settle(ctx.params.campaignId, ctx.broker);
    },
  },
});
