/**
 * Detects a file's type from its content. The declared type is never trusted: an HTML page declared as an image must
 * not be served as one.
 */

/** Enough for every signature here, and to distinguish text from binary data. */
export const SNIFF_BYTES = 4_096;

const ANY = -1;
const ascii = (text: string) => [...text].map((char) => (char === "?" ? ANY : char.charCodeAt(0)));

const SIGNATURES: readonly [type: string, bytes: readonly number[]][] = [
  ["image/png", [0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", ascii("GIF87a")],
  ["image/gif", ascii("GIF89a")],
  ["image/webp", ascii("RIFF????WEBP")],
  ["image/avif", ascii("????ftypavif")],
  ["image/heic", ascii("????ftypheic")],
  ["image/tiff", [...ascii("II*"), 0]],
  ["image/tiff", [...ascii("MM"), 0, 0x2a]],
  ["image/x-icon", [0, 0, 1, 0]],
  ["application/pdf", ascii("%PDF-")],
  ["audio/mpeg", ascii("ID3")],
  ["audio/ogg", ascii("OggS")],
  ["audio/flac", ascii("fLaC")],
  ["audio/wav", ascii("RIFF????WAVE")],
  ["video/quicktime", ascii("????ftypqt  ")],
  ["video/mp4", ascii("????ftyp")],
  ["video/webm", [0x1a, 0x45, 0xdf, 0xa3]],
  ["application/gzip", [0x1f, 0x8b, 0x08]],
  ["application/x-7z-compressed", [...ascii("7z"), 0xbc, 0xaf, 0x27, 0x1c]],
  ["application/vnd.rar", ascii("Rar!")],
  ["application/rtf", ascii("{\\rtf")],
];

const matches = (head: Buffer, bytes: readonly number[]) =>
  head.length >= bytes.length && bytes.every((byte, at) => byte === ANY || head[at] === byte);

/** Office documents are zip archives; the names of their parts tell the type. */
const ARCHIVES: readonly [type: string, mark: string][] = [
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "word/"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xl/"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "ppt/"],
  ["application/vnd.oasis.opendocument.text", "mimetypeapplication/vnd.oasis.opendocument.text"],
  ["application/vnd.oasis.opendocument.spreadsheet", "mimetypeapplication/vnd.oasis.opendocument.spreadsheet"],
  ["application/epub+zip", "mimetypeapplication/epub+zip"],
];

function archive(head: Buffer): string {
  const text = head.toString("latin1");
  return ARCHIVES.find(([, mark]) => text.includes(mark))?.[0] ?? "application/zip";
}

/** Types that text files get by extension; browsers run none of them. */
const TEXTS = new Map([
  ["csv", "text/csv"],
  ["ics", "text/calendar"],
  ["vcf", "text/vcard"],
  ["json", "application/json"],
  ["md", "text/markdown"],
]);

function text(head: Buffer, filename: string): string | undefined {
  // `stream` accepts a character cut at the end of the head.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let content: string;
  try {
    content = decoder.decode(head, { stream: true });
  } catch {
    return undefined;
  }
  if (/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(content)) return undefined;
  const start = content.replace(/^\uFEFF/, "").trimStart();
  // Markup may begin with comments, declarations or text, so any such tag in the head counts.
  if (/<svg[\s>]/i.test(start)) return "image/svg+xml";
  if (start.startsWith("<?xml")) return "text/xml";
  if (
    /<(!doctype\s+html|html|head|body|script|iframe|style|title|div|a|p|table|img|meta|link|form)[\s>/]/i.test(start)
  ) {
    return "text/html";
  }
  if (start.startsWith("<")) return "text/xml";
  return TEXTS.get(filename.split(".").at(-1)!.toLowerCase()) ?? "text/plain";
}

export function sniff(head: Buffer, filename: string): string {
  const signature = SIGNATURES.find(([, bytes]) => matches(head, bytes));
  if (signature) return signature[0];
  if (matches(head, [...ascii("PK"), 3, 4])) return archive(head);
  // MPEG audio without a tag: eleven set bits; JPEG's 0xffd8 was handled above.
  if (head.length > 2 && head[0] === 0xff && (head[1]! & 0xe6) === 0xe2) return "audio/mpeg";
  return text(head, filename) ?? "application/octet-stream";
}
