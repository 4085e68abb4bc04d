/**
 * Resolves or rejects as `work` does, or rejects with `onTimeout()` after `ms`. The work itself goes on and is the
 * caller's to end; its result is ignored, a late rejection too.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
