/** Last step: summary of the draft, missing fields, preview, test mail, and the send button with its effect. */
import type { ReturnsOf } from "../../../contracts.ts";
import { isServiceError } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/ids.ts";
import { requirePermission } from "../../../permissions.ts";
import { findSubscriber } from "../../find-subscriber.ts";
import type { Errors } from "../../form-errors.ts";
import { hasDarkColors } from "../../mail-look.ts";
import { messages } from "../../messages.ts";
import { formatted, problemOf } from "../../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../../request.ts";
import { clockInWords, soonOf } from "../../times.ts";
import { type AudienceWords, audienceOf, choiceIn, isCountedAtOnce, segmentOf } from "./audience.ts";
import {
  type Body,
  checkErrors,
  contentIn,
  type Draft,
  draftGone,
  draftPath,
  errorsOf,
  hasText,
  isObject,
  ofDraft,
  orNothing,
  receiversIn,
  STEPS,
  stepsOf,
  textIn,
} from "./draft.ts";
import { bad, contentFindings, serverFindings } from "./findings.ts";
import { TAGS, tagsIn } from "./from.ts";
import { previewChoiceOf, previewChoices, previewOf } from "./preview.ts";
import { sourceOf, variantsIn, versionsOf, winnerIn } from "./variants.ts";
import { clocksOf, whenIn } from "./when.ts";

const t = () => messages.newCampaign;

/** The API's error for a missing field. */
const REQUIRED = "This field is required.";

/** Names of the objects that the draft refers to; undefined if not chosen or deleted. */
async function namesOf(visit: CompanyVisit, body: Body) {
  const id = (field: string) => (isUuid(textIn(body, field)) ? textIn(body, field) : undefined);
  const found = <T>(of: string | undefined, read: (id: string) => Promise<T>) => (of ? orNothing(read(of)) : undefined);
  const [list, segment, template, server] = await Promise.all([
    found(id("list_id"), (one) => callIn(visit, "subscribers.getList", { id: one })),
    found(id("segment_id"), (one) => segmentOf(visit, one)),
    found(id("template_id"), (one) => callIn(visit, "renderer.getTemplate", { id: one })),
    found(id("smtp_config_id"), (one) => callIn(visit, "smtp-sender.getConfig", { id: one })),
  ]);
  const ofVersion = (version: Body) => {
    const own = textIn(version, "template_id");
    return isUuid(own) ? orNothing(callIn(visit, "renderer.getTemplate", { id: own })) : undefined;
  };
  const templates = await Promise.all(versionsOf(body).map(ofVersion));
  return { audience: (list ?? segment)?.name, template, server, templates };
}

type Named = Awaited<ReturnType<typeof namesOf>>;

function whenWords(body: Body, { zone, clock: shown }: { zone: string; clock: string }): string {
  const when = whenIn(body);
  const clock = shown || textIn(body, "scheduled_for");
  if (when === "now") return t().isNow;
  return when === "local" ? t().isLocal(clockInWords(clock)) : t().isAt(clockInWords(clock), zone);
}

/** Number of emails that count towards the monthly quota, including copies. */
function emailsOf(body: Body, audience: AudienceWords | undefined): number | undefined {
  const copies = (list: unknown) => (Array.isArray(list) ? list.length : 0);
  const receivers = receiversIn(body);
  if (receivers.length === 0) return audience?.recipients;
  return receivers.reduce((sum, { cc, bcc }) => sum + 1 + copies(cc) + copies(bcc), 0);
}

/** Monthly quota, from which the send is deducted when it starts. */
function quotaOf({ limits, usage, period }: ReturnsOf<"accounts.getPlan">, body: Body, emails: number | undefined) {
  const limit = limits.emails_per_month;
  if (limit === null) return { text: t().noQuota, isOver: false };
  if (Date.parse(textIn(body, "scheduled_for")) >= Date.parse(period.end)) {
    return { text: t().quotaLater(formatted(limit)), isOver: false };
  }
  const left = Math.max(0, limit - usage.emails_per_month);
  if (emails === undefined) return { text: t().quotaLeft(formatted(left)), isOver: false };
  const isOver = emails > left;
  const text = isOver ? t().quotaOver : t().quota;
  return { text: text(formatted(emails), formatted(left)), isOver, used: Math.min(emails, left), left };
}

/** Sentence beside the send button. */
function effectOfSend(body: Body, name: string | undefined, audience: AudienceWords | undefined, when: string): string {
  const receivers = receiversIn(body).length;
  if (receivers > 0) return t().addressesGet(t().addressesCount(formatted(receivers), receivers), receivers, when);
  if (!audience) return t().everybody(name ?? "", when);
  return audience.recipients === 0 ? t().nobody : t().willGet(audience.people, audience.recipients, name ?? "", when);
}

/** Each version's share and subject, and the rule for the winner. */
function testWords(body: Body, { template, templates }: Named): string[] {
  const versions = variantsIn(body);
  if (versions.length === 0) return [];
  const subject = template?.subject ?? textIn(contentIn(body), "subject");
  const of = versions.map((one, n) =>
    t().versionShare(one.letter, one.percent, one.subject || (templates[n]?.subject ?? subject)),
  );
  const { metric, hours } = winnerIn(body);
  const rule = metric === "opens" || metric === "clicks" ? t().winnerRule(t().most[metric], hours) : t().noWinnerRule;
  return [t().withTest(formatted(versions.length)), ...of, rule];
}

function whatWords(body: Body, named: Named): string[] {
  const { template } = named;
  const of = template ? [t().ofTemplate(template.name), template.subject] : [textIn(contentIn(body), "subject")];
  const attached = Array.isArray(body.attachment_ids) ? body.attachment_ids.length : 0;
  return [
    ...of,
    ...testWords(body, named),
    ...(attached > 0 ? [t().attachments(formatted(attached), attached)] : []),
  ].filter((text) => text !== "");
}

function fromWords(body: Body, { server }: Named): string[] {
  if (!server) return [];
  const tags = tagsIn(body);
  const given = TAGS.filter((tag) => tags[tag] !== "").map((tag) => `${t().tags[tag]}: ${tags[tag]}`);
  const sender = server.sender_name ? `${server.sender_name} <${server.sender_email}>` : server.sender_email;
  return [sender, server.name, ...(given.length > 0 ? [given.join(", ")] : [])];
}

/** Renders the preview, or returns the errors of a template or text that cannot be rendered. */
async function previewOrErrors(visit: CompanyVisit, draft: Draft) {
  try {
    return { preview: await previewOf(visit, draft, previewChoiceOf(visit.query)) };
  } catch (error) {
    if (!isServiceError(error, "INVALID")) throw error;
    return { preview: undefined, previewErrors: Object.values(error.data.fields).flat() };
  }
}

interface ShowOptions {
  /** Field errors of a refused send. */
  errors?: Errors;
  /** Errors of a refused send that belong to no field. */
  refusal?: string[];
  test?: { went: string[]; failed: string[] };
}

async function show(
  visit: CompanyVisit,
  draft: Draft,
  { errors, refusal = [], test }: ShowOptions = {},
): Promise<Answer> {
  const { body, id } = draft;
  const isWritten = [body, ...versionsOf(body)].some((one) => textIn(one, "template_id") !== "" || hasText(one));
  const isCounted = visit.query.count !== undefined || (await orNothing(isCountedAtOnce(visit, body))) === true;
  const [found, names, clocks, audience, choices, shown, plan, company] = await Promise.all([
    errors ?? checkErrors(visit, draft),
    namesOf(visit, body),
    clocksOf(visit, body),
    isCounted ? audienceOf(visit, body) : undefined,
    previewChoices(visit, draft),
    isWritten ? previewOrErrors(visit, draft) : { preview: undefined },
    callIn(visit, "accounts.getPlan", { id: visit.company.id }),
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
  ]);
  const when = whenWords(body, clocks);
  const soon = whenIn(body) === "at" ? soonOf(textIn(body, "scheduled_for")) : undefined;
  const words = {
    whom: [names.audience ?? (receiversIn(body).length > 0 ? t().typed : "")].filter((text) => text !== ""),
    what: whatWords(body, names),
    from: fromWords(body, names),
    when: [when, ...(soon ? [soon] : [])],
  };
  const summary = STEPS.map((step) => {
    const sentences = Object.values(errorsOf(step, found)).flat();
    return {
      label: t().titles[step],
      href: draftPath(visit, id, step),
      words: words[step],
      isOpen: sentences.length > 0,
      // Omitted, because "Not chosen yet" is already shown.
      sentences: sentences.filter((sentence) => words[step].length > 0 || sentence !== REQUIRED),
    };
  });
  return {
    view: "new-campaign-check",
    title: draft.name,
    values: {
      steps: stepsOf(visit, id, "check"),
      here: draftPath(visit, id),
      summary,
      isReady: summary.every(({ isOpen }) => !isOpen),
      isTransactional: body.is_transactional === true,
      quota: quotaOf(plan, body, emailsOf(body, audience)),
      planPath: companyPath(visit, "settings/plan"),
      findings: [
        ...contentFindings(visit, draft, shown.preview?.warnings ?? []),
        ...(body.winner && !company.tracking_enabled
          ? [bad(t().winnerUntracked, { href: companyPath(visit, "settings/company"), label: t().toTracking })]
          : []),
      ],
      known: serverFindings(visit, names.server),
      refusal,
      isPaused: company.sending_paused_at !== null,
      audience,
      isCounted: isCounted || choiceIn(body) === "addresses",
      willHappen: effectOfSend(body, names.audience, audience, when),
      isNow: whenIn(body) === "now",
      seen: draft.updated_at,
      isWritten,
      ...choices,
      ...shown,
      darkHint: shown.preview && hasDarkColors(shown.preview.html) ? t().darkHint : t().notDarkHint,
      test,
      testTo: visit.form.to ?? visit.user.email,
    },
  };
}

export const checkPage = ofDraft((visit, draft) => show(visit, draft));

/** Shows refusals of the service with `shown`; throws unexpected errors. */
async function showRefusal(
  work: () => Promise<Answer>,
  shown: (sentences: string[], isOfFields: boolean) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error);
    if (!problem || !("view" in problem) || isServiceError(error, "NOT_FOUND")) throw error;
    const page = await shown(problem.values!.sentences as string[], isServiceError(error, "INVALID"));
    return { ...page, status: problem.status ?? 400 } as Answer;
  }
}

/** Variables of a person's mail; none for an address that belongs to nobody. */
async function valuesFor(visit: CompanyVisit, body: Body, person: string): Promise<Body> {
  const isPerson = (one: Body) => `${one.email}`.toLowerCase() === person.toLowerCase();
  const receiver = receiversIn(body).find(isPerson);
  if (receiver) return receiver;
  return (await findSubscriber(visit, person))?.values ?? {};
}

/** Fields that a test mail needs and the draft does not have yet. */
function missingForTest(body: Body, content: Body): string[] {
  const hasContent = ["template_id", "body"].some((field) => textIn(content, field) !== "") || isObject(content.design);
  return [...(textIn(body, "smtp_config_id") ? [] : [t().needsServer]), ...(hasContent ? [] : [t().noPreview])];
}

const FAILED_TEST = 400;

export const testDraft = ofDraft(async (visit, draft) => {
  const { body } = draft;
  const { to = "", person = "", variant = "", part } = visit.form;
  requirePermission("campaigns.sendTest", { role: visit.company.role });
  const shown: typeof visit = { ...visit, query: { ...visit.query, person, variant } };
  const failed = (sentences: string[]) => show(shown, draft, { test: { went: [], failed: sentences } });
  const work = async () => {
    const source = sourceOf(body, previewChoiceOf(visit.form).variant);
    const missing = missingForTest(body, source);
    if (missing.length > 0) return { ...(await failed(missing)), status: FAILED_TEST };
    const templateId = textIn(source, "template_id");
    const content = templateId ? { template_id: templateId } : source;
    const variables = await valuesFor(visit, body, person === "" ? to.trim() : person);
    const asked = { smtp_config_id: textIn(body, "smtp_config_id"), to: [to.trim()], ...content, variables };
    const { results } = await callIn(visit, "campaigns.sendTest", asked);
    const went = results.filter(({ status }) => status === "sent").map(({ email }) => t().testSent(email));
    const not = results
      .filter(({ status }) => status !== "sent")
      .map(({ email, error, smtp_response }) => t().testFailed(email, error ?? smtp_response ?? ""));
    return show(shown, draft, { test: { went, failed: not } });
  };
  const answer = await showRefusal(work, failed);
  // htmx replaces a part of the page only if the status is 200.
  return part === undefined ? answer : ({ ...answer, status: 200 } as Answer);
});

/**
 * Sends the draft as the person saw it. Pressing the button several times creates one campaign: the draft's id is the
 * idempotency key, also after the draft was deleted.
 */
export async function sendDraft(visit: CompanyVisit): Promise<Outcome | Answer> {
  requirePermission("campaigns.sendDraft", { role: visit.company.role });
  const { id = "" } = visit.params;
  if (!isUuid(id)) return draftGone(visit);
  const stored = () => orNothing(callIn(visit, "campaigns.getDraft", { id }));
  const draft = await stored();
  const send = async (): Promise<Answer> => {
    const unchanged = draft && { unchanged_since: draft.updated_at };
    const sent = await callIn(visit, "campaigns.sendDraft", { id, idempotency_key: `console ${id}`, ...unchanged });
    const notice = sent.status === "scheduled" ? "campaignScheduled" : "campaignSent";
    return { goTo: companyPath(visit, `campaigns/${sent.id}`), notice };
  };
  if (!draft) return (await orNothing(send())) ?? draftGone(visit);
  if (draft.updated_at !== visit.form.seen) {
    return { ...(await show(visit, draft, { refusal: [t().changed] })), status: 409 };
  }
  const refused = async (sentences: string[], isOfFields: boolean) => {
    const now = await stored();
    if (!now) return draftGone(visit);
    const isSame = now.updated_at === draft.updated_at;
    return show(visit, now, isSame && isOfFields ? {} : { refusal: isSame ? sentences : [t().changed] });
  };
  return (await orNothing(showRefusal(send, refused))) ?? draftGone(visit);
}
