/**
 * Cleans HTML from Word, Google Docs and web pages: bold and italic that are styles become elements; comments, office
 * elements and hidden content go. `style` is renamed before parsing, because the page's policy would block and report it.
 */
const DROPPED = "script, style, meta, link, title, head, template, iframe, object, svg, [hidden], o\\:p, xml";

const STYLE = "data-pasted-style";
const asData = (html: string): string => html.replaceAll(/(<[^>]*?)\sstyle\s*=/gi, `$1 ${STYLE}=`);

interface Look {
  isBold: boolean | undefined;
  isItalic: boolean;
  isUnderlined: boolean;
  isStruck: boolean;
  isHidden: boolean;
  isListMark: boolean;
}

function lookOf(element: Element): Look {
  const style = element.getAttribute(STYLE) ?? element.getAttribute("style") ?? "";
  const value = (name: string) =>
    new RegExp(`(?:^|;)\\s*${name}\\s*:\\s*([^;]+)`, "i").exec(style)?.[1]?.trim().toLowerCase() ?? "";
  const weight = value("font-weight");
  const decoration = value("text-decoration(?:-line)?");
  return {
    isBold: weight === "" ? undefined : weight === "bold" || Number(weight) >= 600,
    isItalic: value("font-style") === "italic",
    isUnderlined: decoration.includes("underline"),
    isStruck: decoration.includes("line-through"),
    isHidden: value("display") === "none" || value("mso-hide") === "all",
    isListMark: /mso-list\s*:\s*ignore/i.test(style),
  };
}

function wrap(element: Element, tag: string): void {
  const outer = element.ownerDocument.createElement(tag);
  outer.append(...element.childNodes);
  element.append(outer);
}

/** Google Docs wraps everything in a `<b>` of normal weight. */
const unwrap = (element: Element): void => element.replaceWith(...element.childNodes);

function clean(element: Element): void {
  const { isBold, isItalic, isUnderlined, isStruck, isHidden, isListMark } = lookOf(element);
  if (isHidden || isListMark) {
    element.remove();
    return;
  }
  const name = element.localName;
  if ((name === "b" || name === "strong") && isBold === false) {
    unwrap(element);
    return;
  }
  if (isBold && !/^(?:b|strong|h\d|th)$/.test(name)) wrap(element, "strong");
  if (isItalic && !/^(?:i|em)$/.test(name)) wrap(element, "em");
  if (isUnderlined && name !== "u" && name !== "a" && !element.closest("a")) wrap(element, "u");
  if (isStruck && name !== "s") wrap(element, "s");
  const href = element.getAttribute("href");
  for (const { name: attribute } of [...element.attributes]) {
    if (attribute !== "data-field" && attribute !== "data-fallback") element.removeAttribute(attribute);
  }
  if (name === "a" && href && /^(?:https?:|mailto:|tel:|\[\[)/i.test(href)) element.setAttribute("href", href);
  if (/^(?:font|span|o:.*|st1:.*)$/.test(name) && !element.hasAttribute("data-field")) unwrap(element);
}

export function cleanedHtml(html: string): string {
  const { body } = new DOMParser().parseFromString(asData(html), "text/html");
  for (const element of body.querySelectorAll(DROPPED)) element.remove();
  const comments = document.createTreeWalker(body, NodeFilter.SHOW_COMMENT);
  const found: Node[] = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) (comment as Comment).remove();
  // Inner elements first: outer ones may be unwrapped.
  for (const element of [...body.querySelectorAll("*")].toReversed()) clean(element);
  return body.innerHTML.replaceAll("\u00a0", " ");
}
