/**
 * Renders images in the text part: their alternative text, once, and only if it adds something. A decorative image is
 * omitted; a link of such images alone has no words, and its bare URL would be noise.
 */
import type { FormatCallback, DomNode as Node } from "html-to-text";

type DomNode = Node & { parent?: DomNode; prev?: DomNode | null; children?: DomNode[] };

/** Limits of reading a link's content: longer content is not a caption, and no markup may make this slow. */
const MAX_NODES = 500;
const MAX_WORDS = 1_000;

const IMAGE_FILE = /\.(?:png|jpe?g|gif|webp|avif|svg)(?:[?#]|$)/i;
const ADDRESS = /^(?:https?:|cid:|data:|\/\/)\S*$/i;

const normalized = (text: string) => text.replace(/\s+/g, " ").trim();
const attribute = (element: DomNode, name: string): string | undefined => element.attribs?.[name];

interface Content {
  words: string;
  images: DomNode[];
  /** The first of them that says this. */
  firstOf: Map<string, DomNode>;
}

const contents = new WeakMap<DomNode, Content>();

/** Words in an element without those of its images, and these images, each up to a limit. */
function contentOf(element: DomNode): Content {
  const cached = contents.get(element);
  if (cached) return cached;
  const images: DomNode[] = [];
  const open = element.children.toReversed();
  let words = "";
  for (let visited = 0; open.length > 0 && visited < MAX_NODES && words.length < MAX_WORDS; visited++) {
    const node = open.pop()!;
    if (node.type === "text") words += node.data ?? "";
    else if (node.name === "img") images.push(node);
    else for (let i = (node.children ?? []).length - 1; i >= 0; i--) open.push(node.children[i]!);
  }
  const firstOf = new Map(images.toReversed().map((image) => [ownAlt(image), image]));
  const content = { words: normalized(words), images, firstOf };
  contents.set(element, content);
  return content;
}

function closest(element: DomNode, names: readonly string[]): DomNode | undefined {
  let node = element.parent;
  while (node && !names.includes(node.name ?? "")) node = node.parent;
  return node;
}

function says(words: string, alt: string): boolean {
  return words.length <= MAX_WORDS && ` ${words.toLowerCase()} `.includes(` ${alt.toLowerCase()} `);
}

/** Size of at most one pixel, in either spelling. */
function isPixel(image: DomNode): boolean {
  const style = attribute(image, "style") ?? "";
  return ["width", "height"].some((side) =>
    /^\s*[01](?:px)?\s*$/.test(
      attribute(image, side) ??
        new RegExp(`(?:^|[;\\s])${side}\\s*:\\s*([01](?:px)?)\\s*(?:;|!|$)`).exec(style)?.[1] ??
        "",
    ),
  );
}

const isHidden = (image: DomNode) =>
  /^(?:presentation|none)$/i.test(attribute(image, "role") ?? "") ||
  attribute(image, "aria-hidden") === "true" ||
  /display\s*:\s*none/i.test(attribute(image, "style") ?? "");

/** Decorative: marked as such, or a tracking pixel. */
const isDecorative = (image: DomNode) => attribute(image, "alt")?.trim() === "" || isPixel(image) || isHidden(image);

/** Text of an image, independent of its context. */
function ownAlt(image: DomNode): string {
  const alt = normalized(attribute(image, "alt") ?? "");
  return ADDRESS.test(alt) || isDecorative(image) ? "" : alt;
}

function imageBefore(image: DomNode): DomNode | undefined {
  let node = image.prev;
  while (node?.type === "text" && !node.data?.trim()) node = node.prev;
  return node?.name === "img" ? node : undefined;
}

function rootOf(element: DomNode): DomNode {
  let node = element;
  while (node.parent) node = node.parent;
  return node;
}

const linksOf = new WeakMap<DomNode, Map<string, string>>();

/** The words of all links to an address: of a product's picture and its name, the name says it. */
function wordsOfLinksTo(href: string, within: DomNode): string {
  const root = rootOf(within);
  let words = linksOf.get(root);
  if (!words) {
    words = new Map();
    linksOf.set(root, words);
    const open = [root];
    for (let node = open.pop(); node; node = open.pop()) {
      for (const child of node.children ?? []) open.push(child);
      const to = node.name === "a" ? attribute(node, "href") : undefined;
      if (to) words.set(to, `${words.get(to) ?? ""} ${contentOf(node).words}`.slice(0, MAX_WORDS));
    }
  }
  return words.get(href)?.trim() ?? "";
}

/** Text of an image in context: empty if the surrounding link or figure, or the previous image, already says it. */
function altOf(image: DomNode): string {
  const alt = ownAlt(image);
  if (!alt) return "";
  const around = closest(image, ["a", "figure"]);
  if (around) {
    const { words, firstOf } = contentOf(around);
    if (says(words, alt) || (firstOf.get(alt) ?? image) !== image) return "";
    const href = around.name === "a" && attribute(around, "href");
    if (href && says(wordsOfLinksTo(href, around), alt)) return "";
  }
  const before = imageBefore(image);
  return before && ownAlt(before) === alt ? "" : alt;
}

export const formatImage: FormatCallback = (image: DomNode, _walk, builder) => {
  const alt = altOf(image);
  if (alt && imageBefore(image)) builder.addInline(" ");
  if (alt) builder.addInline(alt);
};

/** A link's words, followed by its URL in brackets if that differs. */
export const formatLink: FormatCallback = (link: DomNode, walk, builder) => {
  const href = attribute(link, "href")?.replace(/^mailto:/, "") ?? "";
  const { words, images } = contentOf(link);
  if (!words && images.length > 0) {
    const isSilent = images.every((image) => !altOf(image));
    if (isSilent && (images.every(isDecorative) || IMAGE_FILE.test(href) || wordsOfLinksTo(href, link))) return;
  }
  let text = "";
  builder.pushWordTransform((word) => {
    text += word;
    return word;
  });
  walk(link.children ?? [], builder);
  builder.popWordTransform();
  const isImageFile = !words && images.length > 0 && text !== "" && IMAGE_FILE.test(href);
  if (!href || href === text || isImageFile) return;
  builder.addInline(text ? ` (${href})` : href, { noWordTransform: true });
};
