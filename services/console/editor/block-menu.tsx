/** The actions of the selected block, and those of the text in it. */

import { useState } from "preact/hooks";
import type { EditorView } from "prosemirror-view";
import type { Block } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import { completed, isUsable } from "./address.ts";
import { copyBlock, pasteKept } from "./clipboard.ts";
import { detach, duplicate, nameOf, remove, selectOuter, step, stepColumn } from "./commands.ts";
import { useEditor, useStore } from "./context.ts";
import { outerOf } from "./document.ts";
import { FieldMenu } from "./field-menu.tsx";
import { focusBlock, focusPalette } from "./focus.ts";
import { Icon, IconButton } from "./icon.tsx";
import { linkAt, setLink, toggle, toggleList } from "./rich-editor.ts";
import { SaveBlockForm } from "./save-block.tsx";
import { designOf, savedFor } from "./store.ts";
import { getAt, indexOf, type Path, parentOf } from "./tree.ts";

function LinkForm({ view, onDone }: { view: EditorView; onDone(): void }) {
  const [href, setHref] = useState(linkAt(view));
  const [isWrong, setWrong] = useState(false);
  const apply = (address: string) => {
    const given = completed(address);
    if (!isUsable(given)) return setWrong(true);
    setLink(view, given);
    onDone();
  };
  return (
    <form
      class="menu-form"
      onSubmit={(event) => {
        event.preventDefault();
        apply(href);
      }}
    >
      <label>
        {t.link.address}
        <input
          type="text"
          value={href}
          placeholder="https://"
          aria-invalid={isWrong}
          onInput={(event) => setHref(event.currentTarget.value)}
          ref={(input) => input?.focus()}
        />
      </label>
      {isWrong && (
        <p class="setting-wrong" role="alert">
          {t.link.wrong}
        </p>
      )}
      <button type="submit">{t.link.apply}</button>
      {linkAt(view) !== "" && (
        <button type="button" onClick={() => apply("")}>
          {t.link.remove}
        </button>
      )}
    </form>
  );
}

/** The text that has the focus, if it is within this block. */
function useText(path: Path): EditorView | undefined {
  const { active } = useEditor();
  useStore((state) => state.marks);
  useStore((state) => state.selected);
  const { view } = active;
  return view?.dom.closest<HTMLElement>(".block")?.dataset.path === path.join("/") ? view : undefined;
}

type Open = "link" | "field" | "more" | "save" | null;

function TextTools({ view, open, setOpen }: { view: EditorView; open: Open; setOpen(next: Open): void }) {
  const marks = useStore((state) => state.marks).split(" ");
  const isRich = view.state.schema.marks.bold !== undefined;
  const button = (name: string, label: string, keys: string, { icon }: { icon: string }) => (
    <IconButton
      icon={icon}
      label={label}
      keys={keys}
      isPressed={marks.includes(name)}
      onClick={() => toggle(view, name)}
    />
  );
  return (
    <>
      {isRich && button("bold", t.menu.bold, "Ctrl B", { icon: "bold" })}
      {isRich && button("italic", t.menu.italic, "Ctrl I", { icon: "italic" })}
      {isRich && button("underline", t.menu.underline, "Ctrl U", { icon: "underline" })}
      {isRich && <IconButton icon="list" label={t.menu.bullets} onClick={() => toggleList(view, "bullets")} />}
      {isRich && (
        <IconButton
          icon="link"
          label={t.menu.link}
          isPressed={open === "link" || marks.includes("link")}
          onClick={() => setOpen(open === "link" ? null : "link")}
        />
      )}
      <button
        type="button"
        class="menu-words"
        aria-expanded={open === "field"}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => setOpen(open === "field" ? null : "field")}
      >
        <Icon icon="braces" />
        <span>{t.menu.insertField}</span>
      </button>
      <span class="menu-gap" />
    </>
  );
}

interface MoreProps {
  block: Block;
  path: Path;
  setOpen(next: Open): void;
}

function MoreActions({ block, path, setOpen }: MoreProps) {
  const { boot, store } = useEditor();
  const saved = block.type === "saved" ? savedFor(store.read(), block) : undefined;
  const design = designOf(store.read());
  const at = path.lastIndexOf("columns");
  const columns = at < 0 ? 1 : (getAt(design, path.slice(0, at + 1)) as unknown[]).length;
  const column = Number(path[at + 1]);
  const item = (label: string, work: () => void) => (
    <li>
      <button
        type="button"
        onClick={() => {
          setOpen(null);
          work();
        }}
      >
        {label}
      </button>
    </li>
  );
  return (
    <ul class="menu-list">
      {at >= 0 && column > 0 && item(t.menu.previousColumn, () => stepColumn(store, path, -1))}
      {at >= 0 && column < columns - 1 && item(t.menu.nextColumn, () => stepColumn(store, path, 1))}
      {item(t.menu.copy, () => copyBlock(store, block))}
      {item(t.menu.cut, () => {
        copyBlock(store, block);
        remove(store, path);
      })}
      {item(t.menu.paste, () => pasteKept(store))}
      {saved && item(t.menu.detach, () => detach(store, path, saved))}
      {block.type !== "saved" && boot.maySaveBlocks && item(t.menu.save, () => setOpen("save"))}
      {outerOf(path) && item(t.menu.outer, () => selectOuter(store, path))}
    </ul>
  );
}

function Actions({ block, path }: { block: Block; path: Path }) {
  const { store } = useEditor();
  const [open, setOpen] = useState<Open>(null);
  const view = useText(path);
  const design = designOf(store.read());
  const list = getAt(design, parentOf(path)) as Block[];
  const addBelow = () => {
    store.set({ target: [...parentOf(path), indexOf(path) + 1], said: t.says.choose });
    focusPalette();
  };
  const isOnly = list.length === 1 && parentOf(path).length === 1;
  return (
    <div
      class="block-menu"
      role="toolbar"
      aria-label={t.menu.label(nameOf(block))}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        setOpen(null);
        if (view) view.focus();
        else focusBlock(path);
      }}
    >
      {view && <TextTools view={view} open={open} setOpen={setOpen} />}
      <IconButton
        icon="arrow-up"
        label={t.menu.up}
        keys="Alt ↑"
        isDisabled={isOnly}
        onClick={() => step(store, path, -1)}
      />
      <IconButton
        icon="arrow-down"
        label={t.menu.down}
        keys="Alt ↓"
        isDisabled={isOnly}
        onClick={() => step(store, path, 1)}
      />
      <IconButton icon="plus" label={t.menu.add} keys="A" onClick={addBelow} />
      <IconButton icon="copy" label={t.menu.duplicate} keys="Ctrl D" onClick={() => duplicate(store, path)} />
      <IconButton icon="trash-2" label={t.menu.delete} keys="Del" onClick={() => remove(store, path)} />
      <button
        type="button"
        class="icon-button"
        aria-label={t.menu.more}
        aria-expanded={open === "more"}
        onClick={() => setOpen(open === "more" ? null : "more")}
      >
        <Icon icon="ellipsis" />
      </button>
      {open === "link" && view && <LinkForm view={view} onDone={() => setOpen(null)} />}
      {open === "field" && view && <FieldMenu view={view} onDone={() => setOpen(null)} />}
      {open === "more" && <MoreActions block={block} path={path} setOpen={setOpen} />}
      {open === "save" && (
        <SaveBlockForm
          block={block}
          onDone={() => {
            setOpen(null);
            focusBlock(path);
          }}
        />
      )}
    </div>
  );
}

export function BlockMenu({ block, path, isSelected }: { block: Block; path: Path; isSelected: boolean }) {
  return (
    <>
      <span class="block-tag" aria-hidden="true">
        {nameOf(block)}
      </span>
      <span class="block-handle" title={t.menu.drag} aria-hidden="true">
        <Icon icon="grip-vertical" />
      </span>
      {isSelected && <Actions block={block} path={path} />}
    </>
  );
}
