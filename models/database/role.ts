/** Rights of the service's role on the schema: none if another role owns the tables (models/database-roles.sql). */
import { type Queryable, queryOne } from "./db.ts";

export interface DatabaseRole {
  name: string;
  superuser: boolean;
  /** True if the role owns the tables or may act as their owner. */
  ownsTables: boolean;
  /** True if the role may create tables. */
  mayCreate: boolean;
}

const ROLE = `
  select current_user as name, (select rolsuper from pg_roles where rolname = current_user) as superuser,
    coalesce(pg_has_role((select relowner from pg_class where oid = to_regclass('campaigns')), 'member'), false) as "ownsTables",
    has_schema_privilege(current_schema(), 'create') as "mayCreate"`;

/** All three are true of a superuser. */
export const databaseRole = async (client?: Queryable): Promise<DatabaseRole> =>
  (await queryOne<DatabaseRole & Record<string, unknown>>(ROLE, [], client))!;
