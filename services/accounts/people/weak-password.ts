/**
 * Rejects weak passwords: those that zxcvbn guesses quickly, and cases it misses (a leaked password between digits and
 * signs, long keyboard walks, few different characters, personal words). Contracts require at least ten characters.
 */
import { commonPasswords, guessesOf } from "./password-guesses.ts";

const MAX_PASSWORD_BYTES = 1_024;
const MIN_DIFFERENT = 5;

/** Login limits allow about a million guesses per year and account; this withstands a hundred years. */
const MIN_GUESSES = 1e8;

/** Words missing from zxcvbn's list, or too short there to be recognised between digits and signs (see below). */
const STEMS = new Set(
  `aaaaaaaaaa contraseña qwertz qwertyuiopasdfghjklzxcvbnm ilovey login flockmail newsletter abcdef abcdefg abcdefgh
  abcdefghij abcdefghijklmnopqrstuvwxyz correcthorsebatterystaple adminadmin mibebe doudou abc ciao demo root temp test user`
    .trim()
    .split(/\s+/),
);
/** Minimum length of a list entry: shorter ones occur in random passwords. */
const MIN_ENTRY_LETTERS = 5;

const LEET: Record<string, string> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s", "!": "i" };
const RUNS = [
  "01234567890123456789",
  "98765432109876543210",
  "abcdefghijklmnopqrstuvwxyz",
  "zyxwvutsrqponmlkjihgfedcba",
  "qwertyuiopasdfghjklzxcvbnm",
  "poiuytrewqlkjhgfdsamnbvcxz",
  "qwertzuiopasdfghjklyxcvbnm",
  "azertyuiopqsdfghjklmwxcvbn",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
  "1q2w3e4r5t6z7u8i9o0p",
  "1q2w3e4r5t6y7u8i9o0p",
];

const lettersOf = (text: string) => text.replace(/[^\p{L}]/gu, "");
const unleet = (text: string) => text.replace(/[0134570@$!]/g, (sign) => LEET[sign] ?? sign);

/** Reduces a repeated text: "abcabcabc" becomes "abc". */
function unit(text: string): string {
  const at = `${text}${text}`.indexOf(text, 1);
  return text.slice(0, at);
}

async function isCommon(password: string): Promise<boolean> {
  const lower = password.normalize("NFKC").toLowerCase();
  const once = unit(lower);
  if (once.length < MIN_DIFFERENT || RUNS.some((run) => run.includes(once))) return true;
  const bare = once.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const spellings = [once, bare, unleet(once), unleet(bare), lettersOf(once), lettersOf(unleet(bare))];
  const listed = await commonPasswords();
  const isListed = (text: string) => STEMS.has(text) || (text.length >= MIN_ENTRY_LETTERS && listed.has(text));
  return spellings.some((text) => isListed(text) || isListed(unit(text)));
}

const KNOWN_LENGTH = 4;

const knownOf = (words: string[]) =>
  words.flatMap((word) => word.toLowerCase().split(/[^\p{L}]+/u)).filter((word) => word.length >= KNOWN_LENGTH);

/** Detects a personal word followed by a number. */
function isKnown(password: string, known: string[]): boolean {
  const letters = lettersOf(password.toLowerCase());
  let rest = letters;
  for (const word of known.toSorted((a, b) => b.length - a.length)) rest = rest.replaceAll(word, "");
  return rest !== letters && rest.length < KNOWN_LENGTH;
}

const TOO_FEW = ["This password has too few different characters."];
const TOO_COMMON = ["This password is too common."];
const TOO_CLOSE = ["This password is too close to your name, address or company."];
const TOO_EASY = ["This password is too easy to guess."];

/** Returns error sentences, none for a strong password. `words`: address, names, company. */
export async function passwordErrors(password: string, words: string[] = []): Promise<string[]> {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) {
    return [`Ensure this field has no more than ${MAX_PASSWORD_BYTES} bytes.`];
  }
  if (new Set(password).size < MIN_DIFFERENT) return TOO_FEW;
  const known = knownOf(words);
  if (isKnown(password, known)) return TOO_CLOSE;
  if (await isCommon(password)) return TOO_COMMON;
  const guesses = await guessesOf(password.normalize("NFKC"), known);
  if (guesses.count >= MIN_GUESSES) return [];
  return guesses.byWords ? TOO_CLOSE : TOO_EASY;
}
