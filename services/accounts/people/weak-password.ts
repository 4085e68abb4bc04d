/**
 * Passwords that are guessed first: what common lists hold, walks over the keyboard, few different characters, and what
 * everybody knows of the person. Length does the rest: ten characters at least (the contracts say so).
 */

const MAX_PASSWORD_BYTES = 1_024;
const MIN_DIFFERENT = 5;

/** Stems that the common lists of leaked passwords are made of; digits and signs around them, and 0 for o, change little. */
const STEMS = new Set(
  `password passwort passw motdepasse contrasena contraseña senha parola haslo wachtwoord qwerty qwertz azerty qwertyuiop
  qwertyuiopasdfghjklzxcvbnm asdfghjkl zxcvbnm qazwsx qazwsxedc iloveyou ilovey loveyou letmein welcome admin
  administrator root login user guest master monkey dragon football baseball basketball superman batman pokemon starwars
  princess sunshine shadow michael jennifer jessica jordan ashley charlie thomas daniel hunter killer summer winter
  spring autumn secret freedom whatever trustno computer internet samsung google facebook liverpool chelsea arsenal
  barcelona juventus manchester mustang harley corvette ferrari mercedes changeme default temp test testing testtest
  demo example flockmail newsletter company business hello helloworld abc abcdef abcdefg abcdefgh abcdefghij
  abcdefghijklmnopqrstuvwxyz aaaaaaaaaa correcthorsebatterystaple passwordpassword adminadmin loveme babygirl
  lovely chocolate butterfly flower family friends forever jesus jesuschrist blessed heaven angel money success
  tequiero teamo mibebe estrella america colombia mexico bonjour soleil doudou marseille schatz hallo geheim sommer
  fussball bayern deutschland berlin hamburg ciao amore napoli inter milan`
    .trim()
    .split(/\s+/),
);

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

function isCommon(password: string): boolean {
  const lower = password.normalize("NFKC").toLowerCase();
  const once = unit(lower);
  if (once.length < MIN_DIFFERENT || RUNS.some((run) => run.includes(once))) return true;
  const bare = once.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const spellings = [once, bare, unleet(once), unleet(bare), lettersOf(once), lettersOf(unleet(bare))];
  return spellings.some((text) => STEMS.has(text) || STEMS.has(unit(text)));
}

const KNOWN_LENGTH = 4;

/** A person's own words with a number behind them. */
function isKnown(password: string, words: string[]): boolean {
  const letters = lettersOf(password.toLowerCase());
  const known = words.flatMap((word) => word.toLowerCase().split(/[^\p{L}]+/u)).filter((w) => w.length >= KNOWN_LENGTH);
  let rest = letters;
  for (const word of known.toSorted((a, b) => b.length - a.length)) rest = rest.replaceAll(word, "");
  return known.length > 0 && rest !== letters && rest.length < KNOWN_LENGTH;
}

/** The sentences on a password, none for a good one. `words`: address, names, company. */
export function passwordErrors(password: string, words: string[] = []): string[] {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) {
    return [`Ensure this field has no more than ${MAX_PASSWORD_BYTES} bytes.`];
  }
  if (new Set(password).size < MIN_DIFFERENT) return ["This password has too few different characters."];
  if (isCommon(password)) return ["This password is too common."];
  return isKnown(password, words) ? ["This password is too close to your name, address or company."] : [];
}
