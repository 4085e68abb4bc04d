import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { emitAndForget, emitWebhookQueued } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { contract } from "./contract.ts";
import { inboundRaw, inboundView, listInbound, purgeRaws } from "./inbound-messages.ts";
import { type Ingester, startIngester } from "./ingest.ts";
import { MailboxReaders } from "./mailbox/readers.ts";
import { purgeSeen } from "./provider-report-queue.ts";
import { type ReportDeps, receiveReport, retryReports } from "./receive-provider-report.ts";
import { incomingReportOf, reportErrors } from "./report.ts";
import { readReport } from "./reports/read-report.ts";
import { type RunningListener, startListener } from "./smtp/start-listener.ts";
import { createSource, listSources, removeSource, sourceAt, sourceErrors } from "./sources.ts";

const PURGE_EVERY_MS = 600_000;
const RETRY_EVERY_MS = 5_000;
/** Must stay well below MAILBOX_LEASE_SECONDS. */
const MAILBOXES_EVERY_MS = 3_000;

type BouncesService = Service & {
  ingester?: Ingester;
  readers?: MailboxReaders;
  listener?: RunningListener | undefined;
};

const ingesterOf = (service: Service): Ingester => (service as BouncesService).ingester!;

const depsOf = (service: Service): ReportDeps => ({
  ingester: ingesterOf(service),
  log: (sentence) => service.logger.warn(sentence),
});

/** Ingests bounces and complaints from all sources and applies the same effects to each. */
export default defineService("bounces", contract, {
  mixins: [
    every(PURGE_EVERY_MS, "purge"),
    every(RETRY_EVERY_MS, "retryReports"),
    every(MAILBOXES_EVERY_MS, "readMailboxes"),
  ],

  created(this: BouncesService) {
    this.ingester = startIngester(
      (companyIds) => {
        emitWebhookQueued(this.broker, companyIds).catch((error: Error) =>
          this.logger.warn(`webhook.queued was not emitted: ${error.message}`),
        );
      },
      (campaignIds) => {
        for (const campaignId of campaignIds) {
          this.logger.warn({ campaignId }, "Campaign stopped by the bounce guard");
          emitAndForget(this.broker, "campaign.drained", { campaignId });
        }
      },
    );
    this.readers = new MailboxReaders({ ingester: this.ingester, readReport }, (sentence) =>
      this.logger.warn(sentence),
    );
  },

  async started(this: BouncesService) {
    this.listener = await startListener(this.ingester!, this.logger);
  },

  async stopped(this: BouncesService) {
    await Promise.all([this.readers?.stop(), this.listener?.stop()]);
    await this.ingester?.idle();
  },

  actions: {
    report: {
      validate: (ctx) => reportErrors(ctx.params),
      async handler(ctx) {
        const companyId = companyOf(ctx);
        const [taken] = await ingesterOf(this).ingest(incomingReportOf(companyId, ctx.params));
        return inboundView(companyId, taken!.id);
      },
    },
    listInbound: (ctx) => listInbound(ctx),
    inboundRaw: (ctx) => inboundRaw(ctx),

    listSources: (ctx) => listSources(ctx),
    createSource: { validate: sourceErrors, handler: (ctx) => createSource(ctx) },
    removeSource: (ctx) => removeSource(ctx),
    async findSource(ctx) {
      await sourceAt(ctx.params.provider, ctx.params.token);
      return null;
    },
    async receiveReport(ctx) {
      return receiveReport(depsOf(this), ctx.params);
    },
    async readMailboxes(this: BouncesService) {
      await this.readers!.refresh();
      return { mailboxes: this.readers!.size };
    },
    async retryReports() {
      await retryReports(depsOf(this));
      return null;
    },

    async purge() {
      await purgeRaws();
      await purgeSeen();
      return null;
    },
  },
});
