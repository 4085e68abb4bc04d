/** Reads a request's body as an object: JSON, and on pages also what forms send. Bounded in bytes and in time. */
import { ApiError, badRequest, invalid, tooLarge } from "../lib/errors.ts";
import { typeName } from "../lib/field-errors.ts";
import type { Exchange } from "./exchange.ts";
import { formFields } from "./form.ts";
import { parseJson } from "./json.ts";
import type { Params } from "./params.ts";

export const MAX_BODY_BYTES = 16 * 1024 * 1024;
const MAX_BODY_MS = 30_000;

export const mediaTypeOf = (exchange: Exchange): string =>
  (exchange.req.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();

export const unsupported = (mediaType: string) =>
  new ApiError("MEDIA_TYPE", 415, { detail: `Unsupported media type "${mediaType}" in request.` });

export const bodyTooLarge = (maxBytes: number) => tooLarge(`The request is too large: at most ${maxBytes} bytes.`);

export const tooSlow = () =>
  new ApiError(
    "TOO_SLOW",
    408,
    { detail: "The request took too long to arrive." },
    { headers: { Connection: "close" } },
  );

export const hasBody = ({ req }: Exchange): boolean =>
  req.headers["transfer-encoding"] !== undefined || (req.headers["content-length"] ?? "0") !== "0";

export function refuseEncoded({ req }: Exchange): void {
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() === "identity") return;
  throw new ApiError("ENCODING", 415, { detail: `Unsupported content encoding "${encoding}" in request.` });
}

function readBytes({ req }: Exchange, maxBytes: number): Promise<Buffer> {
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
      if (bytes > maxBytes) settle(bodyTooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const broken = () => settle(badRequest("The request ended before its body did."));
    const timer = setTimeout(() => settle(tooSlow()), MAX_BODY_MS);
    req.on("data", take).on("end", settle).on("error", broken).on("close", broken);
  });
}

function asObject(value: unknown): Params {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Params;
  throw invalid({ non_field_errors: [`Invalid data. Expected a dictionary, but got ${typeName(value)}.`] });
}

/** The body of an API request. No body at all is an object without fields. */
export async function readJson(exchange: Exchange): Promise<Params> {
  if (!hasBody(exchange)) return {};
  const mediaType = mediaTypeOf(exchange);
  if (mediaType !== "application/json") {
    throw unsupported(mediaType);
  }
  refuseEncoded(exchange);
  const bytes = await readBytes(exchange, MAX_BODY_BYTES);
  return bytes.length === 0 ? {} : asObject(parseJson(bytes));
}

/** The body of a page's form, or JSON. */
export async function readForm(exchange: Exchange): Promise<Params> {
  const mediaType = mediaTypeOf(exchange);
  if (mediaType !== "application/x-www-form-urlencoded" && mediaType !== "multipart/form-data")
    return readJson(exchange);
  refuseEncoded(exchange);
  return formFields(exchange.req.headers["content-type"]!, await readBytes(exchange, MAX_BODY_BYTES));
}

/** For those who must never be turned away: what cannot be read is an empty body. */
export const readAny = (exchange: Exchange): Promise<Params> => readForm(exchange).catch(() => ({}));
