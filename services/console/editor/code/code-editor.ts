/**
 * Replaces a textarea by CodeMirror, in a shadow root, where its styles need no change of the page's policy. The hidden
 * textarea keeps the text, so that forms, drafts and other scripts work as without it.
 */
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { markdown, markdownLanguage } from "@codemirror/lang-markdown";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { look } from "./look.ts";
import { variables } from "./variables.ts";
import { setWrong, wrongLines } from "./wrong-lines.ts";

/** Commands for scripts of the page; positions count characters of the textarea's value. */
export interface CodeEditor {
  focus(): void;
  select(start: number, end: number): void;
  /** Puts the cursor `back` characters before the end of the text. */
  insert(text: string, back?: number): void;
  /** Moves the cursor to a point of the window. */
  moveTo(x: number, y: number): void;
  /** Marks lines with errors. */
  mark(lines: Iterable<number>): void;
}

type Area = HTMLTextAreaElement & { codeEditor?: CodeEditor };

const PROSE = [EditorView.lineWrapping, EditorView.contentAttributes.of({ spellcheck: "true" })];

const languageOf = (mode: string | undefined): Extension =>
  mode === "markdown" ? [markdown({ base: markdownLanguage }), PROSE] : html({ selfClosingTags: mode === "mjml" });

/** The field's label and hints, because references of ARIA cannot leave the shadow root, and its place in the Tab order. */
function described(area: Area): Record<string, string> {
  const hints = (area.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id));
  return {
    tabindex: "0",
    "aria-label": area.labels[0]?.textContent ?? "",
    "aria-description": hints.map((hint) => hint?.textContent ?? "").join(" "),
  };
}

const { get, set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")!;
const store = (area: Area, text: string) => set!.call(area, text);

/** Values that scripts set appear in the editor. */
function followValue(area: Area, view: EditorView): void {
  Object.defineProperty(area, "value", {
    configurable: true,
    get: () => get!.call(area),
    set(text: string) {
      store(area, text);
      const insert = get!.call(area);
      if (insert !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
      }
    },
  });
}

/** The format is the value of the select whose id is in `data-mode`. */
function followMode(area: Area, view: EditorView, language: Compartment): void {
  const select = document.getElementById(area.dataset.mode ?? "") as HTMLSelectElement | null;
  const apply = () => view.dispatch({ effects: language.reconfigure(languageOf(select?.value)) });
  select?.addEventListener("change", apply);
  apply();
}

export function codeEditor(area: Area): void {
  const host = document.createElement("div");
  host.className = "code-editor";
  host.style.height = `${area.offsetHeight}px`;
  const root = host.attachShadow({ mode: "open" });
  const language = new Compartment();
  const isCode = area.wrap === "off";
  let entered = area.value;
  const view = new EditorView({
    doc: area.value,
    root,
    parent: root,
    extensions: [
      lineNumbers(),
      foldGutter(),
      wrongLines,
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightSelectionMatches(),
      search({ top: true }),
      autocompletion(),
      variables(JSON.parse(area.dataset.variables ?? "[]")),
      keymap.of([...completionKeymap, ...searchKeymap, ...foldKeymap, ...historyKeymap, ...defaultKeymap]),
      isCode ? keymap.of([indentWithTab]) : PROSE,
      EditorView.domEventObservers({
        // Escape releases the Tab key until the editor is entered again.
        keydown({ key }) {
          if (key === "Escape") view.setTabFocusMode(true);
        },
        focus() {
          view.setTabFocusMode(false);
          entered = area.value;
          area.dispatchEvent(new Event("focus"));
        },
        blur() {
          if (area.value !== entered) area.dispatchEvent(new Event("change", { bubbles: true }));
        },
      }),
      EditorView.contentAttributes.of(described(area)),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (!docChanged) return;
        const text = state.doc.toString();
        if (text === area.value) return;
        store(area, text);
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }),
      language.of([]),
      look,
    ],
  });
  followMode(area, view, language);
  followValue(area, view);
  const [label] = area.labels;
  label?.removeAttribute("for");
  label?.addEventListener("click", () => view.focus());
  area.before(host);
  const { selectionStart: anchor, selectionEnd: head } = area;
  const isTyping = document.activeElement === area;
  area.hidden = true;
  // Keep focus and selection if the user is already typing.
  if (isTyping) {
    view.dispatch({ selection: { anchor, head } });
    view.focus();
  }
  area.codeEditor = {
    focus: () => view.focus(),
    select(anchor, head) {
      view.dispatch({ selection: { anchor, head }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    insert(text, back = 0) {
      const { from, to } = view.state.selection.main;
      const anchor = from + text.length - back;
      view.dispatch({ changes: { from, to, insert: text }, selection: { anchor }, userEvent: "input.paste" });
      view.focus();
    },
    moveTo(x, y) {
      const anchor = view.posAtCoords({ x, y });
      if (anchor !== null) view.dispatch({ selection: { anchor } });
    },
    mark: (lines) => view.dispatch({ effects: setWrong.of([...lines]) }),
  };
  area.dispatchEvent(new Event("code-editor"));
}
