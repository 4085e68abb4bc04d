/**
 * Resolves or rejects as `work` does, or rejects with `onTimeout()` after `ms`. The work itself continues unless the
 * caller ends it; its result or rejection is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
