/**
 * Stores versions of a template, numbered from 1. A writer locks the template's row, so that concurrent saves get
 * different numbers without gaps. The content consists of all columns of a template except those listed, so that new
 * columns are included automatically.
 */
import { QueryTypes, type Transaction } from "sequelize";
import { query, queryOne, sequelize } from "../../models/database/db.ts";
import { Template } from "../../models/template.ts";
import type { Caller } from "../lib/caller.ts";

/** A body has up to a megabyte; older versions of a template than these go. */
export const MAX_VERSIONS = 100;

const NO_CONTENT = ["id", "company_id", "created_at", "updated_at"];
const CONTENT = `(to_jsonb(t) - array[${NO_CONTENT.map((column) => `'${column}'`).join(", ")}])`;

const LATEST = `left join lateral (
  select v.version, v.content from template_versions v
  where v.company_id = $1 and v.template_id = $2 order by v.version desc limit 1) l on true`;

// A template of before there were versions, or saved by a node of that release. Columns that a version does not know make
// no difference.
const STORE_MISSING_VERSION = `
  insert into template_versions (company_id, template_id, version, content, created_at)
  select $1, $2, coalesce(l.version, 0) + 1, ${CONTENT}, t.updated_at from templates t ${LATEST}
  where t.company_id = $1 and t.id = $2 and (l.content is null or not ${CONTENT} @> l.content)`;

const KEEP = `
  with kept as (
    insert into template_versions (company_id, template_id, version, content, saved_by_user, saved_by_key)
    select $1, $2, coalesce(l.version, 0) + 1, ${CONTENT}, $3, $4 from templates t ${LATEST}
    where t.company_id = $1 and t.id = $2
    returning version)
  delete from template_versions v using kept
  where v.company_id = $1 and v.template_id = $2 and v.version <= kept.version - ${MAX_VERSIONS}`;

const run = (sql: string, bind: unknown[], transaction: Transaction) =>
  sequelize().query(sql, { bind, type: QueryTypes.RAW, transaction });

/** Called before a change with the template's row locked: stores the current state as a version. */
export const storeMissingVersion = ({ companyId, id }: Template, transaction: Transaction) =>
  run(STORE_MISSING_VERSION, [companyId, id], transaction);

/** Stores the state after a change as a version. */
export const storeVersion = ({ companyId, id }: Template, { userId, apiKeyId }: Caller, transaction: Transaction) =>
  run(KEEP, [companyId, id, apiKeyId ? null : (userId ?? null), apiKeyId ?? null], transaction);

export interface VersionRow {
  version: number;
  subject: string;
  body: string;
  preheader: string | null;
  text_body: string | null;
  inline_css: boolean;
  design: Record<string, unknown> | null;
  markdown: string | null;
  created_at: Date;
  created_by: { id: string; name: string } | null;
}

// A deleted or unknown author is null. A template without versions is its own first one.
const VERSIONS = `
  from (
    select version, content, created_at, saved_by_user, saved_by_key from template_versions
    where company_id = $1 and template_id = $2
    union all
    select 1, ${CONTENT}, t.updated_at, null, null from templates t
    where t.company_id = $1 and t.id = $2
      and not exists (select from template_versions v where v.company_id = $1 and v.template_id = $2)) v
  left join users u on u.id = v.saved_by_user
  left join api_keys k on k.company_id = $1 and k.id = v.saved_by_key`;
const BY = `case when u.id is not null then json_build_object('id', u.id, 'name', u.email)
  when k.id is not null then json_build_object('id', k.id, 'name', k.name) end as created_by`;

export const versionsOf = (
  companyId: string,
  templateId: string,
): Promise<Pick<VersionRow, "version" | "subject" | "created_at" | "created_by">[]> =>
  query(`select v.version, v.content->>'subject' as subject, v.created_at, ${BY} ${VERSIONS} order by v.version desc`, [
    companyId,
    templateId,
  ]);

export const versionOf = (companyId: string, templateId: string, version: number): Promise<VersionRow | undefined> =>
  queryOne(
    `select v.version, v.content->>'subject' as subject, v.content->>'body' as body, v.created_at,
       v.content->>'preheader' as preheader, v.content->>'text_body' as text_body,
       coalesce((v.content->>'inline_css')::boolean, false) as inline_css,
       nullif(v.content->'design', 'null') as design, v.content->>'markdown' as markdown, ${BY} ${VERSIONS}
     where v.version = $3`,
    [companyId, templateId, version],
  );

const ATTRIBUTES = () =>
  Object.entries(Template.getAttributes()).filter(([, { field }]) => !NO_CONTENT.includes(field!));

/** Returns the template's attributes as of the version; columns that were added later have their default. */
export async function contentOf(
  { companyId, id }: Template,
  version: number,
  transaction: Transaction,
): Promise<Partial<Template> | undefined> {
  const [found] = await sequelize().query<{ content: Record<string, unknown> }>(
    "select content from template_versions where company_id = $1 and template_id = $2 and version = $3",
    { bind: [companyId, id, version], type: QueryTypes.SELECT, transaction },
  );
  if (!found) return undefined;
  const { content } = found;
  return Object.fromEntries(
    ATTRIBUTES().map(([name, { field, defaultValue }]) => [
      name,
      field! in content ? content[field!] : (defaultValue ?? null),
    ]),
  );
}
