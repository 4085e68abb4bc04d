/**
 * Converts between the choices on the mapping screen and the API's column mapping. Choices that equal what the API
 * recognises are not sent, because some have no name in a mapping, such as a column in which any value means
 * "unsubscribed".
 */
import type { ReturnsOf } from "../contracts.ts";

export type FileColumns = ReturnsOf<"subscribers.importColumns">;
type Column = FileColumns["columns"][number];
type Form = Record<string, string>;

/** Choices for every column. */
export const CHOICES = [
  "email",
  "first_name",
  "last_name",
  "name",
  "status",
  "attributes",
  "attribute",
  "ignored",
] as const;
type Choice = (typeof CHOICES)[number];
const isChoice = (text: string | undefined): text is Choice => CHOICES.some((one) => one === text);

/** A column as the mapping screen shows it. */
interface ShownColumn {
  /** Index in the file, which names the column's form fields. */
  at: number;
  name: string;
  values: string[];
  chosen: string;
  attribute: string;
  /** Includes what the API recognised. */
  choices: string[];
  /** Reason why this column cannot be mapped. */
  fixed?: "noName" | "repeated";
}

const fixedIn = (columns: readonly Column[], at: number): ShownColumn["fixed"] => {
  const { name } = columns[at]!;
  if (name === "") return "noName";
  return columns.findIndex((one) => one.name === name) < at ? "repeated" : undefined;
};

/**
 * Index of the column whose values look like addresses, for files in which no column's name says so; -1 if there is
 * none.
 */
export function guessedAddress({ columns }: FileColumns): number {
  if (columns.some(({ as }) => as === "email")) return -1;
  const isAddress = (value: string) => /^[^\s@]+@[^\s@]+$/.test(value);
  return columns.findIndex(({ name, values }) => name !== "" && values.some(isAddress));
}

/**
 * Columns as the mapping screen shows them. `form` has the user's choices; columns without one show `mapped`, the
 * result of the previous mapping.
 */
export function shownColumns({ columns }: FileColumns, mapped: FileColumns, form: Form): ShownColumn[] {
  const address = guessedAddress(mapped);
  return columns.map(({ name, values, as }, at) => {
    const before = mapped.columns[at]!;
    const chosen = form[`column.${at}`] ?? (at === address ? "email" : before.as);
    const attribute = before.attribute;
    const fixed = fixedIn(columns, at);
    return {
      at,
      name,
      values,
      chosen,
      attribute: form[`attribute.${at}`] ?? attribute ?? name,
      choices: isChoice(as) ? [...CHOICES] : [as, ...CHOICES],
      ...(fixed ? { fixed } : {}),
    };
  });
}

const targetOf = (choice: Choice, attribute: string): string | null =>
  choice === "ignored" ? null : choice === "attribute" ? attribute : choice;

/** Builds the API's mapping. `recognised`: the columns as the API understands them without a mapping. */
export function mappingOf(recognised: FileColumns, form: Form): Record<string, string | null> {
  const mapping: Record<string, string | null> = {};
  for (const [at, { name, as, attribute }] of recognised.columns.entries()) {
    const choice = form[`column.${at}`];
    if (!isChoice(choice) || fixedIn(recognised.columns, at)) continue;
    const target = targetOf(choice, form[`attribute.${at}`]?.trim() || name);
    const byItself = isChoice(as) ? targetOf(as, attribute ?? name) : undefined;
    // Always sent for the address, because several columns could be recognised as it.
    if (target !== byItself || choice === "email") mapping[name] = target;
  }
  return mapping;
}
