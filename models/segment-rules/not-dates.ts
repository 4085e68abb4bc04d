/** Counts attribute values that a segment cannot compare with a date because they are not dates. */
import { costlyRead, isTooCostly } from "../database/bulk.ts";
import { queryOne } from "../database/db.ts";
import { fieldKind } from "./fields.ts";
import { timeOfAttribute } from "./operators.ts";
import type { Rules } from "./segment-sql.ts";

const OF_DATES = new Set(["before", "after", "in_last_days"]);
/** Reads all people of the company once; beyond this the counts are null. */
const COUNT_MS = 1_500;

export interface NotDates {
  field: string;
  count: number | null;
}

/** Counts non-empty values that are not dates, for each attribute that the rules compare with one. */
export async function countNotDates(companyId: string, { conditions }: Rules): Promise<NotDates[]> {
  const dateConditions = conditions.filter(
    ({ operator, field }) => OF_DATES.has(operator) && field.startsWith("attributes."),
  );
  const fields = [...new Set(dateConditions.map(({ field }) => field))];
  if (fields.length === 0) return [];
  const values: unknown[] = [companyId];
  const bind = Object.assign((value: unknown) => `$${values.push(value)}`, { company: "$1" });
  const counts = fields.map((field, n) => {
    const x = fieldKind(field)!.expression(bind);
    return `count(*) filter (where coalesce(${x}, 'null') not in ('null'::jsonb, '""'::jsonb, '[]'::jsonb)
      and case jsonb_typeof(${x}) when 'array'
        then not exists (select 1 from jsonb_array_elements_text(${x}) v where ${timeOfAttribute("v", "$1")} is not null)
        else ${timeOfAttribute(`(${x} #>> '{}')`, "$1")} is null end) as "${n}"`;
  });
  const sql = `select ${counts.join(", ")} from subscribers s where s.company_id = $1`;
  try {
    const found = await costlyRead(companyId, (client) => queryOne<Record<string, number>>(sql, values, client), {
      statementMs: COUNT_MS,
    });
    return fields.map((field, n) => ({ field, count: found?.[n] ?? 0 }));
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return fields.map((field) => ({ field, count: null }));
  }
}
