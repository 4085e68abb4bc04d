/**
 * Subscribers, the lists they are on, the segments that describe them, and who must not be written to.
 *
 * Rows are the truth and counters follow them in the same transaction (triggers), so that a page's count costs the
 * same at a hundred and at a million.
 */
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { bulkErrors, subscriberIdFaults, updateLists } from "./bulk-lists.ts";
import { contract } from "./contract.ts";
import { exportSubscribers } from "./export.ts";
import { importSubscribers } from "./import.ts";
import { companySubscribers, listMembers } from "./list-subscribers.ts";
import { createList, getList, listLists, removeList, updateList } from "./lists.ts";
import { listErrors } from "./members.ts";
import { subscriberLimit } from "./plan-limit.ts";
import { saveReceivers } from "./receivers.ts";
import { removeSubscriber, removeSubscribers } from "./remove-subscribers.ts";
import { createSubscriber, subscriberErrors, updateSubscriber } from "./save-subscriber.ts";
import {
  createSegment,
  getSegment,
  listSegmentSubscribers,
  listSegments,
  removeSegment,
  segmentErrors,
  updateSegment,
} from "./segments.ts";
import { confirm, subscribe } from "./subscribe.ts";
import { getSubscriber } from "./subscriber.ts";
import { getSuppression, liftSuppression, listSuppressions, suppress, suppressionErrors } from "./suppressions.ts";

export default defineService("subscribers", contract, {
  actions: {
    list: (ctx) => companySubscribers(companyOf(ctx), ctx.params),
    create: {
      validate: (ctx, isValid) => subscriberErrors(companyOf(ctx), ctx.params, isValid),
      handler: async (ctx) => createSubscriber(companyOf(ctx), await subscriberLimit(ctx), ctx.params),
    },
    get: (ctx) => getSubscriber(companyOf(ctx), ctx.params.id),
    update: {
      validate: (ctx, isValid) => subscriberErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => updateSubscriber(companyOf(ctx), ctx.params.id, ctx.params),
    },
    remove: (ctx) => removeSubscriber(companyOf(ctx), ctx.params.id),
    export: async (ctx) => exportSubscribers(companyOf(ctx)),

    import: {
      validate: (ctx, isValid) =>
        isValid("list_id") ? listErrors(companyOf(ctx), "list_id", [ctx.params.list_id!]) : {},
      async handler(ctx) {
        const companyId = companyOf(ctx);
        const limit = await subscriberLimit(ctx);
        return importSubscribers(ctx.stream, { companyId, limit, listId: ctx.params.list_id });
      },
    },
    bulkDelete: {
      validate: (ctx, isValid) =>
        isValid("subscriber_ids") ? subscriberIdFaults(companyOf(ctx), ctx.params.subscriber_ids) : {},
      handler: async (ctx) => ({ deleted: await removeSubscribers(companyOf(ctx), ctx.params.subscriber_ids) }),
    },
    bulkUpdateLists: {
      validate: (ctx, isValid) => bulkErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => updateLists(companyOf(ctx), ctx.params),
    },

    listLists: (ctx) => listLists(companyOf(ctx), ctx.params),
    createList: (ctx) => createList(companyOf(ctx), ctx.params),
    getList: (ctx) => getList(companyOf(ctx), ctx.params.id),
    updateList: (ctx) => updateList(companyOf(ctx), ctx.params.id, ctx.params),
    removeList: (ctx) => removeList(companyOf(ctx), ctx.params.id),
    async listMembers(ctx) {
      const { id } = await getList(companyOf(ctx), ctx.params.id);
      return listMembers(companyOf(ctx), id, ctx.params);
    },

    listSuppressions: (ctx) => listSuppressions(companyOf(ctx), ctx.params),
    createSuppression: {
      validate: (ctx, isValid) => suppressionErrors(ctx.params, isValid),
      handler: (ctx) => suppress(companyOf(ctx), ctx.params),
    },
    getSuppression: (ctx) => getSuppression(companyOf(ctx), ctx.params.id),
    removeSuppression: (ctx) => liftSuppression(companyOf(ctx), ctx.params.id),

    listSegments: (ctx) => listSegments(companyOf(ctx), ctx.params),
    createSegment: {
      validate: (ctx) => segmentErrors(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => createSegment(ctx),
    },
    getSegment: (ctx) => getSegment(companyOf(ctx), ctx.params.id),
    updateSegment: {
      validate: (ctx) => segmentErrors(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => updateSegment(ctx),
    },
    removeSegment: (ctx) => removeSegment(companyOf(ctx), ctx.params.id),
    listSegmentSubscribers: (ctx) => listSegmentSubscribers(companyOf(ctx), ctx.params.id, ctx.params),

    subscribe: (ctx) => subscribe(ctx),
    confirm: (ctx) => confirm(ctx.params.token),
    saveReceivers: async (ctx) => ({
      ids: await saveReceivers(companyOf(ctx), await subscriberLimit(ctx), ctx.params.receivers),
    }),
  },
});
