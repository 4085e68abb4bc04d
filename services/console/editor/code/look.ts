/** Colours and fonts of the code editor. The page's custom properties reach into the shadow root. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const SMALL = { font: "var(--text-small) / 1.4 var(--font)", color: "var(--ink)" };
const CONTROL = {
  ...SMALL,
  border: "1px solid var(--line-strong)",
  borderRadius: "var(--radius)",
  background: "var(--surface)",
};

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", background: "var(--surface)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--text-table) / 1.5 var(--font-code)" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--brand) 25%, transparent)",
  },
  ".cm-gutters": { color: "var(--ink-2)", background: "var(--sunken)", borderRight: "1px solid var(--line)" },
  ".cm-wrong": { color: "var(--bad)", background: "var(--bad-soft)", fontWeight: "600" },
  ".cm-wrong::before": { content: '"! "' },
  ".cm-variable": { color: "var(--brand-strong)", background: "var(--brand-soft)", borderRadius: "3px" },
  ".cm-variable *": { color: "inherit" },
  ".cm-foldPlaceholder": { ...CONTROL, padding: "0 4px" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { background: "var(--line)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { background: "color-mix(in srgb, var(--warn) 40%, transparent)" },
  ".cm-panels": { ...SMALL, background: "var(--sunken)", borderColor: "var(--line)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 32px 6px 8px" },
  ".cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-panel.cm-search [name=close]": { ...SMALL, width: "24px", height: "24px", fontSize: "16px" },
  ".cm-textfield": { ...CONTROL, padding: "3px 6px" },
  ".cm-button": { ...CONTROL, padding: "3px 8px", backgroundImage: "none" },
  ".cm-panel :focus-visible": { outline: "2px solid var(--brand)" },
  ".cm-tooltip": { ...CONTROL, boxShadow: "var(--shadow-high)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  "@media (pointer: coarse)": {
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "14px 12px" },
    ".cm-panel :is(.cm-button, .cm-textfield)": { minHeight: "40px" },
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-brand)", background: "var(--brand)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--brand-strong)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--info)" },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.color], color: "var(--good)" },
  { tag: [tags.keyword, tags.unit, tags.atom, tags.processingInstruction], color: "var(--accent-ink)" },
  { tag: [tags.comment, tags.documentMeta], color: "var(--ink-3)" },
  { tag: [tags.link, tags.url], color: "var(--info)" },
  { tag: tags.heading, fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export const look: Extension = [theme, syntaxHighlighting(colours)];
