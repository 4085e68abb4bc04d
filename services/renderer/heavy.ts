/** Runs work on large templates in a worker thread, and on small ones directly. */
import type { Finding } from "../lib/mail-check/finding.ts";
import { LARGE_BODY } from "../lib/template/template-errors.ts";
import { TaskLimitExceeded, workers } from "../lib/workers/workers.ts";
import { type Bodies, bodiesOf, type Source } from "./bodies/bodies.ts";
import { type Facts, factsOf } from "./bodies/facts.ts";
import { Unrenderable, UnusableTemplate } from "./content.ts";
import type { MailNodes, Outcome, PageNodes, Preview } from "./heavy-tasks.ts";
import type { Data } from "./program/scope.ts";
import { type Convertible, convertContent } from "./repair/convert.ts";

const FILE = new URL("heavy-tasks.ts", import.meta.url).href;

/** The work exceeded its limits; the message is for the template's author. */
export class TooHeavy extends UnusableTemplate {
  constructor(cause: TaskLimitExceeded) {
    super({ body: [`Too much work: ${cause.message}.`] });
  }
}

async function inThread<T>(companyId: string, name: string, input: unknown, characters: number): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await workers().run<Outcome<T>>(companyId, { file: FILE, name, input, characters });
  } catch (error) {
    throw error instanceof TaskLimitExceeded ? new TooHeavy(error) : error;
  }
  if ("fields" in outcome) throw new UnusableTemplate(outcome.fields);
  if ("error" in outcome) throw new Unrenderable(outcome.error, { cause: outcome.cause });
  return outcome.made;
}

/** Input is copied to the thread, so it contains no more than needed. */
const sourceOf = (source: Source): Source => {
  const { subject, body, preheader, textBody, language, companyName, footerText, isTransactional } = source;
  return { subject, body, preheader, textBody, language, companyName, footerText, isTransactional };
};

const sizeOf = ({ body, textBody }: Source) => body.length + (textBody?.length ?? 0);
const isSmall = (source: Source) => sizeOf(source) < LARGE_BODY;

/** Throws Unrenderable, or 429 or 503 where too much waits. */
export async function pageBodies(companyId: string, source: Source): Promise<PageNodes> {
  return isSmall(source)
    ? bodiesOf(source)
    : inThread<PageNodes>(companyId, "pageNodes", sourceOf(source), sizeOf(source));
}

/** Compiles the bodies of a campaign's emails. */
export async function mailBodies(companyId: string, source: Source): Promise<Bodies> {
  if (isSmall(source)) return bodiesOf(source);
  const nodes = await inThread<MailNodes>(companyId, "mailNodes", sourceOf(source), sizeOf(source));
  return { ...nodes, text: () => nodes.text };
}

/** Collects facts for warnings; none for a body that cannot be checked in time. */
export const bodyFacts = (companyId: string, source: Source): Promise<Facts> | Facts =>
  isSmall(source) ? factsOf(source) : inThread<Facts>(companyId, "facts", sourceOf(source), sizeOf(source));

/** Checks a mail's HTML. Always in a thread: a small style sheet may take seconds to apply. */
export const findingsIn = (companyId: string, html: string): Promise<Finding[]> =>
  inThread<Finding[]>(companyId, "findings", html, html.length);

export const converted = (companyId: string, content: Convertible): Promise<Convertible> | Convertible => {
  const characters = content.body.length + content.text_body.length;
  return characters < LARGE_BODY
    ? convertContent(content)
    : inThread<Convertible>(companyId, "converted", content, characters);
};

/** Size of a preview in the queue, so that 20 of a company may wait: the 21st would not be finished in time. */
const PREVIEW_CHARACTERS = 500_000;

/** Always in a thread: with its variables a small template may become a large email. */
export const previewInThread = (companyId: string, source: Source, variables: Data, baseUrl: string) =>
  inThread<Preview>(companyId, "previewOf", { source: sourceOf(source), variables, baseUrl }, PREVIEW_CHARACTERS);
