import { cleanFilename } from "../../../services/campaigns/media/upload.ts";
import { sniff } from "../../../services/lib/sniff.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

describe("the type of a file by its content", () => {
  test.each([
    ["\x89PNG\r\n\x1a\n....", "image/png"],
    ["\xff\xd8\xff\xe0..JFIF", "image/jpeg"],
    ["GIF89a....", "image/gif"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "image/webp"],
    ["\0\0\0\x20ftypavif", "image/avif"],
    ["%PDF-1.7", "application/pdf"],
    ["PK\x03\x04....word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["PK\x03\x04....readme", "application/zip"],
    ["\0\0\0\x18ftypmp42", "video/mp4"],
    ["ID3\x03\0", "audio/mpeg"],
    ["\xff\xfb\x90\x44", "audio/mpeg"],
    ["RIFF\x10\0\0\0WAVEfmt ", "audio/wav"],
    ["MZ\x90\0\x03", "application/octet-stream"],
    ["\xff\xfe\xfd", "application/octet-stream"],
    ["plain words", "text/plain"],
    ["<!-- c --><svg xmlns='http://www.w3.org/2000/svg'>", "image/svg+xml"],
    ["<?xml version='1.0'?><svg >", "image/svg+xml"],
    ["<?xml version='1.0'?><rss>", "text/xml"],
    ["\n\n<!DOCTYPE html><p>", "text/html"],
    ["hello <script>alert(1)</script>", "text/html"],
    ["hello <img src=x onerror=alert(1)>", "text/html"],
  ])("of %j is %s", (content, type) => {
    expect(sniff(bytes(content), "picture.png")).toBe(type);
  });

  test("is decided by its name between harmless kinds of text only", () => {
    expect(sniff(bytes("a,b\r\n1,2"), "table.CSV")).toBe("text/csv");
    expect(sniff(bytes("BEGIN:VCALENDAR"), "invite.ics")).toBe("text/calendar");
    expect(sniff(bytes("alert(1)"), "code.html")).toBe("text/plain");
  });

  test("is text also with a character cut at the end of the head", () => {
    expect(sniff(Buffer.from("ää").subarray(0, 3), "a.txt")).toBe("text/plain");
  });
});

describe("a cleaned file name", () => {
  test.each([
    ["photo.png", "photo.png"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\ann\\bill.pdf", "bill.pdf"],
    ["a\r\nb\0.txt", "ab.txt"],
    ["invoice\u202efdp.exe", "invoicefdp.exe"],
    ["", "file"],
    ["..", "file"],
    ["  Übersicht 2026.pdf ", "Übersicht 2026.pdf"],
  ])("is, for %j, %j", (given, clean) => {
    expect(cleanFilename(given)).toBe(clean);
  });

  test("is cut if long and keeps its extension", () => {
    const clean = cleanFilename(`${"x".repeat(400)}.jpeg`);
    expect(clean).toHaveLength(255);
    expect(clean.endsWith(".jpeg")).toBe(true);
  });
});
