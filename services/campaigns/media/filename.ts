const MAX_LENGTH = 255;

/**
 * A name that is safe in a path, a header and a dialog: no folders, no control characters, nothing that turns the
 * reading direction round (which makes "fdp.exe" read as "exe.pdf").
 */
export function cleanFilename(given: string): string {
  const name = given
    .toWellFormed()
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu, "")
    .normalize("NFC")
    .trim();
  if (name === "" || /^\.+$/.test(name)) return "file";
  if (name.length <= MAX_LENGTH) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  return `${name.slice(0, MAX_LENGTH - extension.length)}${extension}`.toWellFormed();
}
