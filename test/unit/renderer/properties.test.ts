import fc from "fast-check";
import { compileTemplate } from "../../../services/lib/template/compile.ts";
import { encodeQuotedPrintable } from "../../../services/renderer/mime/quoted-printable.ts";
import { faultsOfBytes, fieldOf, read } from "../../support/message.ts";
import { makeMail, say } from "../../support/render.ts";

/** Runs a third of them, all with FUZZ=long; values are newly drawn each time. */
const SHARE = process.env.FUZZ === "long" ? 1 : 3;
const runs = (all: number) => ({ numRuns: Math.ceil(all / SHARE), endOnFailure: true });

/**
 * Texts that break naive encoders: every Unicode plane, controls, all kinds of line ends, dots and spaces in bad
 * positions.
 */
const nasty = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 120 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 120 }) },
  fc.string({
    unit: fc.constantFrom("\r", "\n", "\r\n", ".", " ", "\t", "=", "-", "a", "é", "From ", "\u2028"),
    maxLength: 150,
  }),
  fc.constantFrom(
    "",
    ".",
    "..",
    "=",
    "=20",
    " ",
    "\r\n.\r\n",
    "a\r\nBcc: x@y.example",
    "<script>",
    "]]",
    "[[",
    "x".repeat(1_100),
  ),
);
const names = ["a", "b", "items", "first_name", "email", "constructor"];
const tagged = fc
  .array(
    fc.oneof(
      nasty.map((text) => text.replaceAll("[[", "(").replaceAll("\\", "/")),
      fc.constantFrom(
        ...names.map((name) => `[[${name}]]`),
        "[[[a]]]",
        "\\[[",
        '<a href="https://e.example/[[a]]">',
        '<a href="https://e.example/x">',
        "</a>",
        "<p>",
        "</p>",
        "</body>",
        "<br>\n",
      ),
      fc.constantFrom(...names).map((name) => `[[#if ${name}]]yes [[b]][[#else]].no[[/if]]`),
      fc.constant("[[#each items]]\n.[[this]][[@index]][[this.x]][[/each]]"),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));
const data = fc.record({
  a: fc.oneof(nasty, fc.jsonValue()),
  b: nasty,
  items: fc.oneof(
    fc.array(nasty, { maxLength: 4 }),
    fc.array(fc.record({ x: nasty }), { maxLength: 3 }),
    fc.jsonValue(),
  ),
});

describe("for any template and data", () => {
  test("random text as a template never crashes, and errors have their position", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          nasty,
          tagged,
          fc.string({
            unit: fc.constantFrom("[", "]", "#", "/", "if ", "each ", "a", "\\", "@", ".", "\n"),
            maxLength: 80,
          }),
        ),
        (source) => {
          for (const kind of ["subject", "body"] as const) {
            const { template, errors } = compileTemplate(source, kind);
            if (!template)
              for (const error of errors) expect(error).toMatch(/ at line \d+, column \d+\.$|^Longer than 998/);
          }
        },
      ),
      runs(2_000),
    );
  });

  test("random bytes as a template make an email or are refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const body = Buffer.from(bytes).toString("latin1");
        if (compileTemplate(body, "body").errors) return;
        const { message } = await makeMail({ body });
        expect(faultsOfBytes(message)).toEqual([]);
      }),
      runs(300),
    );
  });

  test("the message has no overlong line, no bare CR or LF, no line that begins with a dot, no injected field", async () => {
    await fc.assert(
      fc.asyncProperty(tagged, nasty, data, nasty, async (body, subject, attributes, name) => {
        if (compileTemplate(body, "body").errors) return;
        const given = {
          body,
          subject: `[[a]] ${subject.replaceAll("[", "(")}`.slice(0, 900),
          senderName: name,
          listName: name,
          footerText: name,
        };
        const { message } = await makeMail(given, { attributes, first_name: name });
        expect(faultsOfBytes(message)).toEqual([]);
        expect(fieldOf(message, "Bcc")).toBeUndefined();
        for (const field of ["From", "To", "Subject", "Message-ID", "MIME-Version", "Content-Type"]) {
          expect(fieldOf(message, field)).toBeDefined();
        }
      }),
      runs(400),
    );
  });

  test("MIME decodes to exactly what was rendered", async () => {
    await fc.assert(
      fc.asyncProperty(tagged, data, fc.boolean(), async (body, given, cyrillic) => {
        // Line breaks are normalized part by part: a CR in one part and an LF in the next count as two.
        const attributes = withoutCr(given) as Record<string, unknown>;
        const source = withoutCr(cyrillic ? `${"Здравствуйте ".repeat(9)}${body}` : body) as string;
        if (compileTemplate(source, "body").errors) return;
        const rendered = say(source, attributes);
        const { message } = await makeMail(
          { body: source, isTransactional: true, trackingEnabled: false },
          { attributes },
        );
        expect(decoded(message)).toEqual([rendered.text, rendered.html].map((part) => canonical(`${part}\n`)));
      }),
      runs(400),
    );
  });

  test("a value adds no markup, and is read back unchanged", async () => {
    await fc.assert(
      fc.property(nasty, (a) => {
        const { html } = say("<p title='[[a]]'>[[a]]</p>", { a });
        const [, inAttribute, inText] = /^<p title='([^<>'"]*)'>([^<>'"]*)<\/p>$/s.exec(html) ?? [];
        const unescaped = (text = "") =>
          text.replace(
            /&(lt|gt|quot|#39|amp);/g,
            (_all, name) => ({ lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" })[name as string]!,
          );
        expect([inAttribute, inText].map(unescaped)).toEqual([a, a]);
      }),
      runs(1_000),
    );
  });

  test("a subject is read back as rendered", async () => {
    await fc.assert(
      fc.asyncProperty(nasty, async (a) => {
        const { message } = await makeMail({ subject: "[[a]]" }, { attributes: { a } });
        const expected = say("[[a]]", { a }).subject.toWellFormed();
        expect((await read(message)).subject ?? "").toBe(expected);
      }),
      runs(400),
    );
  });

  test("rendering throws only for too much output", () => {
    fc.assert(
      fc.property(tagged, data, (body, attributes) => {
        if (compileTemplate(body, "body").errors) return;
        expect(() => say(body, attributes)).not.toThrow();
      }),
      runs(400),
    );
  });
});

describe("quoted-printable", () => {
  test("has lines of at most 76 characters and decodes to the given text", () => {
    fc.assert(
      fc.property(nasty, fc.nat(75), (text, column) => {
        const encoded = encodeQuotedPrintable(text.toWellFormed(), column).text;
        const [first, ...rest] = encoded.split("\r\n");
        expect(first!.length + column).toBeLessThanOrEqual(76);
        expect(Math.max(0, ...rest.map((line) => line.length))).toBeLessThanOrEqual(76);
        expect(unquoted(encoded)).toBe(canonical(text.toWellFormed()));
      }),
      runs(2_000),
    );
  });
});

function withoutCr(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\r\n?/g, "\n");
  if (Array.isArray(value)) return value.map(withoutCr);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutCr(item)]));
}

const canonical = (text: string) => text.toWellFormed().replace(/\r\n?|\n/g, "\r\n");

/** Decoded by the rules of RFC 2045, knowing nothing of the encoder. */
function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** Both parts of a multipart/alternative, split by its boundary. */
function decoded(message: Buffer): string[] {
  const text = message.toString("latin1");
  const boundary = /boundary="([^"]+)"/.exec(text)![1]!;
  const parts = text.split(`\r\n--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const at = part.indexOf("\r\n\r\n");
    const body = part.slice(at + 4);
    return /base64/.test(part.slice(0, at)) ? Buffer.from(body, "base64").toString() : unquoted(body);
  });
}
