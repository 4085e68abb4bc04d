import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { emitWebhookQueued } from "../call.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { contract } from "./contract.ts";
import { inboundRaw, inboundView, listInbound, purgeRaws } from "./inbound.ts";
import { arrivalOf, reportErrors } from "./report.ts";
import { type RunningListener, startListener } from "./smtp/start-listener.ts";
import { type Intake, startIntake } from "./take-in.ts";

const PURGE_EVERY_MS = 600_000;

type BouncesService = Service & { intake?: Intake; listener?: RunningListener | undefined };

const intakeOf = (service: Service): Intake => (service as BouncesService).intake!;

/** Bounces and complaints that come after a mail was sent: by whatever way they come, they end in the same effects. */
export default defineService("bounces", contract, {
  mixins: [every(PURGE_EVERY_MS, "purge")],

  created(this: BouncesService) {
    this.intake = startIntake((companyIds) => {
      emitWebhookQueued(this.broker, companyIds).catch((error: Error) =>
        this.logger.warn(`webhook.queued was not emitted: ${error.message}`),
      );
    });
  },

  async started(this: BouncesService) {
    this.listener = await startListener(this.intake!, this.logger);
  },

  async stopped(this: BouncesService) {
    await this.listener?.stop();
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

    async purge() {
      await purgeRaws();
      return null;
    },
  },
});
