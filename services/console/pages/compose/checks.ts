/** What is looked at before a campaign goes, and takes a while: links, size, spam filter, the records of the sender's domain. */
import type { ReturnsOf } from "../../../contracts.ts";
import { isUuid } from "../../../lib/ids.ts";
import { messages } from "../../messages.ts";
import { formatted, problemOf } from "../../render.ts";
import { type CompanyVisit, callIn } from "../../request.ts";
import { type Draft, draftPath, ofDraft, stepsOf, textIn } from "./draft.ts";
import { chosenOf, previewOf } from "./preview.ts";

interface Finding {
  state: "good" | "bad" | "unknown";
  sentence: string;
}

interface Check {
  name: string;
  findings: Finding[];
}

/** Gmail shows so much of a mail. */
const CLIPPED_BYTES = 102 * 1024;
/** Filters sort out from about so many points on. */
const MANY_POINTS = 6;
/** Of a filter's rules, those that add most. */
const MAX_RULES = 5;
/** The id in addresses that a preview's built-in links have: they lead nowhere by intent. */
const SAMPLE_ID = "00000000-0000-0000-0000-000000000000";

const t = () => messages.newCampaign;
const good = (sentence: string): Finding => ({ state: "good", sentence });
const bad = (sentence: string): Finding => ({ state: "bad", sentence });
const unknown = (sentence: string): Finding => ({ state: "unknown", sentence });

/** What could not be looked at is said, and stops nothing else. */
async function orWhyNot(name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error);
    if (!problem || !("view" in problem)) throw error;
    const why = (problem.values!.sentences as string[]).join(" ");
    return [{ name, findings: [unknown(t().notChecked(why))] }];
  }
}

type TemplateCheck = ReturnsOf<"renderer.checkTemplate">;

function linkFindings(links: TemplateCheck["links"]): Finding[] {
  const asked = links.filter(({ url }) => !url.includes(SAMPLE_ID));
  if (asked.length === 0) return [good(t().noLinks)];
  const wrong = asked.filter(({ ok }) => !ok).map(({ url, status }) => bad(t().linkBad(url, status)));
  const right = asked.length - wrong.length;
  return [...wrong, ...(right > 0 ? [good(t().linksGood(formatted(right), right))] : [])];
}

function sizeFinding(bytes: number): Finding {
  const kb = formatted(Math.ceil(bytes / 1024));
  return bytes > CLIPPED_BYTES ? bad(t().sizeBad(kb)) : good(t().sizeGood(kb));
}

function spamFindings(spam: TemplateCheck["spam"]): Finding[] {
  if (!spam) return [unknown(t().noSpam)];
  const rules = Object.values(spam.symbols)
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_RULES);
  const score = t().spamScore(spam.score.toFixed(1));
  if (spam.score < MANY_POINTS) return [good(score)];
  return [bad(score), ...rules.map((rule) => bad(t().spamRule(rule.description, rule.score.toFixed(1))))];
}

/** Of the mail as a sample reader gets it, whatever it was written in. */
async function mailChecks(visit: CompanyVisit, draft: Draft): Promise<Check[]> {
  const { subject, html } = await previewOf(visit, draft, chosenOf({}));
  // What a value put there is text by now, and no variable.
  const body = html.replaceAll("[[", "\\[[");
  const { links, size, spam } = await callIn(visit, "renderer.checkTemplate", { subject: subject || "-", body });
  const names = t().checkNames;
  return [
    { name: names.links, findings: linkFindings(links) },
    { name: names.size, findings: [sizeFinding(size)] },
    { name: names.spam, findings: spamFindings(spam) },
  ];
}

async function domainChecks(visit: CompanyVisit, { body }: Draft): Promise<Check[]> {
  const name = t().checkNames.domain;
  const id = textIn(body, "smtp_config_id");
  if (!isUuid(id)) return [{ name, findings: [unknown(t().needsServer)] }];
  const { checks } = await callIn(visit, "smtp-sender.deliverability", { id });
  const findings = checks.map(({ name: of, status, help }) => {
    const spelled = t().records[of];
    if (status === "pass") return good(t().dnsGood(spelled));
    return status === "unknown" ? unknown(t().dnsUnknown(spelled)) : bad(t().dnsBad(spelled, help));
  });
  return [{ name, findings }];
}

export const checksPage = ofDraft(async (visit, draft) => {
  const names = t().checkNames;
  const [ofMail, ofDomain] = await Promise.all([
    orWhyNot(names.links, () => mailChecks(visit, draft)),
    orWhyNot(names.domain, () => domainChecks(visit, draft)),
  ]);
  return {
    view: "new-campaign-checks",
    title: t().titles.checks,
    values: {
      steps: stepsOf(visit, draft.id, "check"),
      checks: [...ofMail, ...ofDomain],
      back: draftPath(visit, draft.id),
      here: draftPath(visit, draft.id, "checks"),
    },
  };
});
