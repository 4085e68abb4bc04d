/** Lists as API resources. Their size is a counter kept by the database. */
import { queryOne } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { List } from "../../models/list.ts";
import { noConfirmationServer } from "../../models/statements/confirmation-server.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";

async function viewWithCount(list: List) {
  const counted = await queryOne<{ n: number }>("select count_of($1, 'list_members', $2) n", [list.companyId, list.id]);
  return list.view(counted?.n ?? 0);
}

async function findList(companyId: string, id: string): Promise<List> {
  const list = await List.findOne({ where: { companyId, id } });
  if (!list) throw notFound();
  return list;
}

interface GivenList {
  name?: string;
  description?: string;
  visibility?: List["visibility"];
  public_name?: string;
  public_description?: string;
  archive?: boolean;
  double_opt_in?: boolean | null;
}

/** A list with double opt-in needs a server to send confirmations through. */
export async function listSettingErrors(
  companyId: string,
  { double_opt_in }: GivenList,
  isValid: (field: "double_opt_in") => boolean,
): Promise<FieldErrors> {
  if (double_opt_in !== true || !isValid("double_opt_in")) return {};
  const error = await noConfirmationServer(companyId);
  return error ? { double_opt_in: [error] } : {};
}

/** Maps the given fields to columns. */
const attributesOf = ({
  description,
  visibility,
  public_name,
  public_description,
  archive,
  double_opt_in,
}: GivenList) =>
  Object.fromEntries(
    Object.entries({
      description,
      visibility,
      publicName: public_name?.trim(),
      publicDescription: public_description,
      archive,
      doubleOptIn: double_opt_in,
    }).filter(([, value]) => value !== undefined),
  );

export async function createList(companyId: string, given: GivenList & { name: string }) {
  return (await List.create({ ...attributesOf(given), companyId, name: given.name.trim() })).view(0);
}

export const getList = async (companyId: string, id: string) => viewWithCount(await findList(companyId, id));

export async function updateList(companyId: string, id: string, given: GivenList) {
  const list = await findList(companyId, id);
  await list.update({ ...attributesOf(given), name: given.name?.trim() ?? list.name });
  return viewWithCount(list);
}

/** A trigger removes memberships and the counter in the same statement. */
export async function removeList(companyId: string, id: string): Promise<null> {
  if ((await List.destroy({ where: { companyId, id } })) === 0) throw notFound();
  return null;
}

interface Row {
  id: string;
  name: string;
  description: string;
  visibility: List["visibility"];
  public_name: string;
  public_description: string;
  archive: boolean;
  double_opt_in: boolean | null;
  subscriber_count: number;
  created_at: Date;
}

export async function listLists(companyId: string, asked: ListQuery) {
  const { results, ...page } = await listPage<Row>(
    {
      from: "lists l",
      columns: `l.id, l.name, l.description, l.visibility, l.public_name, l.public_description, l.archive, l.double_opt_in, l.created_at,
        count_of(l.company_id, 'list_members', l.id) subscriber_count`,
      where: ["l.company_id = $1"],
      values: [companyId],
      id: "l.id",
      orderings: { name: "lower(l.name)" },
      searchIn: ["l.name", "l.description"],
    },
    asked,
  );
  return { ...page, results: results.map((row) => ({ ...row, created_at: row.created_at.toISOString() })) };
}
