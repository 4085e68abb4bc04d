/** Slow checks before a campaign is sent: links, size, spam filter, and DNS records of the sender's domain. */

import type { ReturnsOf } from "../../../contracts.ts";
import { isUuid } from "../../../lib/ids.ts";
import { CLIPPED_BYTES } from "../../../lib/mail-check/finding.ts";
import { asText } from "../../mail-look.ts";
import { messages } from "../../messages.ts";
import { formatted, problemOf } from "../../render.ts";
import { type CompanyVisit, callIn } from "../../request.ts";
import { type Draft, draftPath, letterOf, ofDraft, stepsOf, textIn } from "./draft.ts";
import { bad, type Finding, type Fix, good, toContent, toDomain, unknown } from "./findings.ts";
import { previewChoiceOf, previewOf } from "./preview.ts";
import { versionsOf } from "./variants.ts";

/** Score from which typical filters treat a mail as spam. */
const MANY_POINTS = 6;
/** Number of spam filter rules to show, highest score first. */
const MAX_RULES = 5;
/** Id in a preview's built-in links, which intentionally do not work. */
const SAMPLE_ID = "00000000-0000-0000-0000-000000000000";

const t = () => messages.newCampaign;

/** Reports a check that failed and lets the others continue. */
async function orWhyNot(work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error);
    if (!problem || !("view" in problem)) throw error;
    const why = (problem.values!.sentences as string[]).join(" ");
    return [unknown(t().notChecked(why))];
  }
}

type TemplateCheck = ReturnsOf<"renderer.checkTemplate">;

const FAULTS: readonly string[] = ["accessibility", "support"];

function faultFindings(findings: TemplateCheck["findings"], fix: Fix): Finding[] {
  const faults = findings.filter(({ kind, severity }) => FAULTS.includes(kind) && severity === "error");
  if (faults.length === 0) return [good(t().noFaults)];
  return faults.map(({ message, fix: how }) => bad(`${message} ${how}`, fix));
}

function linkFindings(links: TemplateCheck["links"], fix: Fix): Finding[] {
  const asked = links.filter(({ url }) => !url.includes(SAMPLE_ID));
  if (asked.length === 0) return [good(t().noLinks)];
  const wrong = asked.filter(({ ok }) => !ok).map(({ url, status }) => bad(t().linkBad(url, status), fix));
  const right = asked.length - wrong.length;
  return [...wrong, ...(right > 0 ? [good(t().linksGood(formatted(right), right))] : [])];
}

function sizeFinding(bytes: number, fix: Fix): Finding {
  const kb = formatted(Math.ceil(bytes / 1024));
  return bytes > CLIPPED_BYTES ? bad(t().sizeBad(kb), fix) : good(t().sizeGood(kb));
}

function spamFindings(spam: TemplateCheck["spam"], fix: Fix): Finding[] {
  if (!spam) return [unknown(t().noSpam)];
  const rules = Object.values(spam.symbols)
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_RULES);
  const score = t().spamScore(spam.score.toFixed(1));
  if (spam.score < MANY_POINTS) return [good(score)];
  const each = rules.map((rule) => t().spamRule(rule.description, rule.score.toFixed(1)));
  return [bad([score, ...each].join(" "), fix)];
}

/** Checks each mail as rendered for a sample reader, whatever format it was written in. */
async function mailChecks(visit: CompanyVisit, draft: Draft): Promise<Finding[]> {
  const versions = versionsOf(draft.body);
  if (versions.length === 0) return mailCheck(visit, draft, 0);
  const found = await Promise.all(versions.map((_, n) => mailCheck(visit, draft, n)));
  return found.flatMap((findings, n) =>
    findings.map((one) => ({ ...one, sentence: `${t().version(letterOf(n))}: ${one.sentence}` })),
  );
}

async function mailCheck(visit: CompanyVisit, draft: Draft, variant: number): Promise<Finding[]> {
  const { subject, html } = await previewOf(visit, draft, { ...previewChoiceOf({}), variant });
  const found = await callIn(visit, "renderer.checkTemplate", { subject: subject || "-", body: asText(html) });
  const { findings, links, size, spam } = found;
  const fix = toContent(visit, draft);
  return [
    ...faultFindings(findings, fix),
    ...linkFindings(links, fix),
    sizeFinding(size, fix),
    ...spamFindings(spam, fix),
  ];
}

async function domainChecks(visit: CompanyVisit, { id: draftId, body }: Draft): Promise<Finding[]> {
  const id = textIn(body, "smtp_config_id");
  if (!isUuid(id))
    return [unknown(t().needsServer, { href: draftPath(visit, draftId, "from"), label: t().chooseServer })];
  const { checks } = await callIn(visit, "smtp-sender.deliverability", { id });
  const of = (...statuses: string[]) =>
    checks.filter(({ status }) => statuses.includes(status)).map(({ name }) => name);
  const unanswered = of("unknown").map((name) => messages.domains.names[name]);
  return [
    ...of("warn", "fail").map((name) => bad(t().dns[name].bad, toDomain(visit, id, name))),
    ...(unanswered.length > 0 ? [unknown(t().dnsUnknown(unanswered.join(", ")))] : []),
    ...of("pass").map((name) => good(t().dns[name].good)),
  ];
}

export const checksPage = ofDraft(async (visit, draft) => {
  const [ofMail, ofDomain] = await Promise.all([
    orWhyNot(() => mailChecks(visit, draft)),
    orWhyNot(() => domainChecks(visit, draft)),
  ]);
  const order = ["bad", "unknown", "good"];
  const findings = [...ofMail, ...ofDomain].toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return {
    view: "new-campaign-checks",
    title: t().titles.checks,
    values: {
      steps: stepsOf(visit, draft.id, "check"),
      findings,
      back: draftPath(visit, draft.id),
      here: draftPath(visit, draft.id, "checks"),
    },
  };
});
