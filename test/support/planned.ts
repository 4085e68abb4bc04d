/** PostgreSQL's generic plan of a statement: prepares it and explains it with nulls only. */
import type pg from "pg";

export interface PlannedNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "CTE Name"?: string;
  "Subplan Name"?: string;
  Plans?: PlannedNode[];
}

export async function planned(client: pg.Client, statement: string): Promise<PlannedNode> {
  const parameters = new Set(statement.match(/\$\d+/g)).size;
  await client.query(`deallocate all; prepare statement as ${statement}`);
  const nothing = Array.from({ length: parameters }, () => "null").join(", ");
  const { rows } = await client.query(`explain (format json) execute statement${nothing && `(${nothing})`}`);
  return rows[0]["QUERY PLAN"][0].Plan;
}

/** A node and all its descendants. */
export const withBelow = (node: PlannedNode): PlannedNode[] => [node, ...(node.Plans ?? []).flatMap(withBelow)];
