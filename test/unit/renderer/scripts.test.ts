import { decodeWords, faultsOfBytes, fieldOf, read } from "../../support/message.ts";
import { makeMail } from "../../support/render.ts";

const scripts = {
  latin: {
    name: "Zoë Núñez-Østergård",
    text: "Ça va, naïve façade? Größe, søster, żółć.",
    file: "résumé final (2).pdf",
  },
  cyrillic: { name: "Мария Щербакова", text: "Съешь ещё этих мягких французских булок.", file: "отчёт за май.pdf" },
  greek: { name: "Αλέξανδρος Ωνάσης", text: "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.", file: "έγγραφο.pdf" },
  arabic: { name: "محمد عبد الرحمن", text: "نص حكيم له سر قاطع وذو شأن عظيم.", file: "تقرير سنوي.pdf" },
  hebrew: { name: "שלום כהן", text: "דג סקרן שט בים מאוכזב ולפתע מצא חברה.", file: "מסמך.pdf" },
  chinese: { name: "王小明", text: "視野無限廣，窗外有藍天。简体中文也行。", file: "年度报告.pdf" },
  japanese: { name: "山田 太郎", text: "いろはにほへと ちりぬるを。カタカナ漢字。", file: "請求書.pdf" },
  korean: { name: "김민수", text: "키스의 고유조건은 입술끼리 만나야 하고.", file: "보고서.pdf" },
  thai: { name: "สมชาย ใจดี", text: "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า", file: "รายงาน.pdf" },
  emoji: { name: "👩‍👩‍👧 Family 🏳️‍🌈", text: "🎉 Done! 🇺🇦 👍🏽 1️⃣", file: "🎂 invitation.pdf" },
};

describe.each(Object.entries(scripts))("an email in %s", (_script, { name, text, file }) => {
  const data = Buffer.from(Array.from({ length: 3_000 }, (_, i) => i % 256));
  const mail = () =>
    makeMail(
      {
        subject: `${text} [[first_name]] ${text}`,
        body: `<html><body><h1>${text}</h1><p>[[first_name]]: [[note]]</p></body></html>`,
        senderName: name,
        listName: name,
        isTransactional: true,
        trackingEnabled: false,
        attachments: [{ filename: file, contentType: "application/pdf", data }],
      },
      { first_name: name, attributes: { note: `${text}\n.${text}` } },
    );

  test("has only bytes that any server accepts", async () => {
    expect(faultsOfBytes((await mail()).message)).toEqual([]);
  });

  test("is read back unchanged: subject, names, both parts", async () => {
    const { message } = await mail();
    const parsed = await read(message);
    expect(parsed.subject).toBe(`${text} ${name} ${text}`);
    expect(parsed.from?.value).toEqual([{ name, address: "ann@example.org" }]);
    expect(parsed.html.trimEnd()).toBe(`<html><body><h1>${text}</h1><p>${name}: ${text}\n.${text}</p></body></html>`);
    expect(parsed.text.trimEnd()).toBe(`${text}\n\n${name}: ${text}\n.${text}`);
    expect(decodeWords(fieldOf(message, "List-Id")!)).toBe(
      `${name} <018f0000-0000-7000-8000-000000000003.example.org>`,
    );
  });

  test("carries its attachment unchanged, under its name", async () => {
    const { attachments } = await read((await mail()).message);
    expect(attachments.map(({ filename, contentType }) => ({ filename, contentType }))).toEqual([
      { filename: file, contentType: "application/pdf" },
    ]);
    expect(attachments[0]!.content.equals(data)).toBe(true);
  });
});
