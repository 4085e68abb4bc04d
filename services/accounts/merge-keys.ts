/** Merges a PATCH into a stored object; null resets a key to its default, which is not stored. */
type PartialUpdate<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** Ignores keys outside `keys`. Null as `given` resets all of them. */
export function mergeKeys<T extends object>(
  stored: Readonly<Partial<T>>,
  given: PartialUpdate<T> | null,
  keys: readonly (keyof T)[],
): Partial<T> {
  if (given === null) return {};
  const merged: Partial<T> = { ...stored };
  for (const key of keys) {
    const value = given[key];
    if (value === null) delete merged[key];
    else if (value !== undefined) merged[key] = value;
  }
  return merged;
}
