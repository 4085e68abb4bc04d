/**
 * For an lru-cache of at most so many entries: it grows with what is in it. By its own `max` it takes 40 bytes for each entry
 * that may ever come, at once: 4 MB for the caches of a process that has nothing to do.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
