/**
 * Subscribers, lists, segments and suppressions. Triggers keep counters in the same transaction as the rows, so that a
 * page's total costs the same for a hundred subscribers and for a million.
 */

import { every } from "../../mixins/every.mixin.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { purgeImports } from "../../models/statements/imports.ts";
import { defineService } from "../define.ts";
import type { AuditAction } from "../lib/audit-actions.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { cursorOf } from "../lib/download.ts";
import { bulkErrors, removeMany, suppressMany, updateLists } from "./change-many.ts";
import { removeSubscriber, subscriberErrors, updateSubscriber } from "./change-subscriber.ts";
import { chosenErrors } from "./chosen.ts";
import { contract } from "./contract.ts";
import { createSubscriber } from "./create-subscriber.ts";
import { droppedSignUps } from "./dropped-sign-ups.ts";
import { erase, finishErasures } from "./erase-person.ts";
import { exportPerson } from "./export-person.ts";
import { exportErrors, exportSubscribers } from "./export-subscribers.ts";
import { beginImport, runImports } from "./import/background-import.ts";
import { importErrorsCsv } from "./import/error-file.ts";
import {
  importColumns,
  importView,
  listImports,
  removeImport,
  startErrors,
  startImport,
  uploadImport,
} from "./import/held-import.ts";
import { importErrors, importFile } from "./import/import-request.ts";
import { blocksErrors, importSuppressions } from "./import/import-suppressions.ts";
import { undoImport } from "./import/undo-import.ts";
import { companySubscribers, listMembers } from "./list-subscribers.ts";
import { createList, getList, listLists, listSettingErrors, removeList, updateList } from "./lists.ts";
import { membershipsOf } from "./members.ts";
import { formErrors } from "./public-form.ts";
import {
  createSegment,
  getSegment,
  listAttributes,
  listSegmentSubscribers,
  listSegments,
  previewSegment,
  removeSegment,
  segmentErrors,
  updateSegment,
} from "./segments.ts";
import { confirm, subscribe } from "./subscribe.ts";
import { getSubscriber } from "./subscriber.ts";
import { subscriberLimit } from "./subscriber-limit.ts";
import { getSuppression, liftSuppression, listSuppressions, suppress, suppressionErrors } from "./suppressions.ts";
import { exportSuppressions } from "./suppressions-csv.ts";

/** Poll interval while nothing is due. */
const IDLE = { idlePauseMs: 2_000 };
const ERASE_PAUSE_MS = 5_000;
const IMPORT_PAUSE_MS = 1_000;
const PURGE_PAUSE_MS = 600_000;

/** Audits actions whose details are known only afterwards. */
async function logged(
  ctx: Ctx,
  action: AuditAction,
  target?: string,
  detail: Record<string, unknown> = {},
): Promise<null> {
  await audit(companyOf(ctx), ctx.meta, { action, target: target ?? null, detail });
  return null;
}

export default defineService("subscribers", contract, {
  mixins: [
    every(ERASE_PAUSE_MS, "finishErasures"),
    every(IMPORT_PAUSE_MS, "runImports", { warnAfterMs: null, ...IDLE }),
    every(PURGE_PAUSE_MS, "purgeImports"),
  ],

  actions: {
    list: (ctx) => companySubscribers(companyOf(ctx), ctx.params),
    create: {
      validate: (ctx, isValid) => subscriberErrors(companyOf(ctx), ctx.params, isValid),
      handler: async (ctx) => createSubscriber(companyOf(ctx), await subscriberLimit(ctx), ctx.params),
    },
    get: (ctx) => getSubscriber(companyOf(ctx), ctx.params.id),
    async listsOf(ctx) {
      const { id } = await getSubscriber(companyOf(ctx), ctx.params.id);
      return membershipsOf(companyOf(ctx), id);
    },
    update: {
      validate: (ctx, isValid) => subscriberErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => updateSubscriber(companyOf(ctx), ctx.params.id, ctx.params),
    },
    async remove(ctx) {
      await removeSubscriber(companyOf(ctx), ctx.params.id);
      return logged(ctx, "subscribers.deleted", ctx.params.id);
    },
    erase,
    exportPerson,
    finishErasures: async (ctx) => ({ done: await finishErasures(ctx.broker) }),
    export: {
      validate: (ctx, isValid) => exportErrors(companyOf(ctx), ctx.params, isValid),
      async handler(ctx) {
        const { search, list, status, segment, id } = ctx.params;
        const selected = id && [id].flat().length;
        const cursor = cursorOf(ctx);
        // Audit before the first row is returned.
        if (cursor === undefined)
          await logged(ctx, "subscribers.exported", undefined, { search, list, status, segment, selected });
        return exportSubscribers(companyOf(ctx), ctx.params, cursor);
      },
    },

    import: {
      validate: (ctx, isValid) => importErrors(companyOf(ctx), ctx.params, isValid),
      async handler(ctx) {
        if (ctx.params.background) return beginImport(ctx);
        const imported = await importFile(ctx);
        if (!ctx.params.dry_run) {
          const { total, created, updated, skipped } = imported;
          await logged(ctx, "subscribers.imported", ctx.params.list_id, { total, created, updated, skipped });
        }
        return imported;
      },
    },
    uploadImport: (ctx) => uploadImport(ctx),
    listImports: (ctx) => listImports(companyOf(ctx), ctx.params),
    importColumns: {
      validate: (ctx, isValid) =>
        importErrors(companyOf(ctx), ctx.params, (field) => isValid(field as "charset" | "mapping")),
      handler: (ctx) => importColumns(companyOf(ctx), ctx.params),
    },
    startImport: {
      validate: (ctx, isValid) => startErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => startImport(ctx),
    },
    removeImport: (ctx) => removeImport(companyOf(ctx), ctx.params.id),
    async undoImport(ctx) {
      const undone = await undoImport(companyOf(ctx), ctx.params.id);
      await logged(ctx, "subscribers.import_undone", ctx.params.id, { deleted: undone.deleted, kept: undone.kept });
      return undone;
    },
    getImport: (ctx) => importView(companyOf(ctx), ctx.params.id),
    runImports: async (ctx) => ({ done: await runImports(ctx) }),
    importErrors: (ctx) => importErrorsCsv(companyOf(ctx), ctx.params.id, cursorOf(ctx)),
    async purgeImports() {
      await purgeImports();
      return null;
    },
    bulkDelete: {
      validate: (ctx, isValid) => chosenErrors(companyOf(ctx), ctx.params, isValid),
      async handler(ctx) {
        const result = await removeMany(companyOf(ctx), ctx.params);
        await logged(ctx, "subscribers.deleted", undefined, { deleted: result.deleted });
        return result;
      },
    },
    bulkSuppress: {
      validate: (ctx, isValid) => chosenErrors(companyOf(ctx), ctx.params, isValid),
      async handler(ctx) {
        const result = await suppressMany(companyOf(ctx), ctx.params);
        const { suppressed: created, existing } = result;
        await logged(ctx, "suppressions.imported", undefined, { total: created + existing, created, existing });
        return result;
      },
    },
    bulkUpdateLists: {
      validate: (ctx, isValid) => bulkErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => updateLists(companyOf(ctx), ctx.params),
    },

    listLists: (ctx) => listLists(companyOf(ctx), ctx.params),
    createList: {
      validate: (ctx, isValid) => listSettingErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => createList(companyOf(ctx), ctx.params),
    },
    getList: (ctx) => getList(companyOf(ctx), ctx.params.id),
    updateList: {
      validate: (ctx, isValid) => listSettingErrors(companyOf(ctx), ctx.params, isValid),
      handler: (ctx) => updateList(companyOf(ctx), ctx.params.id, ctx.params),
    },
    async removeList(ctx) {
      await removeList(companyOf(ctx), ctx.params.id);
      return logged(ctx, "list.deleted", ctx.params.id);
    },
    async listMembers(ctx) {
      const { id } = await getList(companyOf(ctx), ctx.params.id);
      return listMembers(companyOf(ctx), id, ctx.params);
    },

    listSuppressions: (ctx) => listSuppressions(companyOf(ctx), ctx.params),
    createSuppression: {
      validate: (ctx, isValid) => suppressionErrors(ctx.params, isValid),
      handler: (ctx) => suppress(companyOf(ctx), ctx.params),
    },
    importSuppressions: {
      validate: (ctx) => blocksErrors(ctx.params, Boolean(ctx.stream)),
      async handler(ctx) {
        const { items, charset } = ctx.params;
        const imported = await importSuppressions(companyOf(ctx), { items, charset, stream: ctx.stream });
        const { total, created, existing } = imported;
        await logged(ctx, "suppressions.imported", undefined, { total, created, existing });
        return imported;
      },
    },
    async exportSuppressions(ctx) {
      const cursor = cursorOf(ctx);
      if (cursor === undefined) await logged(ctx, "suppressions.exported");
      return exportSuppressions(companyOf(ctx), cursor);
    },
    getSuppression: (ctx) => getSuppression(companyOf(ctx), ctx.params.id),
    async removeSuppression(ctx) {
      await liftSuppression(companyOf(ctx), ctx.params.id);
      return logged(ctx, "suppression.deleted", ctx.params.id);
    },

    listSegments: (ctx) => listSegments(companyOf(ctx), ctx.params),
    createSegment: {
      validate: (ctx) => segmentErrors(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => createSegment(ctx),
    },
    previewSegment: {
      validate: (ctx) => segmentErrors(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => previewSegment(ctx),
    },
    listAttributes: (ctx) => listAttributes(companyOf(ctx)),
    getSegment: (ctx) => getSegment(companyOf(ctx), ctx.params),
    updateSegment: {
      validate: (ctx) => segmentErrors(companyOf(ctx), ctx.params.rules),
      handler: (ctx) => updateSegment(ctx),
    },
    async removeSegment(ctx) {
      await removeSegment(companyOf(ctx), ctx.params.id);
      return logged(ctx, "segment.deleted", ctx.params.id);
    },
    listSegmentSubscribers: (ctx) => listSegmentSubscribers(companyOf(ctx), ctx.params.id, ctx.params),

    subscribe: { validate: formErrors, handler: (ctx) => subscribe(ctx) },
    async droppedSignUps(ctx) {
      const dropped = await droppedSignUps(companyOf(ctx));
      return { count: dropped?.count ?? 0, last_at: dropped?.last_at.toISOString() ?? null };
    },
    confirm: (ctx) => confirm(ctx.params.token),
  },
});
