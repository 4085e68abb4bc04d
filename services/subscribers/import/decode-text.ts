/**
 * Decodes a file chunk by chunk. The file is refused at the first invalid byte: a wrongly decoded row would be stored
 * wrongly, and a skipped row would be a missing person.
 */
import { isUtf8 } from "node:buffer";
import { type FieldErrors, invalid } from "../../lib/errors.ts";

export const fileError = (sentence: string) => invalid({ file: [sentence] });
export const notUtf8 = () =>
  fileError("The file is not UTF-8 text. Save it as CSV UTF-8, or set its charset (Excel often uses windows-1252).");

/** Error code of a fatal TextDecoder. */
const NOT_IN_CHARSET = "ERR_ENCODING_INVALID_ENCODED_DATA";

interface Decoder {
  /** Throws on bytes that are invalid in the charset. */
  decode(bytes?: Buffer): string;
}

/** Number of bytes at the end that begin an incomplete character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** Avoids a streaming fatal TextDecoder, whose results take twice the memory. */
function utf8Decoder(): Decoder {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  return {
    decode(bytes) {
      const all = bytes ? (rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes) : rest;
      const end = bytes ? all.length - unfinishedBytes(all) : all.length;
      const complete = all.subarray(0, end);
      if (!isUtf8(complete)) throw Object.assign(new Error("Not UTF-8"), { code: NOT_IN_CHARSET });
      rest = Buffer.from(all.subarray(end));
      const text = complete.toString("utf8");
      const marked = isFirst && text.startsWith("\uFEFF");
      isFirst = false;
      return marked ? text.slice(1) : text;
    },
  };
}

function decoderOf(charset: string): Decoder {
  const decoder = new TextDecoder(charset, { fatal: true });
  if (decoder.encoding === "utf-8") return utf8Decoder();
  return { decode: (bytes) => (bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()) };
}

/** Accepts any label of the Encoding Standard: `utf-8`, `windows-1252`, `iso-8859-15`, `shift_jis` … */
export function charsetErrors(charset: string | undefined): FieldErrors {
  if (charset === undefined) return {};
  try {
    decoderOf(charset);
    return {};
  } catch {
    return { charset: [`"${charset.slice(0, 100)}" is not a charset that is known here, such as windows-1252.`] };
  }
}

const BYTE_ORDER_MARKS: [charset: string, mark: Buffer][] = [
  ["utf-8", Buffer.from([0xef, 0xbb, 0xbf])],
  ["utf-16le", Buffer.from([0xff, 0xfe])],
  ["utf-16be", Buffer.from([0xfe, 0xff])],
];
// Signatures of zip archives (.xlsx, .ods) and compound files (.xls).
const WORKBOOKS = [Buffer.from("PK\x03\x04", "latin1"), Buffer.from("d0cf11e0a1b11ae1", "hex")];
const HEAD_BYTES = 8;

const isWorkbook = (head: Buffer): boolean => WORKBOOKS.some((mark) => head.subarray(0, mark.length).equals(mark));

const workbookError = () =>
  fileError(
    'The file is an Excel workbook, not CSV. In Excel choose File, Save As, "CSV UTF-8", and upload that file.',
  );

/** A byte order mark takes precedence over the request; the decoder removes it. */
const charsetOf = (head: Buffer, given: string | undefined): string =>
  BYTE_ORDER_MARKS.find(([, mark]) => head.subarray(0, mark.length).equals(mark))?.[0] ?? given ?? "utf-8";

/** Guesses the charset from the beginning of the file. */
export function guessCharset(head: Buffer): string {
  const marked = charsetOf(head, "");
  if (marked !== "") return marked;
  return isUtf8(head.subarray(0, head.length - unfinishedBytes(head))) ? "utf-8" : "windows-1252";
}

const unreadable = (charset: string) =>
  charset === "utf-8" ? notUtf8() : fileError(`The file is not ${charset} text.`);

/** Yields the text of each chunk. `charset` has passed `charsetErrors`. */
export async function* decodeText(stream: AsyncIterable<unknown>, charset?: string): AsyncGenerator<string> {
  let decoder: Decoder | undefined;
  let named = "";
  let head: Buffer = Buffer.alloc(0);
  const decode = (bytes?: Buffer): string => {
    if (!decoder) {
      if (isWorkbook(head)) throw workbookError();
      named = charsetOf(head, charset);
      decoder = decoderOf(named);
    }
    try {
      return decoder.decode(bytes);
    } catch (error) {
      if ((error as { code?: string }).code === NOT_IN_CHARSET) throw unreadable(named);
      throw error;
    }
  };
  for await (const chunk of stream) {
    let bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as string | Uint8Array);
    if (!decoder) {
      head = Buffer.concat([head, bytes]);
      if (head.length < HEAD_BYTES) continue;
      bytes = head;
    }
    const text = decode(bytes);
    if (text) yield text;
  }
  const rest = (decoder ? "" : decode(head)) + decode();
  if (rest) yield rest;
}
