import { blockMail } from "../../block.ts";
import { attributes } from "../../markup.ts";
import { fields } from "./fields.ts";

const NAMES = {
  website: "Website",
  facebook: "Facebook",
  instagram: "Instagram",
  linkedin: "LinkedIn",
  x: "X",
  youtube: "YouTube",
  tiktok: "TikTok",
  mastodon: "Mastodon",
  bluesky: "Bluesky",
};

const shown = <L extends { href: string }>(links: readonly L[]) => links.filter(({ href }) => href !== "");

export const mail = blockMail(fields, {
  mjml({ links, align }) {
    const html = shown(links).map(({ network, href }) => `<a${attributes({ href })}>${NAMES[network]}</a>`);
    return `<mj-text${attributes({ align })} font-size="14px">${html.join(" &nbsp;·&nbsp; ")}</mj-text>`;
  },
  text: ({ links }) =>
    shown(links)
      .map(({ network, href }) => `${NAMES[network]}: ${href}`)
      .join("\n"),
});
