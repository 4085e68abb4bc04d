import { confirmationText, greetingName } from "../../../services/campaigns/confirmation-text.ts";
import { catalogues } from "../../../services/lib/i18n/languages.ts";
import { compileTemplate } from "../../../services/lib/template/compile.ts";

describe("the name that a double opt-in mail greets with", () => {
  test.each([
    "Ann",
    " Zoë ",
    "O'Neil",
    "Jean-Luc Marie",
    "J. R. R. Tolkien",
    "Martin Jr.",
    "Мария",
    "Αλέξανδρος",
    "محمد عبد الرحمن",
    "שלום כהן",
    "王小明",
    "山田 太郎",
    "ジャン・ポール",
    "김민수",
    "สมชาย ใจดี",
    "शर्मा",
  ])("is %j", (name) => expect(greetingName(name)).toBe(name.trim()));

  test.each([
    "",
    "https://evil.example/",
    "evil.example",
    "www.evil.example",
    "evil。example",
    "Ann: call +1 900 555 0100",
    "Ann@evil.example",
    "Win $$$ now",
    "<b>Ann</b>",
    "Ann\nBuy this",
    "[[email]]",
    "Claim your free prize here today",
    "x".repeat(41),
  ])("is nothing for %j", (name) => expect(greetingName(name)).toBe(""));
});

test.each(Object.entries(catalogues))(
  "the mail in %s compiles, and says nothing that was typed but such a name",
  (_, catalogue) => {
    const { subject, body } = confirmationText(catalogue);
    expect([compileTemplate(subject, "subject").errors, compileTemplate(body, "body").errors]).toEqual([
      undefined,
      undefined,
    ]);
    const names = [...`${subject}${body}`.matchAll(/\[\[(?:#if )?([a-z_]+)\]\]/g)].map((match) => match[1]);
    expect(new Set(names)).toEqual(new Set(["company_name", "email", "greeting_name", "confirm_url"]));
  },
);
