/** The gallery of starter templates, shown in the company's brand. */
import { STARTERS } from "../../lib/design/starters/starters.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { mailFrame } from "../mail-frame.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";
import { templatesPath } from "./templates.ts";

const KINDS = ["newsletter", "marketing", "lifecycle", "transactional"] as const;

/** Values for the variables that starters use; a loop shows two entries. */
const SAMPLES = {
  order: { number: "1042", total: "€ 42.00" },
  items: [
    { name: "Lantern", price: "€ 24.00" },
    { name: "Candles", price: "€ 18.00" },
  ],
  invoice: { number: "2026-118", total: "€ 42.00", due: "14 July" },
  parcel: { carrier: "the post", arrives: "Thursday", number: "JD 0146 0000" },
  code: "418 205",
};

export const starterOf = (id: string | undefined) => STARTERS.find((one) => one.id === id);

export async function startersPage(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.createTemplate", visit.company);
  return startersFor(visit, messages.starters.title, {
    empty: templatesPath(visit, "new/visual"),
    html: templatesPath(visit, "new?mode=html"),
    markdown: templatesPath(visit, "new?mode=markdown"),
    use: (id) => templatesPath(visit, `new/visual?from=${id}`),
  });
}

interface Paths {
  empty: string;
  html: string;
  /** Without it, the page offers no Markdown. */
  markdown?: string;
  /** Begins with a copy of version A of an A/B test. */
  copy?: string;
  use(id: string): string;
}

/** The gallery for a template or a campaign. */
export function startersFor(visit: CompanyVisit, title: string, { use, ...paths }: Paths): Answer {
  const t = messages.starters;
  return {
    view: "starters",
    title,
    values: {
      ...paths,
      branding: may(visit, "accounts.updateCompany") && companyPath(visit, "settings/branding"),
      groups: KINDS.map((kind) => ({
        title: t.kinds[kind],
        starters: STARTERS.filter((one) => one.kind === kind).map(({ id, name, about }) => ({
          id,
          name,
          about: about.replaceAll("`", ""),
          frame: templatesPath(visit, `starters/${id}`),
          use: use(id),
        })),
      })),
    },
  };
}

/** One starter as a mail. */
export async function starterFrame(visit: CompanyVisit): Promise<RawResponse> {
  requirePermission("renderer.previewContent", visit.company);
  const starter = starterOf(visit.params.id);
  if (!starter) return mailFrame("");
  const { subject, preheader, design } = starter;
  const { html } = await callIn(visit, "renderer.previewContent", {
    subject,
    preheader,
    design: { ...design },
    variables: SAMPLES,
  });
  return mailFrame(html);
}
