import { blockMail } from "../../block.ts";
import { attributes } from "../../markup.ts";
import { fields, NETWORKS } from "./fields.ts";

const shown = <L extends { href: string }>(links: readonly L[]) => links.filter(({ href }) => href !== "");

export const mail = blockMail(fields, {
  mjml({ links, align }) {
    const html = shown(links).map(({ network, href }) => `<a${attributes({ href })}>${NETWORKS[network]}</a>`);
    return `<mj-text${attributes({ align })} font-size="14px">${html.join(" &nbsp;·&nbsp; ")}</mj-text>`;
  },
  text: ({ links }) =>
    shown(links)
      .map(({ network, href }) => `${NETWORKS[network]}: ${href}`)
      .join("\n"),
});
