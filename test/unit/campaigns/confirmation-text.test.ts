import { brandVariables, confirmationText, greetingName } from "../../../services/campaigns/confirmation-text.ts";
import { catalogues } from "../../../services/lib/i18n/languages.ts";
import { compileTemplate } from "../../../services/lib/template/compile.ts";

describe("the greeting name of the double opt-in email", () => {
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
  ])("is empty for %j", (name) => expect(greetingName(name)).toBe(""));
});

test.each(Object.entries(catalogues))(
  "the mail in %s compiles, and says nothing that was typed but such a name",
  (_, catalogue) => {
    const { subject, body } = confirmationText(catalogue);
    expect([compileTemplate(subject, "subject").errors, compileTemplate(body, "body").errors]).toEqual([
      undefined,
      undefined,
    ]);
    const names = [...`${subject}${body}`.matchAll(/\[\[(?:#(?:if|each) )?([a-z_]+)\]\]/g)].map((match) => match[1]);
    expect(new Set(names)).toEqual(
      new Set(["company_name", "email", "greeting_name", "confirm_url", "logo_url", "footer_lines", "this"]),
    );
  },
);

describe("an email with a company's branding", () => {
  test("has its colours, or those of the service", () => {
    const plain = confirmationText(catalogues.en!, { name: "Lantern" }).body;
    expect(plain).toBe(confirmationText(catalogues.en!).body);
    const { body } = confirmationText(catalogues.en!, { color: "#ffff00", background: "#000000" });
    expect(body).toContain("color:#000000;background:#ffff00");
    expect(body).toContain("background:#000000");
    expect(body).not.toContain("#0b6b72");
  });

  test("passes the company's words as values, never in the template", () => {
    const hostile = "</style><script>[[#if x]]";
    const branding = { name: hostile, footer_text: hostile, color: hostile, background: hostile, language: hostile };
    const { subject, body } = confirmationText(catalogues.en!, branding);
    expect(subject + body).not.toMatch(/<script|#if x/);
  });

  test("has a logo and a footer only if the company does", () => {
    expect(brandVariables({})).toEqual({});
    expect(brandVariables({ logo_url: "javascript:alert(1)", footer_text: " \n " })).toEqual({});
    expect(brandVariables({ logo_url: "https://a.example/l.png", footer_text: "Street 1\r\n\nTown" })).toEqual({
      logo_url: "https://a.example/l.png",
      footer_lines: ["Street 1", "Town"],
    });
  });
});
