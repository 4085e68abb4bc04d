/**
 * How many guesses a password withstands, by zxcvbn: lists of leaked passwords, words, keyboards, dates, repeats, other
 * spellings. Loaded by the first password that is set (0.1 s of CPU, 23 MB): a process that sets none does not pay for it.
 */
import type { ZxcvbnFactory } from "@zxcvbn-ts/core";

/**
 * More of a password is not looked at: what its first 32 characters withstand, the whole does, and the event loop stands
 * still meanwhile. The worst that was found takes 15 ms of CPU here (56 ms on a busy machine), 0.4 s with 256 characters,
 * 6.6 s with 1,024; an ordinary password takes 0.5 ms.
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
  /** To be expected of somebody who knows the lists and `words`. */
  count: number;
  /** One of `words` made it easier. */
  byWords: boolean;
}

/** `words`: what everybody knows of the person. */
export async function guessesOf(password: string, words: string[]): Promise<Guesses> {
  estimator ??= load();
  const { guesses, sequence } = (await estimator).zxcvbn.check(password, words);
  return { count: guesses, byWords: sequence.some((match) => match.dictionaryName === "userInputs") };
}

/** The 49,000 passwords that leak most often, in lower case. */
export async function commonPasswords(): Promise<ReadonlySet<string>> {
  estimator ??= load();
  return (await estimator).common;
}
