/** Target of the link sent to a new address: GET shows a button, POST makes the change. */
import { transaction } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { type ChangeLink, changeAddress, openChange } from "../../../models/statements/change-address.ts";
import { type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { gone, notFound } from "../../lib/errors.ts";
import type { Document } from "../../lib/shapes.ts";
import { readPersonToken } from "../../lib/tokens/person-token.ts";
import { json, page, wantsJson } from "./page.ts";
import { pageCompany } from "./page-company.ts";

const OVER = "This link was used, has expired, or the address is no longer available.";

function linkIn(ctx: Ctx<{ token: string }>): ChangeLink {
  const link = readPersonToken("address", ctx.params.token);
  if (!link?.subjectId) throw notFound();
  const { companyId, subscriberId, subjectId: changeId, expired } = link;
  requireOwnHost(ctx.meta, companyId);
  if (expired) throw gone(OVER);
  return { companyId, subscriberId, changeId };
}

export async function changeAddressPage(ctx: Ctx<{ token: string }>): Promise<Document> {
  const link = linkIn(ctx);
  const change = await openChange(link);
  if (!change) throw gone(OVER);
  return page("change-address", ctx.meta.http, { company: await pageCompany(link.companyId), email: change.email });
}

const UNIQUE_VIOLATION = "23505";

/** The second of two concurrent changes to the same address finds it taken. */
async function change(link: ChangeLink): Promise<string | undefined> {
  try {
    return await retryOnConflict(() => transaction((client) => changeAddress(client, link), { owner: link.companyId }));
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    return undefined;
  }
}

export async function confirmAddress(ctx: Ctx<{ token: string }>): Promise<Document> {
  const link = linkIn(ctx);
  const email = await change(link);
  if (email === undefined) throw gone(OVER);
  if (wantsJson(ctx.meta.http)) return json({ detail: "Address changed.", email });
  return page("changed-address", ctx.meta.http, { company: await pageCompany(link.companyId), email });
}
