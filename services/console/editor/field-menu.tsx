/** Variables to insert into a text, each with a value of some reader. */

import { useState } from "preact/hooks";
import type { EditorView } from "prosemirror-view";
import { visual as t } from "../messages/visual.ts";
import { useEditor } from "./context.ts";
import { labelOf } from "./fields.ts";
import { insertField } from "./rich-editor.ts";

export function FieldMenu({ view, onDone }: { view: EditorView; onDone(): void }) {
  const { boot } = useEditor();
  const [asked, setAsked] = useState("");
  const fits = (name: string) => `${name} ${labelOf(name)}`.toLowerCase().includes(asked.toLowerCase());
  const insert = (name: string) => {
    insertField(view, { name, fallback: "" });
    onDone();
  };
  const found = boot.fields.filter(({ name }) => fits(name));
  return (
    <div class="menu-form">
      <label>
        {t.field.find}
        <input
          type="search"
          value={asked}
          onInput={(event) => setAsked(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && found[0]) insert(found[0].name);
          }}
          ref={(input) => input?.focus()}
        />
      </label>
      <ul class="menu-list">
        {found.map(({ name, sample }) => (
          <li key={name}>
            <button type="button" onClick={() => insert(name)}>
              {labelOf(name)} <small>{sample}</small>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
