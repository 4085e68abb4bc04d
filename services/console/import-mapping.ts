/**
 * What becomes of a file's columns: the choices of the mapping screen, from what the API recognised to the mapping that it
 * is asked for. A choice that is what the API recognises by itself is not sent: some of these, such as a column in which any
 * value means "unsubscribed", have no name in a mapping.
 */
import type { ReturnsOf } from "../contracts.ts";

export type FileColumns = ReturnsOf<"subscribers.importColumns">;
type Column = FileColumns["columns"][number];
type Form = Record<string, string>;

/** What a person may choose for any column. */
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
  /** Its place in the file: the name of its fields in the form. */
  at: number;
  name: string;
  values: string[];
  chosen: string;
  attribute: string;
  /** With what the API recognises by itself. */
  choices: string[];
  /** Why nothing can be chosen. */
  fixed?: "noName" | "repeated";
}

const fixedIn = (columns: readonly Column[], at: number): ShownColumn["fixed"] => {
  const { name } = columns[at]!;
  if (name === "") return "noName";
  return columns.findIndex((one) => one.name === name) < at ? "repeated" : undefined;
};

/** The column that holds the addresses by its values, where none does by its name; -1 for none. */
export function guessedAddress({ columns }: FileColumns): number {
  if (columns.some(({ as }) => as === "email")) return -1;
  const isAddress = (value: string) => /^[^\s@]+@[^\s@]+$/.test(value);
  return columns.findIndex(({ name, values }) => name !== "" && values.some(isAddress));
}

/**
 * `form` is what a person has chosen; of what it says nothing, `mapped` is shown: the columns under the mapping that was
 * asked for before.
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

/** `recognised`: the columns as the API takes them without a mapping. */
export function mappingOf(recognised: FileColumns, form: Form): Record<string, string | null> {
  const mapping: Record<string, string | null> = {};
  for (const [at, { name, as, attribute }] of recognised.columns.entries()) {
    const choice = form[`column.${at}`];
    if (!isChoice(choice) || fixedIn(recognised.columns, at)) continue;
    const target = targetOf(choice, form[`attribute.${at}`]?.trim() || name);
    const byItself = isChoice(as) ? targetOf(as, attribute ?? name) : undefined;
    // An address is always named: where two columns could be it, the choice decides.
    if (target !== byItself || choice === "email") mapping[name] = target;
  }
  return mapping;
}
