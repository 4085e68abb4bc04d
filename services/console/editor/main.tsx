/** Starts the visual editor in the page's element for it. */
import { render } from "preact";
import { App } from "./app.tsx";
import { bootOf } from "./boot.ts";
import { checking } from "./checking.ts";
import { type Editor, EditorContext } from "./context.ts";
import { listenToKeys } from "./keyboard.ts";
import { saving } from "./saving.ts";
import { createStore } from "./store.ts";

const root = document.getElementById("visual-editor");
if (root) {
  const given = bootOf(root);
  const store = createStore(given);
  const saves = saving(given, store);
  const editor: Editor = { boot: given, store, checking: checking(given, store), active: {} };
  listenToKeys(store, () => void saves.save());
  root.replaceChildren();
  render(
    <EditorContext.Provider value={editor}>
      <App saving={saves} />
    </EditorContext.Provider>,
    root,
  );
}
