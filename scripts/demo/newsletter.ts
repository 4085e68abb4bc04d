/** The demo's template for all languages; subscribers' attributes supply the differing words. */
interface Book {
  path: string;
  title: string;
  by: string;
  about: string;
}

const books: Book[] = [
  {
    path: "the-long-night",
    title: "The Long Night",
    by: "Ines Haugland",
    about:
      "A lighthouse keeper's last winter, told by the sea itself. Nobody comes to relieve him, and he begins to answer.",
  },
  {
    path: "lanterns",
    title: "Lanterns over Görlitz",
    by: "Jonas Wirth",
    about: "Two bridges, one river, a town that was cut in two, and a family that never quite noticed.",
  },
  {
    path: "harbour?lang=[[language]]",
    title: "The Harbour",
    by: "Amara Osei",
    about: "Who leaves by the first ferry, who never does, and what they write to each other for forty years.",
  },
  {
    path: "salt",
    title: "Salt & Rye",
    by: "Kirsten and Piet Brouwer",
    about: "Forty recipes for cold evenings, each with its story.",
  },
  {
    path: "cartographer",
    title: "The Cartographer's Debt",
    by: "Leonor Vidal",
    about: "A map that is wrong on purpose, and why.",
  },
  {
    path: "snow",
    title: "Nine Words for Snow",
    by: "Aila Sara",
    about: "Stories from the far north, none longer than a cup of tea.",
  },
];

const item = ({ path, title, by, about }: Book) => `
    <li style="margin: 0 0 1em">
      <a href="https://books.example.com/${path}" style="color: #7a2e0e; font-weight: bold">${title.replace("&", "&amp;")}</a> · ${by}<br>
      <span style="color: #4a4a4a">${about}</span>
    </li>`;

export const newsletter = {
  name: "Evening reading",
  subject: "[[greeting]] [[first_name]]: [[headline]]",
  template_type: "marketing" as const,
  body: `<!doctype html>
<html lang="[[language]]">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>[[headline]]</title>
</head>
<body style="margin: 0; padding: 24px 16px; background: #ffffff; color: #1a1a1a; font: 16px/1.5 Georgia, serif">
<div style="max-width: 36em; margin: 0 auto">
  <h1 dir="auto" style="font-size: 26px; line-height: 1.3">[[headline]]</h1>
  <p dir="auto">[[greeting]] [[first_name]] [[last_name]] ([[city]])</p>
  [[#if member]]<p><strong>★ Member price: 20 % off until Sunday.</strong></p>[[#else]]<p><a href="https://books.example.com/join?from=newsletter" style="color: #7a2e0e">Become a member</a></p>[[/if]]
  <p>The evenings are long, the shelves are full, and the shop stays open until eight. Six books that we could not put down:</p>
  <ol style="padding: 0 1.5em">${books.map(item).join("")}
  </ol>
  <p style="font-size: 14px"><a href="[[view_in_browser_url]]" style="color: #4a4a4a">View in browser</a> · <a href="[[unsubscribe_url]]" style="color: #4a4a4a">Unsubscribe</a></p>
</div>
</body>
</html>`,
};
