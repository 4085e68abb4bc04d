import { badRequest } from "../lib/errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

// An own property of this name is inert, but becomes a prototype wherever somebody copies it with an assignment.
const PROTO =
  /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"/;

const withoutProto = (key: string, value: unknown) => (key === "__proto__" ? undefined : value);

/** Never throws anything but a 400. Keys named __proto__ are dropped at any depth. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = decoder.decode(bytes);
    // A reviver makes parsing several times slower: only where the name occurs at all.
    return PROTO.test(text) ? JSON.parse(text, withoutProto) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`JSON parse error - ${(error as Error).message}`);
  }
}
