import { align, choice, type Fields, items, link } from "../../fields.ts";

/** Links by name, because images of the networks' logos would have to be hosted. */
export const fields = {
  links: items(
    {
      network: choice("website", "facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "mastodon", "bluesky"),
      href: link(),
    },
    10,
  ),
  align: align(),
} as const satisfies Fields;
