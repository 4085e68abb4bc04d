/**
 * Estimates by zxcvbn how many guesses a password withstands. Loaded with the first password set, because the library
 * needs much memory.
 */
import type { ZxcvbnFactory } from "@zxcvbn-ts/core";

/**
 * Maximum characters to check. Checking longer passwords blocks the event loop, and a password is at least as strong as
 * its beginning.
 */
const MAX_CHARACTERS = 32;

interface Estimator {
  zxcvbn: ZxcvbnFactory;
  common: ReadonlySet<string>;
}

let estimator: Promise<Estimator> | undefined;

async function load(): Promise<Estimator> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: MAX_CHARACTERS });
  return { zxcvbn, common: new Set(dictionary["passwords-common"]) };
}

export interface Guesses {
  /** Guesses needed by an attacker who knows the lists and `words`. */
  count: number;
  /** True if one of `words` weakens the password. */
  byWords: boolean;
}

/** `words` are facts about the person that others may know. */
export async function guessesOf(password: string, words: string[]): Promise<Guesses> {
  estimator ??= load();
  const { guesses, sequence } = (await estimator).zxcvbn.check(password, words);
  return { count: guesses, byWords: sequence.some((match) => match.dictionaryName === "userInputs") };
}

/** The 49,000 most frequently leaked passwords in lower case. */
export async function commonPasswords(): Promise<ReadonlySet<string>> {
  estimator ??= load();
  return (await estimator).common;
}
