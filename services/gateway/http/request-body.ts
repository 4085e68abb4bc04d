/** Reads a request body as an object: JSON, and on pages also form data. Cost (body-cost.ts) and time are bounded. */

import { parse as parseQuery } from "node:querystring";
import busboy from "busboy";
import { badRequest, invalid } from "../../lib/errors.ts";
import { parseExactJson } from "../../lib/exact-json.ts";
import { typeName } from "../../lib/field-errors.ts";
import { type BodyLimits, bodyTooLarge, JsonCost } from "./body-cost.ts";
import type { Context } from "./context.ts";
import { jsonErrorOffset, lineAndColumn } from "./json-error.ts";
import type { Params } from "./params.ts";
import { HttpRefusal } from "./problems.ts";
import type { Reservation } from "./shared-budget.ts";

const MAX_BODY_MS = 30_000;

export const mediaTypeOf = (context: Context): string =>
  (context.req.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();

export const unsupportedType = (mediaType: string) =>
  new HttpRefusal(415, `Unsupported media type "${mediaType}" in request.`);

export const tooSlow = () => new HttpRefusal(408, "The request took too long to arrive.", { Connection: "close" });

export const hasBody = ({ req }: Context): boolean =>
  req.headers["transfer-encoding"] !== undefined || (req.headers["content-length"] ?? "0") !== "0";

export function refuseEncoded({ req }: Context): void {
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() === "identity") return;
  throw new HttpRefusal(415, `Unsupported content encoding "${encoding}" in request.`);
}

/** Cost limits of one request body. */
export interface BodyBounds {
  limits: BodyLimits;
  reservation: Reservation;
}

function readBytes(
  { req }: Context,
  { limits: { maxBytes }, reservation }: BodyBounds,
  cost?: JsonCost,
): Promise<Buffer> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (error?: Error) => {
      clearTimeout(timer);
      req.off("data", take).off("end", settle).off("error", settle).off("close", broken);
      if (error) reject(error);
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
        reservation.take(chunk.length);
        cost?.add(chunk);
        chunks.push(chunk);
      } catch (error) {
        settle(error as Error);
      }
    };
    const broken = () => settle(badRequest("The request ended before its body did."));
    const timer = setTimeout(() => settle(tooSlow()), MAX_BODY_MS);
    req.on("data", take).on("end", settle).on("error", broken).on("close", broken);
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

// An own property with this name is harmless until somebody copies it with an assignment: then it becomes the
// prototype.
const PROTO =
  /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"/;

const withoutProto = (key: string, value: unknown) => (key === "__proto__" ? undefined : value);

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest("JSON parse error - The text is not UTF-8.");
  }
}

/**
 * Parses JSON. Every failure is a 400 that names the position and never quotes the text. Keys named __proto__ are
 * dropped at any depth.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes);
  try {
    // A reviver slows parsing down several times, so it is used only if the name occurs.
    return parseExactJson(text, PROTO.test(text) ? withoutProto : undefined);
  } catch {
    throw badRequest(`JSON parse error - The error is at ${lineAndColumn(text, jsonErrorOffset(text))}.`);
  }
}

function asObject(value: unknown): Params {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Params;
  throw invalid({ non_field_errors: [`Invalid data. Expected a dictionary, but got ${typeName(value)}.`] });
}

/** Reads the body of an API request. A missing body is an object without fields. */
export async function readJson(context: Context, bounds: BodyBounds): Promise<Params> {
  if (!hasBody(context)) return {};
  const mediaType = mediaTypeOf(context);
  if (mediaType !== "application/json") throw unsupportedType(mediaType);
  refuseEncoded(context);
  const bytes = await readBytes(context, bounds, new JsonCost(bounds.limits.maxTokens));
  return bytes.length === 0 ? {} : asObject(parseJson(bytes));
}

const MAX_HEADER = 4_096;

/** Reads the unparsed body as text, and the named headers. The media type is ignored: SNS sends JSON as text/plain. */
export async function readRaw(
  context: Context,
  bounds: BodyBounds,
  names: readonly string[],
): Promise<{ raw: string; headers: Record<string, string> }> {
  refuseEncoded(context);
  const bytes = hasBody(context)
    ? await readBytes(context, bounds, new JsonCost(bounds.limits.maxTokens))
    : Buffer.of();
  const present = names.map((name) => [name, context.get(name).slice(0, MAX_HEADER)] as const);
  return { raw: decoded(bytes), headers: Object.fromEntries(present.filter(([, value]) => value !== "")) };
}

const FORM_LIMITS = { fields: 200, fieldSize: 64 * 1024, fieldNameSize: 200, files: 0, parts: 200, headerPairs: 20 };

/** Adds a form field; a repeated name becomes a list. */
function addField(fields: Params, name: string, value: string): void {
  if (name === "__proto__") return;
  fields[name] = Object.hasOwn(fields, name) ? [fields[name], value].flat() : value;
}

function multipartFields(contentType: string, bytes: Buffer): Promise<Params> {
  return new Promise((resolve, reject) => {
    const fields: Params = {};
    const refuse = (error: Error) => reject(badRequest(`Multipart form parse error - ${error.message}`));
    try {
      const parser = busboy({ headers: { "content-type": contentType }, limits: FORM_LIMITS });
      parser.on("field", (name, value) => addField(fields, name, value));
      parser.on("error", (error) => refuse(error as Error));
      parser.on("close", () => resolve(fields));
      parser.end(bytes);
    } catch (error) {
      refuse(error as Error);
    }
  });
}

function urlencodedFields(bytes: Buffer): Params {
  const fields: Params = {};
  const parsed = parseQuery(bytes.toString(), "&", "=", { maxKeys: FORM_LIMITS.fields });
  for (const [name, value] of Object.entries(parsed)) {
    for (const one of [value].flat()) addField(fields, name, one!);
  }
  return fields;
}

/** Reads the body of a page's form (a few short text fields), or JSON. */
export async function readForm(context: Context, bounds: BodyBounds): Promise<Params> {
  const mediaType = mediaTypeOf(context);
  const multipart = mediaType === "multipart/form-data";
  if (!multipart && mediaType !== "application/x-www-form-urlencoded") return readJson(context, bounds);
  refuseEncoded(context);
  const bytes = await readBytes(context, bounds);
  return multipart ? multipartFields(context.req.headers["content-type"]!, bytes) : urlencodedFields(bytes);
}
