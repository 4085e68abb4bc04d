/** An attribute's key as a label for people: `favourite_colour` and `favouriteColour` become "Favourite colour". */
export function readableName(key: string): string {
  const words = key
    .replace(/([\p{Ll}\d])(\p{Lu}\p{Ll})/gu, (_, before: string, word: string) => `${before} ${word.toLowerCase()}`)
    .replace(/[_.-]+/g, " ")
    .trim();
  return words === "" ? key : words[0]!.toUpperCase() + words.slice(1);
}
