/**
 * A campaign as anybody may read it, in its list's archive: every variable of a person is empty or has its default, so it is
 * rendered once for all readers, and kept while it is read.
 */
import { LRUCache } from "lru-cache";
import { notFound } from "../lib/errors.ts";
import type { Node } from "../lib/template/parser.ts";
import { htmlProgram, subjectProgram } from "./bodies/bodies.ts";
import { loadContent } from "./campaign-rows.ts";
import { installation } from "./compiled-campaign.ts";
import { type Content, companyVariables, Unrenderable } from "./content.ts";
import { pageBodies } from "./heavy.ts";
import { subjectText } from "./mime/skeleton.ts";
import { run } from "./program/program.ts";
import { type Scope, scopeOf } from "./program/scope.ts";

/**
 * What of a campaign is shown: the one place that chooses where recipients got different contents. Undefined if the campaign no
 * longer exists, or is another company's.
 */
export async function contentToShow(
  companyId: string,
  campaignId: string,
  variant: number | null = null,
): Promise<Content | undefined> {
  const content = (await loadContent(campaignId, { toSend: false, variant }))?.content;
  if (content?.companyId !== companyId) return undefined;
  // As a transactional mail it gets no footer: its links are the recipient's.
  return { ...content, isTransactional: true };
}

interface Addresses {
  archive: string;
  own: string;
}

/** Where the links lead that are each recipient's own in the mail: nobody can unsubscribe by what everybody reads. */
export function withAddresses(nodes: readonly Node[], addresses: Addresses): Node[] {
  const texts: Record<string, string> = {
    unsubscribe_url: addresses.archive,
    preferences_url: addresses.archive,
    view_in_browser_url: addresses.own,
  };
  const replaced = (node: Node): Node => {
    switch (node.kind) {
      case "value": {
        const text = node.path.from === "variables" && Object.hasOwn(texts, node.path.name) && texts[node.path.name];
        return text ? { kind: "text", text: node.urlEncoded ? encodeURIComponent(text) : text } : node;
      }
      case "if":
        return { ...node, body: node.body.map(replaced), otherwise: node.otherwise.map(replaced) };
      case "each":
      case "link":
        return { ...node, body: node.body.map(replaced) };
      default:
        return node;
    }
  };
  return nodes.map(replaced);
}

export function nobody(content: Content, addresses: Addresses): Scope {
  const facts = { fallback: companyVariables(content), tokens: null, preferencesUrl: () => addresses.archive };
  // The id is there for conditions alone: whether there is an address to unsubscribe by.
  return scopeOf({ id: "archive", email: "" }, facts);
}

/** The addresses that a program makes by itself are all replaced: it needs no base for them. */
export const NO_BASE = "";

export const subjectOf = (content: Content, nodes: readonly Node[], addresses: Addresses): string =>
  subjectText(subjectProgram(withAddresses(nodes, addresses), NO_BASE), nobody(content, addresses));

interface Archived {
  subject: string;
  html: string;
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_AGE_MS = 5 * 60_000;
const MAX_SUBJECTS = 20_000;
const BYTES_PER_CHARACTER = 2;

/** Undefined for a mail that cannot be made, which was never sent. */
async function ifRenderable<T>(make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof Unrenderable) return undefined;
    throw error;
  }
}

interface Campaign {
  companyId: string;
  campaignId: string;
  listId: string;
}

async function makeArchived({ companyId, campaignId, listId }: Campaign): Promise<Archived | undefined> {
  const content = await contentToShow(companyId, campaignId);
  if (!content) return undefined;
  const { baseUrl } = installation(content.trackingDomain);
  const archive = `${baseUrl}/api/emails/public/archive/${listId}/`;
  const addresses = { archive, own: `${archive}${campaignId}/` };
  const bodies = await pageBodies(companyId, { ...content, language: content.pageLanguage });
  const html = htmlProgram(withAddresses(bodies.html, addresses), NO_BASE);
  return {
    subject: subjectOf(content, bodies.subject, addresses),
    html: run(html, nobody(content, addresses)),
  };
}

/**
 * Each is made once for all who ask meanwhile. What a campaign was made of never changes; the host of its links may, and so may
 * what contentToShow() chooses once a campaign is resumed.
 */
export class ArchivedMails {
  readonly #mails = new LRUCache<string, Archived, Campaign>({
    maxSize: MAX_BYTES,
    ttl: MAX_AGE_MS,
    sizeCalculation: ({ subject, html }, key) =>
      Math.min(MAX_BYTES, BYTES_PER_CHARACTER * (subject.length + html.length + key.length)),
    fetchMethod: (_key, _old, { context }) => ifRenderable(() => makeArchived(context)),
    // Who waits for a mail that is dropped meanwhile gets it; it is not kept.
    ignoreFetchAbort: true,
  });
  readonly #subjects = new LRUCache<string, string>({ max: MAX_SUBJECTS, ttl: MAX_AGE_MS });

  /** Throws a 404 where there is none. Whether it may be read is the caller's business. */
  async render(campaign: Campaign): Promise<Archived> {
    const mail = await this.#mails.fetch(`${campaign.companyId} ${campaign.campaignId}`, { context: campaign });
    if (!mail) throw notFound();
    return mail;
  }

  /** In the order of the ids; empty where there is none. */
  async subjects(companyId: string, campaignIds: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    // One after the other: a reader must not take many connections at once.
    for (const campaignId of campaignIds) found.push(await this.#subject(companyId, campaignId));
    return found;
  }

  /** The host of a company's links has changed. */
  clear(): void {
    this.#mails.clear();
  }

  async #subject(companyId: string, campaignId: string): Promise<string> {
    const key = `${companyId} ${campaignId}`;
    const known = this.#subjects.get(key);
    if (known !== undefined) return known;
    const content = await contentToShow(companyId, campaignId);
    if (!content) return "";
    const { baseUrl } = installation();
    const subject = await ifRenderable(async () => {
      // The body has no part in it, and may be large.
      const bodies = await pageBodies(companyId, { ...content, body: "" });
      return subjectOf(content, bodies.subject, { archive: baseUrl, own: baseUrl });
    });
    this.#subjects.set(key, subject ?? "");
    return subject ?? "";
  }
}
