/** The keys of a stored object that a PATCH names: null resets one to its default, which is not stored. */
type Given<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** `keys`: other keys of what was given are ignored. `given` null: all of them are reset. */
export function mergeKeys<T extends object>(
  stored: Readonly<Partial<T>>,
  given: Given<T> | null,
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
