/**
 * Detects the types of attribute columns: an attribute is a boolean, a number or a date if more than half of the filled
 * cells of its column are. Other cells of such a column stay text.
 *
 * | type    | accepted cells                                                | stored       |
 * |---------|---------------------------------------------------------------|--------------|
 * | boolean | words of several languages; 0 and 1 beside such words          | true, false  |
 * | number  | what converts back to the same text (not `01067`, `9.90`, `+49 30`) | the number   |
 * | date    | year first, dots, or a day over 12; other days by the order of the form or of the column; spreadsheet serials beside such days | `YYYY-MM-DD` |
 */
export type CellType = "boolean" | "number" | "date";
export type DateOrder = "dmy" | "mdy";

const TRUE = new Set("true yes wahr ja oui vrai si sí sim verdadero verdadeiro vero tak ano да waar".split(" "));
const FALSE = new Set("false no falsch nein non faux não nao falso nie ne нет nee onwaar".split(" "));

function booleanOf(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
}

const isNumber = (text: string): boolean => /^-?\d/.test(text) && String(Number(text)) === text;

// Spreadsheets and databases add midnight to a day without a time.
const MIDNIGHT = "(?:[T ]0?0:00(?::00(?:\\.0+)?)?Z?)?";
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})${MIDNIGHT}$`);
const YEAR_LAST = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})${MIDNIGHT}$`);

/** Two-digit years up to next year belong to this century. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year);
  return Number(year) + (Number(year) <= (new Date().getFullYear() + 1) % 100 ? 2000 : 1900);
}

/** Undefined for a day that does not exist. */
function dayOf(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  const exists = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month > 0;
  return exists ? date.toISOString().slice(0, 10) : undefined;
}

interface Days {
  /** The day, if only one order of day and month is possible. */
  certain?: string | undefined;
  /** Order of day and month that this cell proves. */
  shows?: DateOrder | undefined;
  dmy?: string | undefined;
  mdy?: string | undefined;
}

function daysOf(text: string): Days {
  const [, year, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (year) return { certain: dayOf(Number(year), Number(month), Number(day)) };
  const [, first, separator, second, last] = YEAR_LAST.exec(text) ?? [];
  if (!first) return {};
  const dmy = dayOf(fullYear(last!), Number(second), Number(first));
  if (separator === ".") return { certain: dmy };
  const mdy = dayOf(fullYear(last!), Number(first), Number(second));
  if (dmy === mdy) return { certain: dmy };
  if (dmy && mdy) return { dmy, mdy };
  return { certain: dmy ?? mdy, shows: dmy ? "dmy" : "mdy" };
}

/** Spreadsheet days, counted from 30 December 1899: 1 to 31 December 2099. */
const SERIAL = /^[1-9]\d{0,4}$/;
const LAST_SERIAL = 73_050;
const isSerial = (text: string): boolean => SERIAL.test(text) && Number(text) <= LAST_SERIAL;

/** No boolean, number or date is longer. */
const MAX_TYPED = 32;

/** Number of cells of a column per possible reading. */
interface Counts {
  filled: number;
  words: number;
  zerosAndOnes: number;
  numbers: number;
  certainDays: number;
  ambiguousDays: number;
  dmy: number;
  mdy: number;
  serials: number;
}

const NONE: Counts = {
  filled: 0,
  words: 0,
  zerosAndOnes: 0,
  numbers: 0,
  certainDays: 0,
  ambiguousDays: 0,
  dmy: 0,
  mdy: 0,
  serials: 0,
};

export interface ColumnType {
  name: string;
  type: CellType;
  /** Cells stored as this type, and cells that stay text. */
  read: number;
  unread: number;
  /** Order of day and month if cells needed one; null if undecided. */
  date_order?: DateOrder | null;
}

/** Keys of readings, best first: `b` boolean, `n` number, `i` unambiguous day, `d` and `m` a day in either order. */
type Reading = "b" | "n" | "i" | "d" | "m";

export class CellTypes {
  readonly #columns = new Map<string, Counts>();

  /** Counts a cell and returns its possible readings as members of a JSON object: `"b:vip":true`. */
  add(name: string, text: string): string {
    let counts = this.#columns.get(name);
    if (!counts) {
      counts = { ...NONE };
      this.#columns.set(name, counts);
    }
    counts.filled++;
    if (text.length > MAX_TYPED) return "";
    const member = (key: Reading, value: string) => `${JSON.stringify(`${key}:${name}`)}:${value}`;
    const word = booleanOf(text);
    if (word !== undefined) {
      counts.words++;
      return member("b", String(word));
    }
    if (isNumber(text)) {
      counts.numbers++;
      if (isSerial(text)) counts.serials++;
      if (text !== "0" && text !== "1") return member("n", text);
      counts.zerosAndOnes++;
      return `${member("n", text)},${member("b", String(text === "1"))}`;
    }
    const { certain, shows, dmy, mdy } = daysOf(text);
    if (certain) {
      counts.certainDays++;
      if (shows) counts[shows]++;
      return member("i", `"${certain}"`);
    }
    if (!dmy) return "";
    counts.ambiguousDays++;
    return `${member("d", `"${dmy}"`)},${member("m", `"${mdy}"`)}`;
  }

  /** Returns the type of each column that is not text. `asked` is the order of day and month in the form. */
  decide(asked?: DateOrder): ColumnType[] {
    return [...this.#columns].flatMap(([name, counts]) => typeOf(name, counts, asked) ?? []);
  }
}

function typeOf(name: string, counts: Counts, asked: DateOrder | undefined): ColumnType | undefined {
  const { filled, words, zerosAndOnes, numbers, certainDays, ambiguousDays, serials } = counts;
  const isMost = (count: number) => count * 2 > filled;
  if (isMost(words) || (words > 0 && words + zerosAndOnes === filled)) {
    return { name, type: "boolean", read: words + zerosAndOnes, unread: filled - words - zerosAndOnes };
  }
  if (isMost(certainDays + ambiguousDays)) {
    const settled = counts.dmy > 0 === counts.mdy > 0 ? undefined : counts.dmy > 0 ? "dmy" : "mdy";
    const order = asked ?? settled;
    const dates = certainDays + serials + (order ? ambiguousDays : 0);
    const type = { name, type: "date", read: dates, unread: filled - dates } as const;
    return ambiguousDays > 0 ? { ...type, date_order: order ?? null } : type;
  }
  return isMost(numbers) ? { name, type: "number", read: numbers, unread: filled - numbers } : undefined;
}

/** Reading with its rank; the best of a column comes first. */
interface CountedReading {
  name: string;
  key: string;
  rank: number;
  isSerial: boolean;
}

export function readingsOf({ name, type, date_order }: ColumnType): CountedReading[] {
  const ordered: Reading[] = date_order === "dmy" ? ["d"] : date_order === "mdy" ? ["m"] : [];
  const keys: Record<CellType, Reading[]> = { boolean: ["b"], number: ["n"], date: ["i", ...ordered, "n"] };
  return keys[type].map((key, rank) => ({
    name,
    key: `${key}:${name}`,
    rank,
    isSerial: type === "date" && key === "n",
  }));
}
