/** Validates inline receivers (messages name the receiver's index) and selects what is stored of them. */
import type { Queryable } from "../../../models/database/db.ts";
import { copyAddresses } from "../../../models/sent-email-copy.ts";
import { erasedAmong } from "../../../models/statements/erased-addresses.ts";
import { addressError, addressText, isAddress } from "../../lib/address.ts";

export const MAX_COPIES = 50;
const MAX_VARIABLES = 200;
/** Arrays for `#each`, flat objects in them, and one more level; deeper data is a mistake. */
const MAX_DEPTH = 4;
/** Reports only the first hundred errors. */
const MAX_ERRORS = 100;

export type Receiver = Record<string, unknown>;

interface StoredReceiver {
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  variables: Record<string, unknown>;
}

const NOT_VARIABLES = new Set(["email", "cc", "bcc"]);

function emailError(email: unknown): string | undefined {
  if (email === undefined || email === null || email === "") return "is missing 'email'.";
  if (typeof email !== "string") return "has an 'email' that is not a valid string.";
  return isAddress(addressText(email)) ? undefined : `has an invalid 'email'. ${addressError(email)}`;
}

function copiesError(field: "cc" | "bcc", copies: unknown): string | undefined {
  if (copies === undefined || copies === null) return undefined;
  if (!Array.isArray(copies)) return `has a '${field}' that is not a list of email addresses.`;
  if (copies.length > MAX_COPIES) return `has a '${field}' of more than ${MAX_COPIES} addresses.`;
  const invalidAt = copies.findIndex((copy) => typeof copy !== "string" || !isAddress(addressText(copy)));
  return invalidAt < 0
    ? undefined
    : `has an invalid '${field}' at index ${invalidAt}. ${addressError(copies[invalidAt])}`;
}

function isVariable(value: unknown, depth = 1): boolean {
  if (value === null || typeof value !== "object") return true;
  return depth < MAX_DEPTH && Object.values(value).every((inner) => isVariable(inner, depth + 1));
}

function variablesError(receiver: Receiver): string | undefined {
  const names = Object.keys(receiver).filter((name) => !NOT_VARIABLES.has(name));
  if (names.length > MAX_VARIABLES) return `has more than ${MAX_VARIABLES} variables.`;
  const invalidName = names.find((name) => !isVariable(receiver[name]));
  return invalidName === undefined ? undefined : `has a variable '${invalidName}' that is nested too deeply.`;
}

export function receiverErrors(receivers: readonly Receiver[]): string[] {
  const errors: string[] = [];
  for (const [index, receiver] of receivers.entries()) {
    // The schema reports this one; continue with the others.
    if (typeof receiver !== "object" || receiver === null || Array.isArray(receiver)) continue;
    const found = [
      emailError(receiver.email),
      copiesError("cc", receiver.cc),
      copiesError("bcc", receiver.bcc),
      variablesError(receiver),
    ];
    for (const error of found) if (error) errors.push(`Receiver at index ${index} ${error}`);
    if (errors.length >= MAX_ERRORS) return errors.slice(0, MAX_ERRORS);
  }
  return errors;
}

function storedCopies(copies: unknown): string[] | null {
  const addresses = ((copies ?? []) as string[]).map(addressText);
  return addresses.length > 0 ? [...new Set(addresses)] : null;
}

/** Number of copies (cc, bcc) requested. */
export const copiesOf = (receivers: readonly Receiver[]): number =>
  receivers.reduce(
    (sum, { cc, bcc }) => sum + copyAddresses({ cc: storedCopies(cc), bcc: storedCopies(bcc) }).length,
    0,
  );

/** Selects the fields of valid receivers that messages need. */
export const storedReceivers = (receivers: readonly Receiver[]): StoredReceiver[] =>
  receivers.map((receiver) => ({
    email: addressText(receiver.email as string),
    cc: storedCopies(receiver.cc),
    bcc: storedCopies(receiver.bcc),
    // fromEntries defines own properties, so a variable named __proto__ stays a variable.
    variables: Object.fromEntries(Object.entries(receiver).filter(([name]) => !NOT_VARIABLES.has(name))),
  }));

/** Erased persons get neither an email nor a copy and are not stored again; an empty row keeps the numbering. */
export async function withoutErased(
  companyId: string,
  receivers: readonly StoredReceiver[],
  client: Queryable,
): Promise<StoredReceiver[]> {
  const addresses = receivers.flatMap(({ email, cc, bcc }) => [email, ...(cc ?? []), ...(bcc ?? [])]);
  const erased = await erasedAmong(companyId, addresses, client);
  if (erased.size === 0) return [...receivers];
  const others = (copies: string[] | null) => {
    const remaining = copies?.filter((copy) => !erased.has(copy)) ?? [];
    return remaining.length > 0 ? remaining : null;
  };
  return receivers.map((receiver) =>
    erased.has(receiver.email)
      ? { email: "", cc: null, bcc: null, variables: {} }
      : { ...receiver, cc: others(receiver.cc), bcc: others(receiver.bcc) },
  );
}
