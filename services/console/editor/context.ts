/** State and settings that all parts of the editor share. */

import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef } from "preact/hooks";
import type { EditorView } from "prosemirror-view";
import type { Boot } from "./boot.ts";
import type { Checking } from "./checking.ts";
import type { State, Store } from "./store.ts";

export interface Editor {
  boot: Boot;
  store: Store;
  checking: Checking;
  /** The text that has or had the focus. */
  active: { view?: EditorView | undefined };
}

export const EditorContext = createContext<Editor | undefined>(undefined);

export function useEditor(): Editor {
  return useContext(EditorContext)!;
}

/** A part of the state; draws again when it changes. */
export function useStore<T>(pick: (state: State) => T): T {
  const { store } = useEditor();
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const value = pick(store.read());
  const shown = useRef(value);
  shown.current = value;
  useEffect(
    () =>
      store.subscribe(() => {
        if (!Object.is(pick(store.read()), shown.current)) draw(undefined);
      }),
    [store],
  );
  return value;
}
