/** Checks and test mails of what the visual editor has not saved yet, as JSON. */
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { asJson } from "../json-answer.ts";
import { messages } from "../messages.ts";
import { type CompanyVisit, callIn } from "../request.ts";
import { usualServer } from "./compose/from.ts";
import { jsonOrRefusal } from "./media.ts";
import { readerOf } from "./template-form.ts";
import { documentOf } from "./visual-editor.ts";

const refused = (sentence: string): RawResponse => asJson({ sentences: [sentence] }, 400);

export async function checkVisual(visit: CompanyVisit): Promise<RawResponse> {
  requirePermission("renderer.checkTemplate", visit.company);
  const { subject = "", design } = documentOf(visit) ?? {};
  if (!design) return refused(messages.visual.problems.away);
  return jsonOrRefusal(async () => {
    const { findings, warnings, size } = await callIn(visit, "renderer.checkTemplate", {
      subject: subject.trim() || messages.templates.noSubject,
      design,
      quick: visit.form.all === undefined,
    });
    return { findings, warnings, size };
  });
}

export async function testVisual(visit: CompanyVisit): Promise<RawResponse> {
  requirePermission("campaigns.sendTest", visit.company);
  const { subject = "", preheader, design } = documentOf(visit) ?? {};
  if (!design) return refused(messages.visual.problems.away);
  return jsonOrRefusal(async () => {
    const t = messages.newCampaign;
    const sender = await usualServer(visit);
    if (!sender) return { sentences: [messages.visual.test.noServer] };
    const { reader = "", to = "" } = visit.form;
    const { results } = await callIn(visit, "campaigns.sendTest", {
      smtp_config_id: sender,
      to: [to.trim()],
      subject: subject.trim() || messages.templates.noSubject,
      preheader: preheader ?? null,
      design,
      ...(reader === "" ? {} : { variables: (await readerOf(visit, reader)).variables }),
    });
    const sentences = results.map(({ email, status, error, smtp_response }) =>
      status === "sent" ? t.testSent(email) : t.testFailed(email, error ?? smtp_response ?? ""),
    );
    return { sentences };
  });
}
