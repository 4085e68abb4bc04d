/**
 * Corrects the HTML of mrml: tables that name a role, icons and fonts that readers' email clients would fetch from strangers,
 * and columns in clients without media queries, such as the new Outlook.
 */

/** Address of MJML's own icons in the HTML, in place of their server's. */
const ICONS = "flockmail-icon:";
/** Fonts are loaded only if `mj-font` names them. */
export const RENDER_OPTIONS = { disableComments: false, socialIconOrigin: ICONS, fonts: {} };

const ROLE = /\srole\s*=\s*["']([\w-]+)["']/;
const MARKED_TABLE = /<table ([^>]*)><!--role ([\w-]+)-->/g;

/** Comment that carries the role of an `mj-table` through mrml, before its rows. */
export const roleMark = (name: string, tag: string): string => {
  const role = name === "mj-table" && ROLE.exec(tag)?.[1];
  return role ? `<!--role ${role}-->` : "";
};

/** Requires the contents of tables, unlike `corrected`. */
export const withRoles = (html: string): string => html.replace(MARKED_TABLE, '<table role="$2" $1>');

const ICON_CELL = new RegExp(
  `<td style="([^"]*)"><table[^>]*><tbody><tr><td style="font-size:0;[^"]*">(<a [^>]*)?>?<img ([^>]*)src="${ICONS}([\\w-]+)\\.png"[^>]*>(?:</a>)?</td></tr></tbody></table></td>(?=(<td)?)`,
  "g",
);
const WORDS_STYLE = "color:#333333;font-family:Helvetica, Arial, sans-serif;font-size:13px;text-decoration:none;";
const NAMES: Record<string, string> = {
  "twitter-x": "X",
  github: "GitHub",
  linkedin: "LinkedIn",
  soundcloud: "SoundCloud",
  web: "Website",
  youtube: "YouTube",
};

/** Words in place of an icon that has none beside it. */
function withoutIcons(html: string): string {
  return html.replace(ICON_CELL, (_, cell: string, link: string | undefined, image: string, icon: string, words) => {
    if (words) return "";
    const alt = /\balt="([^"]+)"/.exec(image)?.[1];
    const name = alt ?? NAMES[icon] ?? `${icon[0]!.toUpperCase()}${icon.slice(1)}`;
    const text = link ? `${link} style="${WORDS_STYLE}">${name}</a>` : `<span style="${WORDS_STYLE}">${name}</span>`;
    return `<td style="${cell}">${text}</td>`;
  });
}

const WIDE = /@media only screen and \(min-width:(\d+)px\) \{((?: \.mj-column-[\w-]+ \{[^}]*\})+)\s*\}/;
const COLUMN_RULE = /\.(mj-column-[\w-]+) \{ width:([\d.]+(?:%|px))/g;
const COLUMN = /(class="[^"]*\b(mj-column-[\w-]+)[^"]*" style="[^"]*;)width:100%;"/g;

/** Email clients without media queries show columns side by side, all others stack them on phones. */
function withColumns(html: string): string {
  const [media, breakpoint, rules] = WIDE.exec(html) ?? [];
  if (!media) return html;
  const widths = new Map([...rules!.matchAll(COLUMN_RULE)].map(([, name, width]) => [name!, width!]));
  const narrow = [...widths].filter(([, width]) => width !== "100%").map(([name]) => name);
  if (narrow.length === 0) return html;
  const stacked = `@media only screen and (max-width:${Number(breakpoint) - 1}px) { ${narrow.map((name) => `.${name}`).join(", ")} { max-width:100% !important; } }`;
  return html
    .replace(media, () => `${media} ${stacked}`)
    .replace(COLUMN, (all, start: string, name: string) =>
      narrow.includes(name) ? `${start}width:100%;max-width:${widths.get(name)};"` : all,
    );
}

export const corrected = (html: string): string => withColumns(withoutIcons(html));
