// Where the code of a TypeScript file stands without its types: named by what the file holds, so that it never is that of
// another version. Beside what else is made here and not kept in the repository; the image has it from when it was built.
import { hash } from "node:crypto";

export const ROOT = new URL("../../../../", import.meta.url);
export const FOLDER = new URL(".cache/stripped/", ROOT);

/** @param {string} source */
export const nameOf = (source) => `${hash("sha256", source)}.js`;
