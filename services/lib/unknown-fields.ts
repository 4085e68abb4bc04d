/** Reports unknown fields and suggests the field that was probably meant. */
import type { FieldErrors } from "./errors.ts";

/** Synonyms used by other services. Each field of a group is suggested where it is known. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["list", "lists", "list_id", "list_ids"],
  ["segment", "segment_id"],
  ["template", "template_id"],
  ["smtp_config_id", "smtp_config", "smtp", "smtp_id"],
  ["scheduled_for", "send_at", "scheduled_at", "schedule", "deliver_at"],
  ["receivers", "receiver", "recipient", "recipients", "to"],
  ["attachment_ids", "attachments", "attachment", "attachment_id"],
  ["body", "html", "html_body", "markdown"],
  ["is_transactional", "transactional"],
  ["is_default", "default"],
  ["company", "company_id"],
  ["charset", "encoding"],
  ["mapping", "columns"],
];
const groupOf = new Map(SYNONYMS.flatMap((group) => group.map((name) => [name, group] as const)));

/** Read-only fields of responses: sending them back is not an error. */
export const READ_ONLY_FIELDS = [
  "id",
  "status",
  "campaign_type",
  "worker_task_id",
  "error",
  "warnings",
  "total_emails",
  "sent_count",
  "failed_count",
  "suppressed_count",
  "opens",
  "clicks",
  "subscriber_count",
  "created_at",
  "updated_at",
  "started_at",
  "finished_at",
  "next_zone_at",
] as const;

/** Shorter names resemble too many others. */
const MIN_LENGTH = 3;
/**
 * Length below which a different letter makes another word (`uri` is not a mistyped `url`), but a swap does not (`ulr`
 * is).
 */
const SHORT = 4;
/** Length from which two mistakes are still a typo and not another word. */
const LONG = 10;
/** Longer names are not compared, because the cost is the product of the lengths. */
const MAX_LENGTH = 64;

/** `templateId`, `template-id` and `TEMPLATE_ID` are one name. */
const plain = (name: string) => name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();

/** Letters left out, added, changed, or swapped with their neighbour, until one text is the other. */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + Number(one[i - 1] !== other[j - 1]));
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(isSwap ? Math.min(cost, before[j - 2]! + 1) : cost);
    }
    [before, last] = [last, row];
  }
  return last[other.length]!;
}

const lettersOf = (name: string) => [...name].toSorted().join("");

function isNear(name: string, known: string): boolean {
  const [typed, meant] = [plain(name), plain(known)];
  if (typed === meant) return true;
  const longest = Math.max(typed.length, meant.length);
  if (Math.min(typed.length, meant.length) < MIN_LENGTH || Math.abs(typed.length - meant.length) > 2) return false;
  if (longest < SHORT && lettersOf(typed) !== lettersOf(meant)) return false;
  return editDistance(typed, meant) <= (longest < LONG ? 1 : 2);
}

/** The known field that was probably meant. */
export function nearestField(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const group = groupOf.get(name.toLowerCase());
  return known.find((one) => group?.includes(one)) ?? known.find((one) => isNear(name, one));
}

// Maximum reported names: a body may have a hundred thousand, and each is compared with all known ones.
const MAX_ERRORS = 100;

/** Errors of names that are not in `known`. `refuse`: "near" ignores those that resemble no known name. */
export function unknownFieldErrors(
  names: readonly string[],
  known: readonly string[],
  refuse: "all" | "near",
): FieldErrors {
  const errors: [string, string[]][] = [];
  for (const name of names.slice(0, MAX_ERRORS)) {
    const nearest = nearestField(name, known);
    if (nearest) errors.push([name, [`Unknown field. Did you mean "${nearest}"?`]]);
    else if (refuse === "all") errors.push([name.slice(0, MAX_LENGTH), ["Unknown field."]]);
  }
  return Object.fromEntries(errors);
}
