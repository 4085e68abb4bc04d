/** Forms of the public pages: a few short text fields, urlencoded or multipart. A name that comes twice is a list. */
import { parse } from "node:querystring";
import busboy from "busboy";
import { badRequest } from "../lib/errors.ts";
import type { Params } from "./params.ts";

const LIMITS = { fields: 200, fieldSize: 64 * 1024, fieldNameSize: 200, files: 0, parts: 200, headerPairs: 20 };

function multipart(contentType: string, bytes: Buffer): Promise<Params> {
  return new Promise((resolve, reject) => {
    const fields: Params = {};
    const refuse = (error: Error) => reject(badRequest(`Multipart form parse error - ${error.message}`));
    try {
      const parser = busboy({ headers: { "content-type": contentType }, limits: LIMITS });
      parser.on("field", (name, value) => add(fields, name, value));
      parser.on("error", (error) => refuse(error as Error));
      parser.on("close", () => resolve(fields));
      parser.end(bytes);
    } catch (error) {
      refuse(error as Error);
    }
  });
}

function add(fields: Params, name: string, value: string): void {
  if (name === "__proto__") return;
  fields[name] = Object.hasOwn(fields, name) ? [fields[name], value].flat() : value;
}

function urlencoded(bytes: Buffer): Params {
  const fields: Params = {};
  for (const [name, value] of Object.entries(parse(bytes.toString(), "&", "=", { maxKeys: LIMITS.fields }))) {
    for (const one of [value].flat()) add(fields, name, one!);
  }
  return fields;
}

export const formFields = async (contentType: string, bytes: Buffer): Promise<Params> =>
  contentType.toLowerCase().startsWith("multipart/") ? multipart(contentType, bytes) : urlencoded(bytes);
