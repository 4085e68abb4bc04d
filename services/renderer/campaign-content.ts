/**
 * Renders a campaign's content for its results: personal variables are empty, and tracked links are named as in the
 * click counts.
 */
import { findCampaign } from "../../models/statements/read-campaign.ts";
import type { ReturnsOf } from "../contracts.ts";
import { notFound } from "../lib/errors.ts";
import { escapeHtml } from "../lib/escape-html.ts";
import type { Node } from "../lib/template/parser.ts";
import { htmlProgram } from "./bodies/bodies.ts";
import { Unrenderable } from "./content.ts";
import { pageBodies } from "./heavy.ts";
import { run } from "./program/program.ts";
import { contentToShow, NO_BASE, nobody, subjectOf, withAddresses } from "./render-archived.ts";

type CampaignContent = ReturnsOf<"renderer.campaignContent">;

/** The pages of a recipient do not work in this copy of the mail. */
const NOWHERE = { archive: "#", own: "#" };

// Escapes a URL, also for attributes without quotes.
const inAttribute = (address: string) => escapeHtml(address).replace(/[\s`]/g, (char) => `&#${char.charCodeAt(0)};`);

function withTemplates(nodes: readonly Node[], links: ReadonlySet<string>): Node[] {
  return nodes.map((node) => {
    if (node.kind === "link" && links.has(node.template)) {
      return { ...node, body: [{ kind: "text", text: inAttribute(node.template) }] };
    }
    if (node.kind === "if") {
      return { ...node, body: withTemplates(node.body, links), otherwise: withTemplates(node.otherwise, links) };
    }
    return node.kind === "each" ? { ...node, body: withTemplates(node.body, links) } : node;
  });
}

/** `variant`: of an A/B test; null is what the archive would show. */
export async function campaignContent(companyId: string, id: string, variant: number | null): Promise<CampaignContent> {
  const content = (await findCampaign(companyId, id)) && (await contentToShow(companyId, id, variant));
  if (!content) throw notFound();
  try {
    const bodies = await pageBodies(companyId, { ...content, language: content.pageLanguage });
    const nodes = withAddresses(withTemplates(bodies.html, new Set(bodies.links)), NOWHERE);
    return {
      subject: subjectOf(content, bodies.subject, NOWHERE),
      html: run(htmlProgram(nodes, NO_BASE), nobody(content, NOWHERE)),
    };
  } catch (error) {
    // Content that cannot be rendered was never sent.
    if (error instanceof Unrenderable) throw notFound();
    throw error;
  }
}
