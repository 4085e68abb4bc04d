/**
 * Renders sent mail again from the campaign's snapshot and the recipient's variables, because rendered email is not
 * stored.
 */
import { LRUCache } from "lru-cache";
import { query, queryOne } from "../../models/database/db.ts";
import { mailOf, mailsOf } from "../../models/statements/mail-key.ts";
import { notFound } from "../lib/errors.ts";
import { compileTemplate } from "../lib/template/compile.ts";
import { htmlProgram, subjectProgram } from "./bodies/bodies.ts";
import { loadContent } from "./campaign-rows.ts";
import { installation, unsubscribeUrl } from "./compiled-campaign.ts";
import { type Content, companyVariables, Unrenderable } from "./content.ts";
import { pageBodies } from "./heavy.ts";
import { subjectText } from "./mime/skeleton.ts";
import { type Program, run } from "./program/program.ts";
import { type Recipient, type Scope, scopeOf } from "./program/scope.ts";

interface Sent extends Recipient {
  campaign_no: number;
  seq: number;
  campaign_id: string;
  company_id: string;
  variant: number | null;
  /** Content for the remaining recipients of a campaign with variants; null before the decision. */
  winner: number | null;
}
type Company = Pick<Content, "companyId" | "companyName" | "footerText">;

const SENT = `
  select e.campaign_no, e.seq, c.id as campaign_id, c.company_id, coalesce(e.email, s.email) as email, e.subscriber_id,
    e.variables, e.variant, s.first_name, s.last_name, s.attributes,
    case when e.variant is null then (
      select w.winner from campaign_winners w where w.company_id = c.company_id and w.campaign_id = c.id) end as winner
  from sent_emails e
  join campaigns c on c.no = e.campaign_no
  left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id`;

function scopeFor(sent: Sent, company: Company, baseUrl: string): Scope {
  return scopeOf(sent, {
    fallback: companyVariables(company),
    tokens: null,
    // A preferences link is for the mailbox alone, and lives longer than this page.
    preferencesUrl: () => unsubscribeUrl(baseUrl, sent),
  });
}

/** Equal for emails with the same content. */
const contentKey = ({ campaign_id, variant, winner }: Sent): string => `${campaign_id} ${variant ?? winner ?? ""}`;

interface Page extends Company {
  baseUrl: string;
  subject: Program;
  html: Program;
  characters: number;
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_AGE_MS = 5 * 60_000;
/** Estimate as for compiled campaigns, which hold three programs of the same body. */
const OVERHEAD_BYTES = 16 * 1024;
const BYTES_PER_CHARACTER = 4;

/** Undefined if the campaign no longer exists. Throws Unrenderable. */
async function makePage({ campaign_id, variant }: Sent): Promise<Page | undefined> {
  const content = (await loadContent(campaign_id, { toSend: false, variant }))?.content;
  if (!content) return undefined;
  const { companyId, companyName, footerText } = content;
  const { baseUrl } = installation(content.trackingDomain);
  const bodies = await pageBodies(companyId, { ...content, language: content.pageLanguage });
  const subject = subjectProgram(bodies.subject, baseUrl);
  const html = htmlProgram(bodies.html, baseUrl);
  const characters = content.subject.length + content.body.length;
  return { companyId, companyName, footerText, baseUrl, subject, html, characters };
}

/** Renders emails as web pages. Programs are cached by campaign and shared by concurrent callers. */
export class WebViews {
  readonly #pages = new LRUCache<string, Page, Sent>({
    maxSize: MAX_BYTES,
    ttl: MAX_AGE_MS,
    sizeCalculation: ({ characters }) => Math.min(MAX_BYTES, OVERHEAD_BYTES + BYTES_PER_CHARACTER * characters),
    fetchMethod: (_key, _old, { context }) => makePage(context),
    // Callers waiting for a dropped page still get it; it is not cached.
    ignoreFetchAbort: true,
  });

  /**
   * The id is the credential: anybody who has it sees this email of any company. An email that contains a credential
   * itself, the link of a confirmation, has no such page.
   */
  async render(sentEmailId: string): Promise<{ subject: string; html: string; companyId: string }> {
    const { campaign_no, seq } = await mailOf(sentEmailId);
    const row = await queryOne<Sent>(
      `${SENT} where e.campaign_no = $1 and e.seq = $2 and not c.is_internal and c.deleted_at is null`,
      [campaign_no, seq],
    );
    // An erased person's mail has no address.
    if (!row || row.email === "") throw notFound();
    const sent = { ...row, id: sentEmailId };
    try {
      const page = await this.#pages.fetch(contentKey(sent), { context: sent });
      if (!page) throw notFound();
      return {
        subject: subjectText(page.subject, scopeFor(sent, page, page.baseUrl)),
        html: run(page.html, scopeFor(sent, page, page.baseUrl)),
        companyId: page.companyId,
      };
    } catch (error) {
      // An email that cannot be made was never sent.
      if (error instanceof Unrenderable) throw notFound();
      throw error;
    }
  }

  /** The host of a company's links has changed. */
  clear(): void {
    this.#pages.clear();
  }
}

interface SubjectRow extends Sent {
  subject: string;
  company_name: string;
  footer_text: string;
}

const SUBJECTS = `
  select sent.*, coalesce(v.content->>'subject', t.subject) as subject, t.company_name, t.footer_text
  from (${SENT} join unnest($2::int[], $3::int[]) m (campaign_no, seq) on m.campaign_no = e.campaign_no and m.seq = e.seq
    where c.company_id = $1) sent
  join campaign_contents t on t.company_id = $1 and t.campaign_id = sent.campaign_id
  left join campaign_variants v on v.company_id = $1 and v.campaign_id = sent.campaign_id and v.index = sent.variant`;

function subjectOf(render: () => string): string {
  try {
    return render();
  } catch (error) {
    if (error instanceof Unrenderable) return "";
    throw error;
  }
}

export async function subjects(companyId: string, ids: readonly string[]): Promise<string[]> {
  const mails = await mailsOf(ids);
  const numbers = [mails.map((mail) => mail.campaign_no), mails.map((mail) => mail.seq)];
  const rows = await query<SubjectRow>(SUBJECTS, [companyId, ...numbers]);
  const idOf = new Map(mails.map(({ campaign_no, seq, id }) => [`${campaign_no} ${seq}`, id]));
  const { baseUrl } = installation();
  const programs = new Map<string, Program>();
  const programOf = (row: SubjectRow): Program => {
    const cached = programs.get(contentKey(row));
    const program = cached ?? subjectProgram(compileTemplate(row.subject, "subject").template?.nodes ?? [], baseUrl);
    programs.set(contentKey(row), program);
    return program;
  };
  const rendered = new Map<string, string>();
  for (const row of rows) {
    const company = { companyId, companyName: row.company_name, footerText: row.footer_text };
    row.id = idOf.get(`${row.campaign_no} ${row.seq}`)!;
    rendered.set(
      row.id,
      subjectOf(() => subjectText(programOf(row), scopeFor(row, company, baseUrl))),
    );
  }
  return ids.map((id) => rendered.get(id.toLowerCase()) ?? "");
}
