/**
 * Subscribers, the lists they are on, the segments that describe them, and who must not be written to.
 *
 * Rows are the truth and counters follow them in the same transaction (triggers), so that a page's count costs the
 * same at a hundred and at a million.
 */
import { companyOf, defineService } from "../define.ts";
import { bulkFaults, subscriberIdFaults, updateLists } from "./bulk-lists.ts";
import { contract } from "./contract.ts";
import { exportSubscribers } from "./export.ts";
import { importSubscribers } from "./import.ts";
import { companySubscribers, listMembers } from "./list-subscribers.ts";
import { createList, getList, listLists, removeList, updateList } from "./lists.ts";
import { listFaults } from "./members.ts";
import { subscriberLimit } from "./plan-limit.ts";
import { saveReceivers } from "./receivers.ts";
import { removeSubscriber, removeSubscribers } from "./remove-subscribers.ts";
import { createSubscriber, subscriberFaults, updateSubscriber } from "./save-subscriber.ts";
import {
  createSegment,
  getSegment,
  listSegmentSubscribers,
  listSegments,
  removeSegment,
  segmentFaults,
  updateSegment,
} from "./segments.ts";
import { confirm, subscribe } from "./subscribe.ts";
import { getSubscriber } from "./subscriber.ts";
import { getSuppression, liftSuppression, listSuppressions, suppress, suppressionFaults } from "./suppressions.ts";

export default defineService("subscribers", contract, {
  actions: {
    list: (ctx) => companySubscribers(companyOf(ctx), ctx.params),
    create: {
      check: (ctx, sound) => subscriberFaults(companyOf(ctx), ctx.params, sound),
      handler: async (ctx) => createSubscriber(companyOf(ctx), await subscriberLimit(ctx), ctx.params),
    },
    get: (ctx) => getSubscriber(companyOf(ctx), ctx.params.id),
    update: {
      check: (ctx, sound) => subscriberFaults(companyOf(ctx), ctx.params, sound),
      handler: (ctx) => updateSubscriber(companyOf(ctx), ctx.params.id, ctx.params),
    },
    remove: (ctx) => removeSubscriber(companyOf(ctx), ctx.params.id),
    export: async (ctx) => exportSubscribers(companyOf(ctx)),

    import: {
      check: (ctx, sound) => (sound("list_id") ? listFaults(companyOf(ctx), "list_id", [ctx.params.list_id!]) : {}),
      async handler(ctx) {
        const companyId = companyOf(ctx);
        const limit = await subscriberLimit(ctx);
        return importSubscribers(ctx.stream, { companyId, limit, listId: ctx.params.list_id });
      },
    },
    bulkDelete: {
      check: (ctx, sound) =>
        sound("subscriber_ids") ? subscriberIdFaults(companyOf(ctx), ctx.params.subscriber_ids) : {},
      handler: async (ctx) => ({ deleted: await removeSubscribers(companyOf(ctx), ctx.params.subscriber_ids) }),
    },
    bulkUpdateLists: {
      check: (ctx, sound) => bulkFaults(companyOf(ctx), ctx.params, sound),
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
      check: (ctx, sound) => suppressionFaults(ctx.params, sound),
      handler: (ctx) => suppress(companyOf(ctx), ctx.params),
    },
    getSuppression: (ctx) => getSuppression(companyOf(ctx), ctx.params.id),
    removeSuppression: (ctx) => liftSuppression(companyOf(ctx), ctx.params.id),

    listSegments: (ctx) => listSegments(companyOf(ctx), ctx.params),
    createSegment: {
      check: (ctx) => segmentFaults(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => createSegment(ctx),
    },
    getSegment: (ctx) => getSegment(companyOf(ctx), ctx.params.id),
    updateSegment: {
      check: (ctx) => segmentFaults(companyOf(ctx), ctx.params.rules),
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
