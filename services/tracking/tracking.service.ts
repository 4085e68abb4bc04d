import type { Service } from "moleculer";
import { emitWebhookQueued } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { analytics } from "./analytics.ts";
import { asPage } from "./as-page.ts";
import { confirm, confirmPage } from "./confirm.ts";
import { contract } from "./contract.ts";
import { listEvents } from "./event-list.ts";
import { click, open, type Recorder, recorder } from "./hits.ts";
import { recordTogether } from "./hits-together.ts";
import { preferencesPage, updatePreferences } from "./preferences-page.ts";
import { listSentEmails } from "./sent-emails.ts";
import { unsubscribe, unsubscribePage } from "./unsubscribe.ts";
import { view } from "./view.ts";

const recorders = new WeakMap<Service, Recorder>();

/** What recipients do with their mail, the pages they see, and what the company learns of it. */
export default defineService("tracking", contract, {
  created() {
    const hits = recorder((companyIds) => {
      emitWebhookQueued(this.broker, companyIds).catch((error: Error) =>
        this.logger.warn(`No doorbell: ${error.message}`),
      );
    });
    recorders.set(this, hits);
  },

  async stopped() {
    await recorders.get(this)?.idle();
  },

  actions: {
    listSentEmails,
    listEvents,
    analytics: (ctx) => analytics(companyOf(ctx), ctx.params.id),

    async open(ctx) {
      return open(ctx.params.token, ctx.meta.http, recorders.get(this)!);
    },
    async click(ctx) {
      return click(ctx.params.token, ctx.meta.http, recorders.get(this)!);
    },
    async hits(ctx) {
      const failed = (error: unknown) => this.logger.error({ error }, "A hit could not be stored");
      return { answers: await recordTogether(ctx.params.hits, recorders.get(this)!, failed) };
    },

    unsubscribePage: asPage(unsubscribePage),
    unsubscribe: asPage(unsubscribe),
    view: asPage(view),
    confirmPage: asPage(confirmPage),
    confirm: asPage(confirm),
    preferencesPage: asPage(preferencesPage),
    updatePreferences: asPage(updatePreferences),
  },
});
