/** Variables of templates: their colour, and their names after `[[`. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  pickedCompletion,
} from "@codemirror/autocomplete";
import { EditorState, type Extension } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";

const matches = new MatchDecorator({
  regexp: /\[{2,3}[^[\]\n]*\]{2,3}/g,
  decoration: Decoration.mark({ class: "cm-variable" }),
});

const coloured = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = matches.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.marks = matches.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);

/** Closes the brackets unless they are closed already. */
function complete(view: EditorView, completion: Completion, from: number, to: number): void {
  const { label } = completion;
  const end = view.state.sliceDoc(to, to + 2) === "]]" ? "" : "]]";
  const anchor = from + label.length + 2;
  view.dispatch({
    changes: { from, to, insert: label + end },
    selection: { anchor },
    userEvent: "input.complete",
    annotations: pickedCompletion.of(completion),
  });
}

/** `names`: with or without brackets. */
export function variables(names: readonly string[]): Extension {
  const options = names.map((name) => ({
    label: name.replace(/^\[\[(.*)\]\]$/, "$1"),
    type: "variable",
    apply: complete,
  }));
  const autocomplete = (context: CompletionContext): CompletionResult | null => {
    const typed = context.matchBefore(/\[\[(?:#(?:if|each) +)?[\p{L}\p{N}_. -]*/u);
    if (!typed) return null;
    const from = typed.from + /^\[\[(?:#\w+ +)?/.exec(typed.text)![0].length;
    return { from, options, validFor: /^[\p{L}\p{N}_. -]*$/u };
  };
  return [coloured, EditorState.languageData.of(() => [{ autocomplete }])];
}
