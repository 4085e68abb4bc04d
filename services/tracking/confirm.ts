/** The page behind the link of a double opt-in mail: it asks, a POST confirms. */
import { queryOne } from "../../models/database/db.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";
import { gone, notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";
import { readPersonToken } from "../lib/tokens/person-token.ts";
import { json, page, wantsJson } from "./pages/page.ts";
import { pageCompany } from "./pages/page-company.ts";

export async function confirmPage(ctx: Ctx<{ token: string }>): Promise<Document> {
  const person = readPersonToken("confirm", ctx.params.token);
  if (!person) throw notFound();
  const { companyId, subscriberId, expired } = person;
  const sql = "select email from subscribers where company_id = $1 and id = $2";
  const found = await queryOne<{ email: string }>(sql, [companyId, subscriberId]);
  if (!found) throw notFound();
  if (expired) throw gone("This link has expired. Please subscribe again.");
  return page("confirm", ctx.meta.http, { company: await pageCompany(companyId), email: found.email });
}

export async function confirm(ctx: Ctx<{ token: string }>): Promise<Document> {
  const { company_id, email } = await call(ctx, "subscribers.confirm", { token: ctx.params.token });
  if (wantsJson(ctx.meta.http)) return json({ detail: "Subscription confirmed.", email });
  return page("confirmed", ctx.meta.http, { company: await pageCompany(company_id), email });
}
