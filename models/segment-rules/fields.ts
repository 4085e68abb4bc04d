/** The fields of segments: the type of each, and where it is found in `subscribers s`. */
import { isAttributeName } from "../../services/lib/attributes.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";

/** Adds a parameter and returns its placeholder ($n). */
export interface Bind {
  (value: unknown): string;
  /** Placeholder of the company's id. */
  company: string;
}

export type FieldType =
  | "text"
  | "address"
  | "domain"
  | "status"
  | "time"
  | "list"
  | "opened"
  | "clicked"
  | "flag"
  | "count"
  | "attribute";

export interface FieldKind {
  type: FieldType;
  /** True if `is_empty` makes sense. */
  nullable: boolean;
  expression: (bind: Bind) => string;
}

const lastTime = (column: string) => `(select max(e.${column}) from sent_emails e where e.subscriber_id = s.id)`;

const COMPLAINED = `exists (
  select from email_events e where e.company_id = s.company_id and e.type = 'complained' and lower(e.recipient) = s.email_key)`;

// Like soft_bounces_in_a_row(): a later delivery ends the run.
const SOFT_BOUNCES = `case when s.soft_bounces > 0 and not exists (
  select from sent_emails e
  where e.subscriber_id = s.id and e.status = ${SENT_EMAIL_STATUS.sent} and e.sent_at > s.soft_bounced_at)
  then s.soft_bounces else 0 end`;

const fixed = (type: FieldType, nullable: boolean, sql: string): FieldKind => ({
  type,
  nullable,
  expression: () => sql,
});

// Matches whole addresses and domains by their key, and parts in the text as entered. Texts are lower-cased, because
// every operator compares with lower-case values.
const FIELDS = new Map<string, FieldKind>([
  ["email", fixed("address", false, "s.email")],
  ["domain", fixed("domain", false, "split_part(s.email, '@', -1)")],
  ["first_name", fixed("text", true, "lower(s.first_name)")],
  ["last_name", fixed("text", true, "lower(s.last_name)")],
  ["status", fixed("status", false, "s.status")],
  ["created_at", fixed("time", false, "s.created_at")],
  ["last_opened_at", fixed("time", true, lastTime("opened_at"))],
  ["last_clicked_at", fixed("time", true, lastTime("clicked_at"))],
  ["last_bounced_at", fixed("time", true, lastTime("bounced_at"))],
  ["soft_bounces", fixed("count", false, SOFT_BOUNCES)],
  ["complained", fixed("flag", false, COMPLAINED)],
  ["list", fixed("list", true, "")],
  ["opened_campaign", fixed("opened", false, "")],
  ["clicked_campaign", fixed("clicked", false, "")],
]);

const PREFIX = "attributes.";

/** Returns each field type with its field names; attributes can have any name. */
export function fieldKinds(): { kind: FieldKind; names: string[] }[] {
  const kinds = new Map<string, { kind: FieldKind; names: string[] }>();
  for (const [name, kind] of FIELDS) {
    const key = `${kind.type} ${kind.nullable}`;
    const { names } = kinds.get(key) ?? { names: [] };
    kinds.set(key, { kind, names: [...names, name] });
  }
  return [...kinds.values(), { kind: fieldKind(`${PREFIX}any`)!, names: [] }];
}

export function fieldKind(field: string): FieldKind | undefined {
  if (!field.startsWith(PREFIX)) return FIELDS.get(field);
  const name = field.slice(PREFIX.length);
  if (!isAttributeName(name)) return undefined;
  return { type: "attribute", nullable: true, expression: (bind) => `(s.attributes -> ${bind(name)}::text)` };
}
