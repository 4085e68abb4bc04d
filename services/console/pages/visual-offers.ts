/** Offers of the visual editor: the company's brand, and variables with a value of some reader. */

import { brandOf } from "../../lib/branding/brand-of.ts";
import type { Brand } from "../../lib/design/brand.ts";
import type { Block } from "../../lib/design/design.ts";
import { type CompanyVisit, callIn } from "../request.ts";

const MAX_PEOPLE = 20;
const MAX_SAMPLE = 40;
/** Names that a tag can hold. */
const IS_VARIABLE = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u;
const SAMPLES = { first_name: "Ann", last_name: "Example", email: "ann@example.com" };

export async function fieldsFor(visit: CompanyVisit): Promise<{ name: string; sample: string }[]> {
  const [{ results: people }, { names }] = await Promise.all([
    callIn(visit, "subscribers.list", { page_size: MAX_PEOPLE }),
    callIn(visit, "subscribers.listAttributes", {}),
  ]);
  const sampleOf = (name: string): string => {
    const values = people.map((one) => (one.attributes as Record<string, unknown>)[name]);
    const value = values.find((one) => typeof one === "string" || typeof one === "number");
    return `${value ?? ""}`.slice(0, MAX_SAMPLE).toWellFormed();
  };
  const ofCompany = { "company.name": visit.company.name };
  const known = Object.entries({ ...SAMPLES, ...ofCompany }).map(([name, sample]) => ({ name, sample }));
  const variables = names.filter((name) => IS_VARIABLE.test(name)).map((name) => ({ name, sample: sampleOf(name) }));
  return [...known, ...variables];
}

export async function brandFor(visit: CompanyVisit): Promise<Brand> {
  const company = await callIn(visit, "accounts.getCompany", { id: visit.company.id });
  const set = Object.entries(company.branding).filter(([, value]) => value !== null);
  return brandOf({ ...company, branding: Object.fromEntries(set) });
}

/** Each is read by itself, because lists leave out the blocks. */
const MAX_SAVED_BLOCKS = 100;

export async function savedBlocksFor(visit: CompanyVisit): Promise<{ id: string; name: string; blocks: Block[] }[]> {
  const { results } = await callIn(visit, "renderer.listSavedBlocks", {
    page_size: MAX_SAVED_BLOCKS,
    ordering: "name",
  });
  return Promise.all(
    results.map(async ({ id }) => {
      const { name, blocks = [] } = await callIn(visit, "renderer.getSavedBlock", { id });
      return { id, name, blocks: blocks as unknown as Block[] };
    }),
  );
}
