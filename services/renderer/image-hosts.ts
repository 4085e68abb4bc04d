/** Images from the media files have the host of the mail's links: email clients and filters trust one domain more. */
import { config } from "../lib/config.ts";
import { linksBase } from "../lib/links-base.ts";

const PATH = "/api/emails/public/media/";
const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The body with its images on the company's own host. Links to files stay: they may be counted by their address. */
export function withImagesOn(trackingDomain: string | null, body: string): string {
  if (trackingDomain === null) return body;
  const given = `${config().BASE_URL}${PATH}`;
  if (!body.includes(given)) return body;
  const use = new RegExp(`(\\b(?:src|background)\\s*=\\s*["']?|\\burl\\(\\s*(?:["']|&quot;)?)${quoted(given)}`, "gi");
  return body.replace(use, (_, before: string) => `${before}${linksBase(trackingDomain)}${PATH}`);
}
