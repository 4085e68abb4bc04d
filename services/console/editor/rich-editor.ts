/** A text edited in place: keys, pasting, and the commands that its toolbar uses. */
import { baseKeymap, chainCommands, toggleMark } from "prosemirror-commands";
import { inputRules, wrappingInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { Node as RichNode, Schema } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem, wrapInList } from "prosemirror-schema-list";
import { type Command, EditorState, NodeSelection, type Plugin, TextSelection } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import type { Field } from "./fields.ts";
import { cleanedHtml } from "./paste.ts";
import { fieldNode } from "./rich-schema.ts";

export interface RichOptions {
  schema: Schema;
  doc: RichNode;
  label: string;
  placeholder: string;
  onChange(doc: RichNode): void;
  onFocus(view: EditorView): void;
  /** The variable that is selected, and the marks at the cursor. */
  onSelect(field: Field | null, marks: string): void;
  onEscape(): void;
  onEnter?(): void;
}

const insertBreak: Command = (state, dispatch) => {
  const node = state.schema.nodes.break;
  if (!node) return false;
  dispatch?.(state.tr.replaceSelectionWith(node.create()).scrollIntoView());
  return true;
};

function listPlugins(schema: Schema): Plugin[] {
  const { bullets, numbers, item, break: line } = schema.nodes;
  if (!bullets || !numbers || !item || !line) return [];
  const { bold, italic, underline } = schema.marks;
  return [
    inputRules({ rules: [wrappingInputRule(/^\s*[-*•]\s$/, bullets), wrappingInputRule(/^\s*1\.\s$/, numbers)] }),
    keymap({
      Enter: splitListItem(item),
      "Mod-[": liftListItem(item),
      "Mod-]": sinkListItem(item),
      "Shift-Enter": insertBreak,
      "Mod-b": toggleMark(bold!),
      "Mod-i": toggleMark(italic!),
      "Mod-u": toggleMark(underline!),
    }),
  ];
}

function keysOf({ onEscape, onEnter }: RichOptions): Plugin {
  const then =
    (work: () => void): Command =>
    () => {
      work();
      return true;
    };
  return keymap({ Escape: then(onEscape), ...(onEnter ? { Enter: then(onEnter) } : {}) });
}

const chipOf = ({ selection }: EditorState): Field | null =>
  selection instanceof NodeSelection && selection.node.type.name === "field" ? (selection.node.attrs as Field) : null;

const marksAt = (view: EditorView): string =>
  Object.keys(view.state.schema.marks)
    .filter((name) => isActive(view, name))
    .join(" ");

/** A line takes the words of what is pasted, and no paragraphs. */
const asOneLine = (text: string): string => text.replaceAll(/\s*[\r\n]+\s*/g, " ");

export function createRichEditor(mount: HTMLElement, options: RichOptions): EditorView {
  const { schema, doc, label, placeholder } = options;
  const isLine = schema.nodes.paragraph === undefined;
  const mark = (view: EditorView) => view.dom.classList.toggle("is-empty", view.state.doc.textContent === "");
  const view: EditorView = new EditorView(mount, {
    state: EditorState.create({ doc, plugins: [keysOf(options), ...listPlugins(schema), keymap(baseKeymap)] }),
    attributes: {
      "aria-label": label,
      "aria-multiline": `${!isLine}`,
      role: "textbox",
      tabindex: "-1",
      "data-placeholder": placeholder,
    },
    dispatchTransaction(transaction) {
      view.updateState(view.state.apply(transaction));
      mark(view);
      if (transaction.selectionSet || transaction.docChanged) options.onSelect(chipOf(view.state), marksAt(view));
      if (transaction.docChanged && !transaction.getMeta("outside")) options.onChange(view.state.doc);
    },
    // A selected variable stays, and what is typed goes behind it.
    handleTextInput({ state, dispatch }, _from, to, text) {
      if (!chipOf(state)) return false;
      const tr = state.tr.insertText(text, to);
      dispatch(tr.setSelection(TextSelection.create(tr.doc, to + text.length)));
      return true;
    },
    transformPastedHTML: cleanedHtml,
    transformPastedText: (text) => (isLine ? asOneLine(text) : text),
    handleDOMEvents: {
      focus: (focused) => {
        options.onFocus(focused);
        return false;
      },
    },
  });
  mark(view);
  return view;
}

/** Replaces the text after a change from elsewhere, such as undo. */
export function replaceText(view: EditorView, doc: RichNode): void {
  const { tr, selection } = view.state;
  tr.replaceWith(0, view.state.doc.content.size, doc.content).setMeta("outside", true);
  const at = Math.min(selection.anchor, tr.doc.content.size);
  view.dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(at))));
}

/** Inserts a variable and selects it, so that its fallback can be set. */
export function insertField(view: EditorView, field: Field): void {
  const { tr, selection, schema } = view.state;
  const at = selection.from;
  tr.replaceSelectionWith(fieldNode(schema, field));
  view.dispatch(tr.setSelection(NodeSelection.create(tr.doc, at)));
  view.focus();
}

export function changeField(view: EditorView, field: Field): void {
  const { tr, selection } = view.state;
  if (!chipOf(view.state)) return;
  tr.setNodeMarkup(selection.from, undefined, field);
  view.dispatch(tr.setSelection(NodeSelection.create(tr.doc, selection.from)));
}

function isActive({ state }: EditorView, name: string): boolean {
  const mark = state.schema.marks[name];
  if (!mark) return false;
  const { from, to, empty, $from } = state.selection;
  return empty ? Boolean(mark.isInSet(state.storedMarks ?? $from.marks())) : state.doc.rangeHasMark(from, to, mark);
}

function run(view: EditorView, command: Command): void {
  command(view.state, view.dispatch, view);
  view.focus();
}

export const toggle = (view: EditorView, name: string): void => run(view, toggleMark(view.state.schema.marks[name]!));

export function toggleList(view: EditorView, name: "bullets" | "numbers"): void {
  const { nodes } = view.state.schema;
  run(view, chainCommands(wrapInList(nodes[name]!), liftListItem(nodes.item!)));
}

/** The link at the selection. */
export function linkAt({ state }: EditorView): string {
  const { $from, empty } = state.selection;
  const marks = empty ? $from.marks() : ($from.nodeAfter?.marks ?? $from.marks());
  return (marks.find(({ type }) => type.name === "link")?.attrs.href as string | undefined) ?? "";
}

/** Links the selected words; without any, the address itself becomes the words. An empty address removes the link. */
export function setLink(view: EditorView, href: string): void {
  const { tr, selection, schema, doc } = view.state;
  const type = schema.marks.link!;
  let { from, to } = selection;
  if (selection.empty) {
    const { parent, parentOffset } = selection.$from;
    const start = selection.from - parentOffset;
    parent.forEach((node, offset) => {
      const isHere = offset <= parentOffset && parentOffset <= offset + node.nodeSize && type.isInSet(node.marks);
      if (isHere) [from, to] = [start + offset, start + offset + node.nodeSize];
    });
  }
  if (from === to && href !== "") tr.insert(from, schema.text(href, [type.create({ href })]));
  else {
    tr.removeMark(from, to, type);
    if (href !== "") tr.addMark(from, to, type.create({ href }));
  }
  if (!tr.doc.eq(doc)) view.dispatch(tr);
  view.focus();
}
