/** Audit log in plain sentences, with filters. */
import { AUDIT_ACTIONS } from "../../lib/audit-actions.ts";
import { isUuid } from "../../lib/ids.ts";
import { readableName } from "../../lib/readable-name.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath } from "../request.ts";

const DAY_MS = 86_400_000;

/** Returns a valid date, plus `plusDays`; undefined for other text. */
function dayOf(text: string | undefined, plusDays = 0): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : new Date(at + plusDays * DAY_MS).toISOString().slice(0, 10);
}

const wordsOf = (action: string): string => (messages.auditLog.actions as Record<string, string>)[action] ?? action;

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ").replaceAll("_", " ");
  if (typeof value === "number") return formatted(value);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** Details with one of a few fixed values, which have underscores for spaces. */
const KINDS = new Set(["kind", "role", "status", "type"]);

/** Details of an entry, one line each, without ids. */
function aboutOf(target: string | null, detail: Record<string, unknown>): string[] {
  const lines = Object.entries(detail)
    .filter(([, value]) => String(value ?? "") !== "" && !isUuid(String(value)))
    .map(([name, value]) => `${readableName(name)}: ${KINDS.has(name) ? textOf([value]) : textOf(value)}`);
  return target === null || isUuid(target) ? lines : [target, ...lines];
}

export async function auditLogPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const action = AUDIT_ACTIONS.find((one) => one === query.action);
  const actor = query.actor?.trim();
  const [since, until] = [dayOf(query.since), dayOf(query.until, 1)];
  const { results, ...paging } = await callIn(visit, "accounts.listAuditLog", {
    id: visit.company.id,
    ...askedOf(query),
    ...orderingIn(query, ["at"]),
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
  });
  const here = companyPath(visit, "settings/audit-log");
  return {
    view: "audit-log",
    title: messages.auditLog.title,
    values: {
      entries: results.map((entry) => ({
        ...entry,
        what: wordsOf(entry.action),
        about: aboutOf(entry.target, entry.detail),
      })),
      found: countText(paging.count, paging.count_estimated),
      actions: AUDIT_ACTIONS.map((one) => ({ value: one, label: wordsOf(one) })).toSorted((a, b) =>
        a.label.localeCompare(b.label),
      ),
      asked: query,
      here,
      pager: pagerOf(here, query, paging),
    },
  };
}
