/** Previews the public pages with a branding that is not saved yet, for a fictitious person. */
import type { ParamsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import type { Document } from "../../lib/shapes.ts";
import { page } from "./page.ts";
import { pageCompany } from "./page-company.ts";

const PERSON = { email: "ada@example.com", first_name: "Ada", last_name: "Lovelace", subscribed: true };
const LIST = { id: "", name: "Newsletter", description: "", subscribed: true };

export async function previewPage(ctx: Ctx<ParamsOf<"tracking.previewPage">>): Promise<Document> {
  const { page: name, branding } = ctx.params;
  const company = await pageCompany(companyOf(ctx), branding);
  const { email } = PERSON;
  const values = { company, email, list: LIST.name, person: { ...PERSON, lists: [LIST] } };
  // Uses the company's language instead of a reader's.
  return page(name, undefined, values, { framed: true });
}
