import { createHash } from "node:crypto";
import { qrCode, qrPath } from "../../../services/lib/qr-code.ts";

const TEXT = `otpauth://totp/Flockmail:ada%40example.com?secret=ABCDEFGHIJKLMNOP&issuer=e${"x7".repeat(400)}`;

const hashOf = (modules: boolean[][]) =>
  createHash("sha256")
    .update(modules.map((row) => row.map(Number).join("")).join("\n"))
    .digest("hex")
    .slice(0, 16);

// From python-qrcode 8 with the mask that was chosen here: versions 1, 7 (two kinds of blocks end full), 10 and 20.
test.each([
  [5, 21, "2bb98ae842a9b99f"],
  [121, 45, "48365c007412ef0d"],
  [213, 57, "eee34083ec05ed3d"],
  [660, 97, "42cf8363b8ac4c3e"],
])("%i bytes are drawn as another encoder draws them", (length, size, hash) => {
  const modules = qrCode(TEXT.slice(0, length))!;
  expect([modules.length, hashOf(modules)]).toEqual([size, hash]);
});

test("letters that are several bytes count as such; what is too long is no code", () => {
  expect(qrCode("é".repeat(7))!.length).toBe(21);
  expect(qrCode("é".repeat(8))!.length).toBe(25);
  expect(qrCode("x".repeat(700))).toBeUndefined();
});

test("the path has every dark module, and the light edge that cameras need around them", () => {
  const { size, path } = qrPath([
    [true, true, false],
    [false, false, true],
  ]);
  expect({ size, path }).toEqual({ size: 10, path: "M4 4h2v1h-2zM6 5h1v1h-1z" });
});
