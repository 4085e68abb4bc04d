/** A template before it is used: what saving it would warn of, how large it is, where its links lead, what a filter says. */
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { textsIn } from "../../lib/design/check.ts";
import type { Design } from "../../lib/design/design.ts";
import { type FieldErrors, invalid } from "../../lib/errors.ts";
import { MAX_FINDINGS } from "../../lib/mail-check/finding.ts";
import type { Static } from "../../lib/shapes.ts";
import { subjectErrors } from "../../lib/template/template-errors.ts";
import { madeDesign } from "../../made-design.ts";
import { UnusableTemplate } from "../content.ts";
import type { TemplateCheck } from "../contract-check.ts";
import type { contract } from "../contract-templates.ts";
import { bodyFacts, findingsIn, pageBodies } from "../heavy.ts";
import { contentAfter, contentErrors } from "../template-content.ts";
import { templateWarnings } from "../warnings.ts";
import { checkLinks } from "./check-links.ts";
import { linkFindings, spamFindings } from "./online-findings.ts";
import { sampleMail } from "./sample-mail.ts";
import { type SpamScore, spamScore } from "./spam-score.ts";

/** Shares of a call's 30 seconds; the rest is for the response. */
const LINKS_MS = 20_000;
const FILTER_MS = 15_000;

/** Addresses of these alone can be asked. */
const isWholeAddress = (link: string) => /^https?:\/\//i.test(link) && !link.includes("[[");

type Checked = Static<(typeof contract)["checkTemplate"]["params"]>;

const SOURCES = ["body", "design", "markdown"] as const;

/** Errors as when saving a template without MJML. */
export const checkErrors = async (
  ctx: Ctx<Checked>,
  isValid: (field: keyof Checked) => boolean,
): Promise<FieldErrors> => {
  const { params } = ctx;
  const subject = isValid("subject") ? subjectErrors(params.subject) : [];
  const written = Object.fromEntries(SOURCES.filter(isValid).map((field) => [field, params[field]]));
  const isMissing = SOURCES.every((field) => params[field] === undefined);
  return {
    ...(subject.length > 0 && { subject }),
    ...(isMissing ? { body: ["Give body, design or markdown."] } : await contentErrors(companyOf(ctx), null, written)),
  };
};

/** Place of an address in the design; undefined if the brand or a saved block has it. */
function pathOf(design: Record<string, unknown> | undefined, url: string): string | undefined {
  for (const [path, text, field] of design ? textsIn((design as unknown as Design).blocks) : []) {
    if (text === url || (field.kind === "html" && text.includes(url))) return path;
  }
  return undefined;
}

type Log = (error: unknown) => void;

async function scoreOrNull(
  companyId: string,
  given: { subject: string; body: string },
  log: Log,
): Promise<SpamScore | null> {
  try {
    return await spamScore(() => sampleMail(companyId, given), AbortSignal.timeout(FILTER_MS));
  } catch (error) {
    log(error);
    return null;
  }
}

export async function checkTemplate(
  companyId: string,
  { subject, quick = false, ...written }: Checked,
  onFilterFailure: Log,
): Promise<Static<typeof TemplateCheck>> {
  const end = AbortSignal.timeout(LINKS_MS);
  const { design } = written;
  const { body = written.body ?? "" } = await contentAfter(companyId, null, written);
  const marked = design && (await madeDesign(companyId, design, { inlinesCss: false, isMarked: true })).html;
  // Content added below the body is ours.
  const source = { subject, body, companyName: "", footerText: "", isTransactional: true };
  const size = Buffer.byteLength(body);
  try {
    const facts = await bodyFacts(companyId, source);
    const { links } = await pageBodies(companyId, source);
    const [ofMail, warnings, checked, spam] = await Promise.all([
      findingsIn(companyId, marked ?? body),
      // The size is a finding.
      templateWarnings(companyId, { facts, htmlBytes: 0, isTransactional: false }),
      quick ? [] : checkLinks(companyId, [...links.filter(isWholeAddress), ...facts.images], end),
      quick ? null : scoreOrNull(companyId, { subject, body }, onFilterFailure),
    ]);
    const pathIn = (url: string) => {
      const path = pathOf(design, url);
      return path === undefined ? {} : { path };
    };
    const followed = new Set(links);
    const kinds = checked.map((one) => ({
      ...one,
      ...pathIn(one.url),
      kind: followed.has(one.url) ? ("link" as const) : ("image" as const),
    }));
    const findings = [...linkFindings(kinds), ...spamFindings(spam), ...ofMail].slice(0, MAX_FINDINGS);
    return { warnings, size, findings, links: kinds, spam };
  } catch (error) {
    throw error instanceof UnusableTemplate ? invalid(error.fields) : error;
  }
}
