import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { emitAndForget, emitWebhookQueued } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { contract } from "./contract.ts";
import { inboundRaw, inboundView, listInbound, purgeRaws } from "./inbound.ts";
import { purgeSeen } from "./inbound-reports.ts";
import { MailboxReaders } from "./mailbox/readers.ts";
import { type Desk, receiveReport, workOffReports } from "./receive-report.ts";
import { arrivalOf, reportErrors } from "./report.ts";
import { readReport } from "./reports/read-report.ts";
import { type RunningListener, startListener } from "./smtp/start-listener.ts";
import { createSource, listSources, removeSource, sourceAt, sourceErrors } from "./sources.ts";
import { type Intake, startIntake } from "./take-in.ts";

const PURGE_EVERY_MS = 600_000;
const WORK_OFF_EVERY_MS = 5_000;
/** Well within the lease of a mailbox. */
const MAILBOXES_EVERY_MS = 3_000;

type BouncesService = Service & {
  intake?: Intake;
  readers?: MailboxReaders;
  listener?: RunningListener | undefined;
};

const intakeOf = (service: Service): Intake => (service as BouncesService).intake!;

const deskOf = (service: Service): Desk => ({
  intake: intakeOf(service),
  log: (sentence) => service.logger.warn(sentence),
});

/** Bounces and complaints that come after a mail was sent: by whatever way they come, they end in the same effects. */
export default defineService("bounces", contract, {
  mixins: [
    every(PURGE_EVERY_MS, "purge"),
    every(WORK_OFF_EVERY_MS, "workOffReports"),
    every(MAILBOXES_EVERY_MS, "readMailboxes"),
  ],

  created(this: BouncesService) {
    this.intake = startIntake(
      (companyIds) => {
        emitWebhookQueued(this.broker, companyIds).catch((error: Error) =>
          this.logger.warn(`webhook.queued was not emitted: ${error.message}`),
        );
      },
      (campaignIds) => {
        for (const campaignId of campaignIds) {
          this.logger.warn({ campaignId }, "Campaign stopped by the guard");
          emitAndForget(this.broker, "campaign.drained", { campaignId });
        }
      },
    );
    this.readers = new MailboxReaders({ intake: this.intake, readReport }, (sentence) => this.logger.warn(sentence));
  },

  async started(this: BouncesService) {
    this.listener = await startListener(this.intake!, this.logger);
  },

  async stopped(this: BouncesService) {
    await Promise.all([this.readers?.stop(), this.listener?.stop()]);
    await this.intake?.idle();
  },

  actions: {
    report: {
      validate: (ctx) => reportErrors(ctx.params),
      async handler(ctx) {
        const companyId = companyOf(ctx);
        const [taken] = await intakeOf(this).takeIn(arrivalOf(companyId, ctx.params));
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
      return receiveReport(deskOf(this), ctx.params);
    },
    async readMailboxes(this: BouncesService) {
      await this.readers!.look();
      return { mailboxes: this.readers!.size };
    },
    async workOffReports() {
      await workOffReports(deskOf(this));
      return null;
    },

    async purge() {
      await purgeRaws();
      await purgeSeen();
      return null;
    },
  },
});
