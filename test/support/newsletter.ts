/**
 * The newsletter of all measurements: about 10 KB of table-based HTML with 20 variables, 2 conditions, 1 loop and 15
 * links. `language` "ru" is Cyrillic, "ja" Japanese.
 */
export interface Newsletter {
  subject: string;
  body: string;
}

export type Language = "en" | "ru" | "ja";

interface Words {
  greeting: string;
  paragraph: string;
  more: string;
}

const languages: Record<Language, Words> = {
  en: {
    greeting: "Hello",
    paragraph:
      "This month we walked along the river, planted two hundred trees with our neighbours, and opened the new reading room. " +
      "Come by on Saturday: there is coffee, there are stories, and the children's choir sings at four. " +
      "If you cannot make it, everything is recorded and will be on our page by Monday evening, " +
      "together with the photographs of the summer and the programme of the autumn.",
    more: "Read the whole story",
  },
  ru: {
    greeting: "Здравствуйте",
    paragraph:
      "В этом месяце мы гуляли вдоль реки, посадили вместе с соседями двести деревьев и открыли новый читальный зал. " +
      "Приходите в субботу: будет кофе, будут рассказы, а в четыре поёт детский хор. " +
      "Если вы не сможете прийти, запись появится на нашей странице к вечеру понедельника, " +
      "вместе с фотографиями лета и программой осени.",
    more: "Читать дальше",
  },
  ja: {
    greeting: "こんにちは",
    paragraph:
      "今月は川沿いを歩き、ご近所の皆さんと一緒に二百本の木を植え、新しい読書室を開きました。" +
      "土曜日にぜひお越しください。コーヒーがあり、お話があり、四時には子どもたちの合唱があります。" +
      "お越しになれない方のために、すべてを録画して月曜日の夕方までに私たちのページに掲載します。" +
      "夏の写真と秋の予定も一緒にご覧いただけます。新しい本の紹介と、庭づくりの会からのお知らせもあります。" +
      "来月は図書館の地下にある古い印刷機をもう一度動かし、町の地図を一枚ずつ刷ってお配りする予定です。",
    more: "続きを読む",
  },
};

const variable = (n: number) => `[[field_${n}]]`;

function article(n: number, words: Words): string {
  return `
      <tr>
        <td style="padding:24px 32px;font-family:Helvetica,Arial,sans-serif;font-size:16px;line-height:24px;color:#333333">
          <h2 style="margin:0 0 12px;font-size:22px;line-height:28px">${variable(n)} ${n}</h2>
          <p style="margin:0 0 12px">${words.paragraph} ${variable(n + 6)}</p>
          <a href="https://www.example.org/stories/${n}?utm_source=newsletter&amp;utm_campaign=june" style="color:#0b6e4f">${words.more}</a>
        </td>
      </tr>`;
}

const link = (n: number) => `<a href="https://www.example.org/topics/${n}" style="color:#0b6e4f">#${n}</a>`;

export function newsletter(language: Language = "en"): Newsletter {
  const words = languages[language];
  const articles = Array.from({ length: 10 }, (_, i) => article(i + 1, words)).join("");
  const topics = Array.from({ length: 4 }, (_, i) => link(i + 1)).join(" ");
  return {
    subject: `[[first_name]], ${words.greeting} [[field_17]]`,
    body: `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${words.greeting}</title>
<style>body{margin:0;background:#f4f4f4}a{text-decoration:none}@media(max-width:600px){table{width:100%!important}}</style></head>
<body>
  <table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0" style="background:#ffffff">
      <tr><td style="padding:32px"><h1>${words.greeting} [[first_name]] [[last_name]],</h1>
      [[#if vip]]<p><strong>${words.paragraph.slice(0, 60)} [[field_18]]</strong></p>[[#else]]<p><a href="https://www.example.org/join">${words.more}</a></p>[[/if]]</td></tr>${articles}
      <tr><td style="padding:24px 32px"><ul>[[#each items]]<li>[[@index]]: [[this.name]] ([[this.price]])</li>[[/each]]</ul>
      [[#if city]]<p>[[city]], ${words.paragraph.slice(0, 40)}</p>[[/if]]
      <p>${topics}</p>
      <p><a href="[[view_in_browser_url]]">web</a> <a href="[[unsubscribe_url]]">unsubscribe</a> <a href="mailto:hello@example.org">[[email]]</a></p></td></tr>
  </table>
</body>
</html>`,
  };
}

/** Variables of the n-th reader. */
export function reader(n: number, language: "en" | "ru" = "en") {
  const word = language === "ru" ? "Значение" : "Value";
  const fields = Object.fromEntries(
    Array.from({ length: 18 }, (_, i) => [`field_${i + 1}`, `${word} ${i + 1} / ${n}`]),
  );
  return {
    email: `reader${n}@example.com`,
    first_name: language === "ru" ? "Мария" : "Maria",
    last_name: `Reader ${n}`,
    attributes: {
      ...fields,
      vip: n % 2 === 0,
      city: language === "ru" ? "Рига" : "Riga",
      items: [
        { name: "Tea", price: "3.50" },
        { name: "Coffee", price: "4.20" },
        { name: "Cake", price: "5.00" },
      ],
    },
  };
}
