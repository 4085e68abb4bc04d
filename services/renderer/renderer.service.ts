import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { forgetConfig } from "./compiled-campaign.ts";
import { contract } from "./contract.ts";
import { preview } from "./preview.ts";
import { renderMails } from "./render-mails.ts";
import { renderView, subjects } from "./render-sent.ts";
import {
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
  syntaxErrors,
  updateTemplate,
} from "./templates.ts";

/** Templates, and everything that turns one and a recipient into what is read. Input to output: it sends nothing. */
export default defineService("renderer", contract, {
  actions: {
    listTemplates: (ctx) => listTemplates(companyOf(ctx), ctx.params),
    createTemplate: { validate: syntaxErrors, handler: (ctx) => createTemplate(companyOf(ctx), ctx.params) },
    getTemplate: (ctx) => getTemplate(companyOf(ctx), ctx.params.id),
    updateTemplate: {
      validate: syntaxErrors,
      handler: (ctx) => updateTemplate(companyOf(ctx), ctx.params.id, ctx.params),
    },
    removeTemplate: (ctx) => removeTemplate(companyOf(ctx), ctx.params.id),
    preview: (ctx) => preview(companyOf(ctx), ctx.params.id, ctx.params.variables),

    renderMails: async (ctx) => ({ mails: await renderMails(ctx.params.campaignId, ctx.params.recipients) }),
    renderView: (ctx) => renderView(ctx.params.sentEmailId),
    subjects: async (ctx) => ({ subjects: await subjects(companyOf(ctx), ctx.params.ids) }),
  },

  events: {
    async "smtpConfig.changed"(ctx) {
      forgetConfig(ctx.params.smtpConfigId);
    },
  },
});
