/** A saved template with the given variables: rendered like a mail, for a sample recipient. */
import { Company } from "../../models/company.ts";
import { activeTrackingDomain } from "../../models/statements/tracking-domains.ts";
import { Template } from "../../models/template.ts";
import { invalid, notFound } from "../lib/errors.ts";
import { installation } from "./compiled-campaign.ts";
import { Unrenderable, UnusableTemplate } from "./content.ts";
import { previewInThread } from "./heavy.ts";
import type { Preview } from "./heavy-tasks.ts";
import type { Data } from "./program/scope.ts";
import { templateWarnings } from "./warnings.ts";

type Shown = Omit<Preview, "facts"> & { warnings: string[] };

export async function preview(companyId: string, id: string, variables: Data = {}): Promise<Shown> {
  const template = await Template.findOne({ where: { id, companyId } });
  const company = await Company.findByPk(companyId);
  if (!template || !company) throw notFound();
  const source = {
    subject: template.subject,
    body: template.html ?? template.body,
    preheader: template.preheader,
    textBody: template.textBody,
    companyName: company.name,
    footerText: company.footerText,
    isTransactional: template.templateType === "transactional",
  };
  try {
    const { baseUrl } = installation(await activeTrackingDomain(companyId));
    const { facts, ...shown } = await previewInThread(companyId, source, variables, baseUrl);
    const { isTransactional } = source;
    const described = {
      facts,
      htmlBytes: Buffer.byteLength(shown.html),
      isTransactional,
      given: Object.keys(variables),
    };
    return { ...shown, warnings: await templateWarnings(companyId, described) };
  } catch (error) {
    if (error instanceof UnusableTemplate) throw invalid(error.fields);
    if (error instanceof Unrenderable && error.cause) throw error;
    if (error instanceof Unrenderable) throw invalid({ variables: [error.message] });
    throw error;
  }
}
