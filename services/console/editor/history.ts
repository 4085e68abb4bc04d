/** Undo and redo as two stacks of trees. Changes of one field in quick succession are one step. */
export interface History<T> {
  past: readonly T[];
  now: T;
  future: readonly T[];
  /** Subject and time of the last change. */
  about: string;
  atMs: number;
}

const MAX_STEPS = 200;
const ONE_STEP_MS = 1_500;

export const begin = <T>(now: T): History<T> => ({ past: [], now, future: [], about: "", atMs: 0 });

/** `about` names the changed field; empty for changes that are always a step of their own. */
export function changed<T>(history: History<T>, now: T, about: string, atMs: number): History<T> {
  if (now === history.now) return history;
  const isSameStep = about !== "" && about === history.about && atMs - history.atMs < ONE_STEP_MS;
  const past = isSameStep ? history.past : [...history.past.slice(1 - MAX_STEPS), history.now];
  return { past, now, future: [], about, atMs };
}

export function undone<T>({ past, now, future }: History<T>): History<T> {
  const before = past.at(-1);
  if (before === undefined) return { past, now, future, about: "", atMs: 0 };
  return { past: past.slice(0, -1), now: before, future: [now, ...future], about: "", atMs: 0 };
}

export function redone<T>({ past, now, future }: History<T>): History<T> {
  const [next, ...later] = future;
  if (next === undefined) return { past, now, future, about: "", atMs: 0 };
  return { past: [...past, now], now: next, future: later, about: "", atMs: 0 };
}
