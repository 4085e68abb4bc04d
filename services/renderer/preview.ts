/** A saved template with the given variables: rendered like a mail, for a sample recipient. */
import { Company } from "../../models/company.ts";
import { Template } from "../../models/template.ts";
import { invalid, notFound } from "../lib/errors.ts";
import { bodiesOf, htmlProgram, subjectProgram, textProgram } from "./bodies/bodies.ts";
import { companyVariables, installation } from "./compiled-campaign.ts";
import { Unrenderable } from "./content.ts";
import { subjectText } from "./mime/skeleton.ts";
import { run } from "./program/program.ts";
import { type Data, type Scope, scopeOf, textOf } from "./program/scope.ts";

const SAMPLE_ID = "00000000-0000-0000-0000-000000000000";
const SAMPLE_ADDRESS = "subscriber@example.com";

export async function preview(
  companyId: string,
  id: string,
  variables: Data = {},
): Promise<{ subject: string; html: string; text: string }> {
  const template = await Template.findOne({ where: { id, companyId } });
  const company = await Company.findByPk(companyId);
  if (!template || !company) throw notFound();
  const { baseUrl } = installation();
  const source = {
    subject: template.subject,
    body: template.body,
    companyName: company.name,
    footerText: company.footerText,
    isTransactional: template.templateType === "transactional",
  };
  const bodies = bodiesOf(source);
  const scope = (): Scope =>
    scopeOf(
      { id: SAMPLE_ID, email: textOf(variables.email) || SAMPLE_ADDRESS, variables },
      {
        fallback: companyVariables(source),
        tokens: [],
        preferencesUrl: () => `${baseUrl}/api/emails/public/unsubscribe/${SAMPLE_ID}/`,
      },
    );
  try {
    return {
      subject: subjectText(subjectProgram(bodies.subject, baseUrl), scope()),
      html: run(htmlProgram(bodies.html, baseUrl), scope()),
      text: run(textProgram(bodies.text(), baseUrl), scope()),
    };
  } catch (error) {
    if (error instanceof Unrenderable) throw invalid({ variables: [error.message] });
    throw error;
  }
}
