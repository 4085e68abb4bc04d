import type { Service } from "moleculer";
import { trackingHost } from "../../models/statements/tracking-domains.ts";
import { emitWebhookQueued } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { contract } from "./contract.ts";
import { HitRecorder } from "./hits/hit-recorder.ts";
import { archivedIssue, archiveFeed, archivePage } from "./pages/archive.ts";
import { changeAddressPage, confirmAddress } from "./pages/change-address.ts";
import { confirm, confirmPage, subscribedPage, unsubscribe, unsubscribePage, view } from "./pages/mail-pages.ts";
import { withProblemPage } from "./pages/page.ts";
import { preferencesPage, updatePreferences } from "./pages/preferences-page.ts";
import { previewPage } from "./pages/preview.ts";
import { subscribeAgain, subscribePage } from "./pages/subscribe-page.ts";
import { analytics } from "./reports/analytics.ts";
import { companyStats } from "./reports/company-stats.ts";
import { domainStats } from "./reports/domain-stats.ts";
import { listEvents } from "./reports/event-list.ts";
import { listSentEmails } from "./reports/sent-email-list.ts";

type TrackingService = Service & { recorder?: HitRecorder };

const recorderOf = (service: Service): HitRecorder => (service as TrackingService).recorder!;

/** Records opens and clicks, serves recipients' pages, and reports to the company. */
export default defineService("tracking", contract, {
  created(this: TrackingService) {
    this.recorder = new HitRecorder((companyIds) => {
      emitWebhookQueued(this.broker, companyIds).catch((error: Error) =>
        this.logger.warn(`webhook.queued was not emitted: ${error.message}`),
      );
    });
  },

  async stopped(this: TrackingService) {
    await this.recorder?.idle();
  },

  actions: {
    listSentEmails,
    listEvents,
    domainStats: (ctx) => domainStats(ctx),
    companyStats: (ctx) => companyStats(companyOf(ctx), ctx.params.days),
    analytics: (ctx) => analytics(companyOf(ctx), ctx.params.id),

    async open(ctx) {
      return recorderOf(this).open(ctx.params.token, ctx.meta.http);
    },
    async click(ctx) {
      return recorderOf(this).click(ctx.params.token, ctx.meta.http);
    },
    async trackingHost(ctx) {
      const found = await trackingHost(ctx.params.host);
      return { company_id: found?.is_active ? found.company_id : null, token: found?.token ?? null };
    },

    previewPage,
    unsubscribePage: withProblemPage(unsubscribePage),
    unsubscribe: withProblemPage(unsubscribe),
    view: withProblemPage(view),
    archivePage: withProblemPage(archivePage),
    archiveFeed: withProblemPage(archiveFeed),
    archivedIssue: withProblemPage(archivedIssue),
    subscribePage: withProblemPage(subscribePage),
    subscribeAgain,
    subscribedPage,
    confirmPage: withProblemPage(confirmPage),
    confirm: withProblemPage(confirm),
    changeAddressPage: withProblemPage(changeAddressPage),
    changeAddress: withProblemPage(confirmAddress),
    preferencesPage: withProblemPage(preferencesPage),
    updatePreferences: withProblemPage(updatePreferences),
  },
});
