/** Manages templates and renders messages from a template and a recipient. It sends nothing. */
import type { Service } from "moleculer";
import { audit } from "../../models/statements/audit-log.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { campaignContent } from "./campaign-content.ts";
import { checkErrors, checkTemplate } from "./check/check-template.ts";
import { CompiledCampaigns } from "./compiled-campaign.ts";
import { contract } from "./contract.ts";
import { converted } from "./heavy.ts";
import { preview, previewContent } from "./preview.ts";
import { previewDraft } from "./preview-draft.ts";
import { ArchivedMails } from "./render-archived.ts";
import { renderMails } from "./render-mails.ts";
import { subjects, WebViews } from "./render-sent.ts";
import { renderTests } from "./render-tests.ts";
import {
  createSavedBlock,
  getSavedBlock,
  listSavedBlocks,
  removeSavedBlock,
  updateSavedBlock,
} from "./saved-blocks.ts";
import { getVersion, listVersions } from "./template-versions.ts";
import {
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
  restoreVersion,
  syntaxErrors,
  updateTemplate,
} from "./templates.ts";
import { updateDesigns } from "./update-designs.ts";

interface Renderer extends Service {
  campaigns: CompiledCampaigns;
  webViews: WebViews;
  archived: ArchivedMails;
}
const ofRenderer = (service: Service) => service as Renderer;

export default defineService("renderer", contract, {
  created() {
    ofRenderer(this).campaigns = new CompiledCampaigns((campaignId, cause) =>
      this.logger.error({ error: cause, campaign: campaignId }, "No email of a campaign can be rendered"),
    );
    ofRenderer(this).webViews = new WebViews();
    ofRenderer(this).archived = new ArchivedMails();
  },

  actions: {
    listTemplates: (ctx) => listTemplates(companyOf(ctx), ctx.params),
    createTemplate: { validate: syntaxErrors, handler: (ctx) => createTemplate(companyOf(ctx), ctx.params, ctx.meta) },
    getTemplate: (ctx) => getTemplate(companyOf(ctx), ctx.params.id),
    updateTemplate: {
      validate: syntaxErrors,
      handler: (ctx) => updateTemplate(companyOf(ctx), ctx.params.id, ctx.params, ctx.meta),
    },
    async removeTemplate(ctx) {
      await removeTemplate(companyOf(ctx), ctx.params.id);
      await audit(companyOf(ctx), ctx.meta, { action: "template.deleted", target: ctx.params.id });
      return null;
    },
    listVersions: (ctx) => listVersions(companyOf(ctx), ctx.params.id),
    getVersion: (ctx) => getVersion(companyOf(ctx), ctx.params.id, ctx.params.version),
    restoreVersion: (ctx) => restoreVersion(companyOf(ctx), ctx.params.id, ctx.params.version, ctx.meta),
    checkTemplate: {
      validate: checkErrors,
      async handler(ctx) {
        const onFilterFailure = (error: unknown) => this.logger.warn({ error }, "The spam filter returned no score");
        return checkTemplate(companyOf(ctx), ctx.params, onFilterFailure);
      },
    },
    convertContent: async (ctx) => converted(companyOf(ctx), ctx.params),
    preview: (ctx) => preview(companyOf(ctx), ctx.params.id, ctx.params.variables),
    previewContent: { validate: syntaxErrors, handler: (ctx) => previewContent(companyOf(ctx), ctx.params) },

    updateDesigns: (ctx) => updateDesigns(companyOf(ctx), ctx.meta),
    listSavedBlocks: (ctx) => listSavedBlocks(companyOf(ctx), ctx.params),
    createSavedBlock: (ctx) => createSavedBlock(companyOf(ctx), ctx.params),
    getSavedBlock: (ctx) => getSavedBlock(companyOf(ctx), ctx.params.id),
    updateSavedBlock: (ctx) => updateSavedBlock(companyOf(ctx), ctx.params, ctx.meta),
    async removeSavedBlock(ctx) {
      await removeSavedBlock(companyOf(ctx), ctx.params, ctx.meta);
      await audit(companyOf(ctx), ctx.meta, { action: "saved_block.deleted", target: ctx.params.id });
      return null;
    },

    campaignContent: (ctx) => campaignContent(companyOf(ctx), ctx.params.id, ctx.params.variant ?? null),
    previewDraft: (ctx) => previewDraft(companyOf(ctx), ctx.params),

    async renderMails(ctx) {
      const { campaignId, recipients } = ctx.params;
      return { mails: await renderMails(ofRenderer(this).campaigns, campaignId, recipients) };
    },
    renderTests: (ctx) => renderTests(companyOf(ctx), ctx.params),
    renderView(ctx) {
      return ofRenderer(this).webViews.render(ctx.params.sentEmailId);
    },
    renderArchived(ctx) {
      return ofRenderer(this).archived.render(ctx.params);
    },
    async archivedSubjects(ctx) {
      const { companyId, campaignIds } = ctx.params;
      return { subjects: await ofRenderer(this).archived.subjects(companyId, campaignIds) };
    },
    subjects: async (ctx) => ({ subjects: await subjects(companyOf(ctx), ctx.params.ids) }),
  },

  events: {
    async "smtpConfig.changed"(ctx) {
      const { smtpConfigId } = ctx.params;
      ofRenderer(this).campaigns.drop((campaign) => campaign.smtpConfigId === smtpConfigId);
    },
    async "trackingDomain.changed"(ctx) {
      const { companyId } = ctx.params;
      ofRenderer(this).campaigns.drop((campaign) => campaign.companyId === companyId);
      ofRenderer(this).webViews.clear();
      ofRenderer(this).archived.clear();
    },
  },
});
