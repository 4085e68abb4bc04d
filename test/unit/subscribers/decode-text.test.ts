import { charsetErrors, decodeText } from "../../../services/subscribers/import/decode-text.ts";

async function decode(bytes: Buffer, charset?: string, pieceBytes = 1): Promise<string> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  let text = "";
  for await (const piece of decodeText(pieces(), charset)) text += piece;
  return text;
}
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error.data.fields.file[0],
  );

describe("decoding a file", () => {
  const text = "Jörg Müßig, €\u2019 日本";

  test.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${text}`)],
    ["UTF-16, low byte first", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16, high byte first", Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
  ])("works for %s, whatever charset is given beside a mark, and wherever the bytes are split", async (name, bytes) => {
    for (const pieceBytes of [1, 2, 3, 1_000]) {
      expect(await decode(bytes, undefined, pieceBytes)).toBe(text);
      if (name !== "UTF-8") expect(await decode(bytes, "windows-1252", pieceBytes)).toBe(text);
    }
  });

  test("supports windows-1252, by all of its labels in the Encoding Standard", async () => {
    const bytes = Buffer.from([0x80, 0x92, 0x20, 0x4a, 0xf6, 0x9f, 0x81]);
    for (const label of ["windows-1252", "Windows-1252", "cp1252", "latin1", "iso-8859-1"]) {
      expect(await decode(bytes, label)).toBe("€’ JöŸ\u0081");
    }
    expect(await decode(Buffer.from([0xa4]), "iso-8859-15")).toBe("€");
    expect(await decode(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "shift_jis")).toBe("日本");
  });

  test("refuses invalid bytes, including an incomplete character at the end", async () => {
    for (const bytes of [Buffer.from([0x61, 0x62, 0x63, 0xff, 0x61]), Buffer.from([0x61, 0xc3])]) {
      expect(await refusal(decode(bytes))).toMatch(/^The file is not UTF-8 text\./);
      expect(await refusal(decode(bytes, "utf-8"))).toMatch(/^The file is not UTF-8 text\./);
    }
    expect(await refusal(decode(Buffer.from([0x61, 0x62, 0x63, 0x81]), "shift_jis"))).toBe(
      "The file is not shift_jis text.",
    );
  });

  test("accepts empty files, and less than a byte order mark", async () => {
    expect(await decode(Buffer.alloc(0))).toBe("");
    expect(await decode(Buffer.from("a"))).toBe("a");
  });

  test("reports an unknown charset", () => {
    expect(charsetErrors("utf-8")).toEqual({});
    expect(charsetErrors(undefined)).toEqual({});
    for (const label of ["", "klingon", "utf-7", "replacement"]) {
      expect(charsetErrors(label)).toEqual({ charset: [expect.stringContaining(`"${label}"`)] });
    }
  });
});
