/** Drafts as API resources. Their content is not validated until they are sent. */
import type { Transaction } from "sequelize";
import { query, sequelize } from "../../../models/database/db.ts";
import { listPage } from "../../../models/database/listing.ts";
import { Draft, type DraftKind } from "../../../models/draft.ts";
import { erasedAmong } from "../../../models/statements/erased-addresses.ts";
import { isAddress } from "../../lib/address.ts";
import { badRequest, conflict, notFound } from "../../lib/errors.ts";
import type { ListQuery } from "../../lib/shapes.ts";
import { MAX_DRAFTS, MAX_LISTED_BYTES } from "../contract-drafts.ts";
import { cutName } from "../send/send-params.ts";

export type Body = Record<string, unknown>;
type View = ReturnType<Draft["view"]>;

interface ListedRow extends Omit<View, "created_at" | "updated_at" | "body"> {
  body: Body | null;
  created_at: Date;
  updated_at: Date;
}

export async function listDrafts(companyId: string, asked: ListQuery) {
  const { results, ...page } = await listPage<ListedRow>(
    {
      from: "drafts d",
      columns: `d.id, d.name, d.kind, case when d.bytes <= ${MAX_LISTED_BYTES} then d.body end as body, d.created_at, d.updated_at`,
      where: ["d.company_id = $1"],
      values: [companyId],
      id: "d.id",
      orderings: { name: "d.name", updated_at: "d.updated_at" },
      searchIn: ["d.name"],
    },
    asked,
  );
  const shown = results.map(({ created_at, updated_at, ...draft }) => ({
    ...draft,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }));
  return { ...page, results: shown };
}

export async function findDraft(companyId: string, id: string, transaction?: Transaction): Promise<Draft> {
  const lock = transaction ? { transaction, lock: transaction.LOCK.UPDATE } : {};
  const draft = await Draft.findOne({ where: { companyId, id }, ...lock });
  if (!draft) throw notFound();
  return draft;
}

/** Throws 409 if the draft is not the one that the caller read. */
export function requireUnchanged({ updatedAt }: Draft, since: string | undefined): void {
  if (since === undefined || updatedAt.getTime() === Date.parse(since)) return;
  throw conflict("The draft was changed in the meantime. Load it again first.");
}

export const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Removes receivers who were erased, so that they are not stored again. */
async function withoutErased(companyId: string, body: Body): Promise<Body> {
  const { receivers } = body;
  if (!Array.isArray(receivers)) return body;
  const addressOf = (one: unknown) => (isObject(one) && typeof one.email === "string" ? one.email.trim() : "");
  const erased = await erasedAmong(companyId, receivers.map(addressOf).filter(isAddress));
  return erased.size === 0 ? body : { ...body, receivers: receivers.filter((one) => !erased.has(addressOf(one))) };
}

async function stored(companyId: string, given: Body): Promise<{ body: Body; bytes: number }> {
  const body = await withoutErased(companyId, given);
  return { body, bytes: Buffer.byteLength(JSON.stringify(body)) };
}

const nameIn = ({ name }: Body): string =>
  (typeof name === "string" && cutName(name.replaceAll(/\s+/g, " ").trim())) || "Draft";

/** Throws 400 if the limit of drafts is reached. */
export async function createDraft(
  companyId: string,
  { name, kind, body = {} }: { name?: string; kind: DraftKind; body?: Body },
): Promise<View> {
  const [found] = await query<{ n: number }>("select count(*) n from drafts where company_id = $1", [companyId]);
  if (found!.n >= MAX_DRAFTS) throw badRequest(`You already have ${MAX_DRAFTS} drafts. Send or delete some first.`);
  const storedBody = await stored(companyId, body);
  return (await Draft.create({ companyId, name: name?.trim() ?? nameIn(body), kind, ...storedBody })).view();
}

interface Change {
  id: string;
  name?: string;
  kind?: DraftKind;
  body?: Body;
  unchanged_since?: string;
}

/** Concurrent changes and sends are serialized: the second finds the draft changed or deleted. */
export async function updateDraft(companyId: string, { id, name, kind, body, unchanged_since }: Change): Promise<View> {
  const storedBody = body && (await stored(companyId, body));
  return sequelize().transaction(async (transaction) => {
    const draft = await findDraft(companyId, id, transaction);
    requireUnchanged(draft, unchanged_since);
    const changed = Object.entries({ name: name?.trim(), kind, ...storedBody }).filter(
      ([, value]) => value !== undefined,
    );
    await draft.update(Object.fromEntries(changed), { transaction });
    return draft.view();
  });
}

export async function removeDraft(companyId: string, id: string): Promise<null> {
  if ((await Draft.destroy({ where: { companyId, id } })) === 0) throw notFound();
  return null;
}
