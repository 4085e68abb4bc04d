/**
 * The one list of addresses in an email's HTML, and what is done with them:
 *
 * | where | tracked and tagged (utm) | checked | values encoded |
 * |---|---|---|---|
 * | `href` of `a`, `area`, and of VML shapes in conditional comments | yes | yes | yes |
 * | `src` of `img`, `input`, `source`, `video`, `audio` and VML, `poster`, `background` of any element, `url()` in a `style` | no | yes | yes |
 * | all others that begin with a scheme: `srcset`, style sheets, visible text, the text part | no | no | yes |
 *
 * Tags are added when a tracked link is followed, so that what is tagged is what is tracked.
 */
export type AddressUse = "link" | "image";

const LINKS = new Set(["a", "area"]);
const SOURCES = new Set(["img", "input", "source", "video", "audio"]);

/** Outlook's drawing language: buttons and backgrounds in conditional comments. */
const isVml = (element: string) => element.startsWith("v:");

/** Undefined for an attribute that holds no address. Names are in lower case. */
export function addressUse(element: string, attribute: string): AddressUse | undefined {
  if (attribute === "href") return LINKS.has(element) || isVml(element) ? "link" : undefined;
  if (attribute === "src") return SOURCES.has(element) || isVml(element) ? "image" : undefined;
  return attribute === "background" || attribute === "poster" ? "image" : undefined;
}

/** Attributes that hold an address of either use, or a style with some. */
export const MAY_HOLD_ADDRESS: ReadonlySet<string> = new Set(["href", "src", "background", "poster", "style"]);

/** The address within `url()`, between quotes of either spelling or none. */
export const CSS_URL = /(\burl\(\s*(?:["']|&quot;|&#0*3[49];)?)((?:[^"'()\s&]|&(?!quot;|#0*3[49];))+)/gi;
