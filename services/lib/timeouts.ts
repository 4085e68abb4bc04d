/**
 * Resolves or rejects as `work` does, or rejects with `onTimeout()` after `ms`. The work itself goes on: whoever started
 * it must end it, and its late rejection is nobody's.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
