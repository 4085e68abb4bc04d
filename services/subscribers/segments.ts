/** Segments as API resources; their rules are documented in models/segment-rules/segment-sql.ts. */
import { costlyRead, isTooCostly } from "../../models/database/bulk.ts";
import { query } from "../../models/database/db.ts";
import { listModels } from "../../models/database/listing.ts";
import { Segment } from "../../models/segment.ts";
import { countNotDates } from "../../models/segment-rules/not-dates.ts";
import {
  MAX_CONDITIONS,
  type Rules,
  references,
  rulesErrors,
  segmentSql,
} from "../../models/segment-rules/segment-sql.ts";
import { attributesInUse, spellingsOf } from "../../models/statements/attribute-names.ts";
import { call } from "../call.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { countSegment } from "./count-segment.ts";
import { segmentMembers } from "./list-subscribers.ts";
import { COLUMNS, type SubscriberRow, subscriberView } from "./subscriber.ts";

const EXISTING = {
  list: "select id from lists where company_id = $1 and id = any ($2::uuid[])",
  campaign: "select id from campaigns where company_id = $1 and id = any ($2::uuid[]) and deleted_at is null",
};

/**
 * Reports all errors of the rules: their form, then unknown ids. Runs even if the schema found other errors, so that
 * all are reported at once.
 */
export async function segmentErrors(companyId: string, rules: Partial<Rules> | null | undefined): Promise<FieldErrors> {
  const conditions = rules?.conditions;
  if (!Array.isArray(conditions)) return {};
  return conditionErrors(companyId, { conditions });
}

async function conditionErrors(companyId: string, rules: Rules): Promise<FieldErrors> {
  const errors = rulesErrors(rules);
  if (rules.conditions.length > MAX_CONDITIONS) return { rules: errors };
  const referenced = references(rules);
  for (const type of ["list", "campaign"] as const) {
    const ofType = referenced.filter((reference) => reference.type === type);
    if (ofType.length === 0) continue;
    const rows = await query<{ id: string }>(EXISTING[type], [companyId, ofType.map(({ id }) => id)]);
    const existing = new Set(rows.map(({ id }) => id));
    for (const { id, index } of ofType) {
      if (!existing.has(id.toLowerCase())) errors.push(`Condition at index ${index}: ${missingObject(id)}`);
    }
  }
  return errors.length > 0 ? { rules: errors } : {};
}

async function findSegment(companyId: string, id: string): Promise<Segment> {
  const segment = await Segment.findOne({ where: { companyId, id } });
  if (!segment) throw notFound();
  return segment;
}

interface GivenSegment {
  name: string;
  description?: string;
  rules: Rules;
}

const ATTRIBUTE = "attributes.";

/** Stores the default of `match`, and spells attributes as stored: `attributes.city` may mean `City`. */
async function complete(companyId: string, { match = "all", conditions }: Rules): Promise<Rules> {
  const named = conditions.filter(({ field }) => field.startsWith(ATTRIBUTE));
  const spellings = await spellingsOf(
    companyId,
    named.map(({ field }) => field.slice(ATTRIBUTE.length)),
  );
  const spelled = (field: string) => {
    const spelling = field.startsWith(ATTRIBUTE) && spellings.get(field.slice(ATTRIBUTE.length));
    return spelling ? ATTRIBUTE + spelling : field;
  };
  return { match, conditions: conditions.map((condition) => ({ ...condition, field: spelled(condition.field) })) };
}

export async function createSegment(ctx: Ctx<GivenSegment>) {
  await call(ctx, "accounts.requireFeature", { feature: "segments" });
  const { name, description, rules } = ctx.params;
  const companyId = companyOf(ctx);
  const given = { companyId, name: name.trim(), description, rules: await complete(companyId, rules) };
  return written(await Segment.create(given));
}

/** View after a write, as in GET. `subscriber_count` is null if counting takes too long. */
async function written(segment: Segment) {
  const { companyId, rules } = segment;
  const { n, isEstimate } = await countSegment(companyId, rules).catch((error: unknown) => {
    if (!isTooCostly(error)) throw error;
    return { n: null, isEstimate: false };
  });
  const not_dates = await countNotDates(companyId, rules);
  return { ...segment.view(), subscriber_count: n, subscriber_count_is_estimate: isEstimate, not_dates };
}

const SAMPLE = 5;
/** Limits the extra time after the count. */
const SAMPLE_MS = 1_500;

/** Returns some of the newest members; none if that takes too long. */
async function sampleOf(companyId: string, rules: Rules) {
  const { where, values } = segmentSql(rules, companyId, 1);
  const sql = `select ${COLUMNS} from subscribers s where ${where} order by s.id desc limit ${SAMPLE}`;
  try {
    const rows = await costlyRead(companyId, (client) => query<SubscriberRow>(sql, values, client), {
      statementMs: SAMPLE_MS,
    });
    return rows.map(subscriberView);
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return [];
  }
}

/** Evaluates rules that are not saved. */
export async function previewSegment(ctx: Ctx<Pick<GivenSegment, "rules">>) {
  await call(ctx, "accounts.requireFeature", { feature: "segments" });
  const companyId = companyOf(ctx);
  const rules = await complete(companyId, ctx.params.rules);
  const { n, isEstimate } = await countSegment(companyId, rules);
  const sample = n === 0 ? [] : await sampleOf(companyId, rules);
  const not_dates = await countNotDates(companyId, rules);
  return { subscriber_count: n, subscriber_count_is_estimate: isEstimate, not_dates, sample };
}

export const listAttributes = async (companyId: string): Promise<{ names: string[] }> => ({
  names: await attributesInUse(companyId),
});

export async function updateSegment(ctx: Ctx<Partial<GivenSegment> & { id: string }>) {
  await call(ctx, "accounts.requireFeature", { feature: "segments" });
  const segment = await findSegment(companyOf(ctx), ctx.params.id);
  const { name, description, rules } = ctx.params;
  await segment.update({
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(description === undefined ? {} : { description }),
    ...(rules === undefined ? {} : { rules: await complete(segment.companyId, rules) }),
  });
  return written(segment);
}

export async function removeSegment(companyId: string, id: string): Promise<null> {
  if ((await Segment.destroy({ where: { companyId, id } })) === 0) throw notFound();
  return null;
}

/** `count` can be disabled, because counting may take seconds. */
export async function getSegment(companyId: string, { id, count = true }: { id: string; count?: boolean }) {
  const segment = await findSegment(companyId, id);
  if (!count) return { ...segment.view(), subscriber_count: null, subscriber_count_is_estimate: false, not_dates: [] };
  const { n, isEstimate } = await countSegment(companyId, segment.rules);
  const not_dates = await countNotDates(companyId, segment.rules);
  return { ...segment.view(), subscriber_count: n, subscriber_count_is_estimate: isEstimate, not_dates };
}

export async function listSegments(companyId: string, asked: ListQuery) {
  const listing = {
    from: "segments g",
    columns: "g.id, g.name, g.description, g.rules, g.created_at",
    where: ["g.company_id = $1"],
    values: [companyId],
    id: "g.id",
    orderings: { name: "lower(g.name)" },
    searchIn: ["g.name", "g.description"],
  };
  const { results, ...page } = await listModels(Segment, listing, asked);
  return { ...page, results: results.map((segment) => segment.view()) };
}

export async function listSegmentSubscribers(companyId: string, id: string, asked: ListQuery) {
  const segment = await findSegment(companyId, id);
  return segmentMembers(segmentSql(segment.rules, companyId, 1), asked);
}
