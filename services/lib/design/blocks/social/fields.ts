import { align, choice, type Fields, items, link } from "../../fields.ts";

/** Names of the networks by their value in a design. */
export const NETWORKS = {
  website: "Website",
  facebook: "Facebook",
  instagram: "Instagram",
  linkedin: "LinkedIn",
  x: "X",
  youtube: "YouTube",
  tiktok: "TikTok",
  mastodon: "Mastodon",
  bluesky: "Bluesky",
} as const;
type Network = keyof typeof NETWORKS;

/** Links by name, because images of the networks' logos would have to be hosted. */
export const fields = {
  links: items(
    {
      network: choice(...(Object.keys(NETWORKS) as [Network, ...Network[]])),
      href: link(),
    },
    10,
  ),
  align: align(),
} as const satisfies Fields;
