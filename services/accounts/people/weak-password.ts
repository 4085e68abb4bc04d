/**
 * Passwords that are guessed first: what zxcvbn finds in few guesses, and what it lets through: a leaked password between
 * digits and signs, long walks over the keyboard, few different characters, what everybody knows of the person. The
 * contracts see to ten characters at least.
 */
import { commonPasswords, guessesOf } from "./password-guesses.ts";

const MAX_PASSWORD_BYTES = 1_024;
const MIN_DIFFERENT = 5;

/**
 * Ten guesses at an account are taken in five minutes (login-limits.ts), a million a year: a hundred years of them. Of a
 * stolen hash, 120 ms each, they are 140 days of a core.
 */
const MIN_GUESSES = 1e8;

/**
 * What zxcvbn's list lacks, and its entries that are too short to be taken as such between digits and signs (see below).
 * None of them is much better with digits and signs around it, and 0 for o.
 */
const STEMS = new Set(
  `aaaaaaaaaa contraseña qwertz qwertyuiopasdfghjklzxcvbnm ilovey login flockmail newsletter abcdef abcdefg abcdefgh
  abcdefghij abcdefghijklmnopqrstuvwxyz correcthorsebatterystaple adminadmin mibebe doudou abc ciao demo root temp test user`
    .trim()
    .split(/\s+/),
);
/** Shorter entries of the list turn up in random passwords: one in 300 of ten hexadecimal digits would be refused. */
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

/** What is repeated to make it long: "abcabcabc" is "abc". */
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

/** A person's own words with a number behind them. */
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

/** The sentences on a password, none for a good one. `words`: address, names, company. */
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
