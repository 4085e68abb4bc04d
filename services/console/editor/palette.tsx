/** The left side: blocks to add, and the outline of the mail. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Block } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import { excerptOf } from "./block-name.ts";
import { add, addSaved, nameOf } from "./commands.ts";
import { useEditor, useStore } from "./context.ts";
import { type BlockType, listPaths, newBlock } from "./document.ts";
import { makePalette } from "./drag.ts";
import { focusBlock } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { designOf, select } from "./store.ts";
import { Tabs } from "./tabs.tsx";
import { getAt, isSame, keyOf, type Path } from "./tree.ts";

interface Offer {
  kind: BlockType;
  icon: string;
  columns?: number;
}

const CONTENT: Offer[] = [
  { kind: "heading", icon: "heading" },
  { kind: "text", icon: "type" },
  { kind: "image", icon: "image" },
  { kind: "button", icon: "rectangle-horizontal" },
  { kind: "list", icon: "list" },
  { kind: "quote", icon: "quote" },
  { kind: "divider", icon: "minus" },
  { kind: "spacer", icon: "move-vertical" },
  { kind: "card", icon: "shopping-bag" },
  { kind: "table", icon: "table" },
  { kind: "social", icon: "share-2" },
  { kind: "html", icon: "code" },
  { kind: "header", icon: "badge-check" },
  { kind: "footer", icon: "panel-bottom" },
];
const LAYOUTS: Offer[] = [
  { kind: "section", icon: "square", columns: 1 },
  { kind: "section", icon: "columns-2", columns: 2 },
  { kind: "section", icon: "columns-3", columns: 3 },
  { kind: "section", icon: "columns-4", columns: 4 },
];
const LOGIC: Offer[] = [
  { kind: "if", icon: "git-branch" },
  { kind: "each", icon: "repeat" },
];

const wordsOf = ({ kind, columns }: Offer): string =>
  columns ? t.columnsOf(columns) : t.kinds[kind as keyof typeof t.kinds];

function Offers({ title, offers }: { title: string; offers: Offer[] }) {
  const { store } = useEditor();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const sortable = makePalette(store, list.current!);
    return () => sortable.destroy();
  }, [store]);
  return (
    <>
      <h2>{title}</h2>
      <ul class="palette" ref={list} aria-label={title}>
        {offers.map(({ kind, icon, columns }) => (
          <li key={`${kind}${columns}`} data-kind={kind} data-columns={columns}>
            <button type="button" onClick={() => add(store, newBlock(kind, columns))}>
              <Icon icon={icon} />
              {wordsOf({ kind, icon, ...(columns ? { columns } : {}) })}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function SavedBlocks() {
  const { store } = useEditor();
  const savedBlocks = useStore((state) => state.savedBlocks);
  const [isCopy, setCopy] = useState(false);
  if (savedBlocks.length === 0) return null;
  return (
    <>
      <h2>{t.savedBlocks.title}</h2>
      <label class="setting">
        {t.savedBlocks.use}{" "}
        <select value={isCopy ? "copy" : ""} onChange={(event) => setCopy(event.currentTarget.value === "copy")}>
          <option value="">{t.savedBlocks.asReference}</option>
          <option value="copy">{t.savedBlocks.asCopy}</option>
        </select>
      </label>
      <ul class="outline" aria-label={t.savedBlocks.title}>
        {savedBlocks.map((saved) => (
          <li key={saved.id}>
            <button type="button" onClick={() => addSaved(store, saved, isCopy)}>
              <Icon icon="layers" /> {saved.name}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function OutlineOf({ list }: { list: Path }) {
  const { store } = useEditor();
  const design = useStore(designOf);
  const selected = useStore((state) => state.selected);
  const go = (path: Path) => {
    select(store, path);
    focusBlock(path);
  };
  return (
    <ul>
      {((getAt(design, list) ?? []) as Block[]).map((block, no) => {
        const path = [...list, no];
        const isHere = selected !== null && isSame(path, selected);
        return (
          <li key={keyOf(block)}>
            <button type="button" aria-current={isHere ? "true" : undefined} onClick={() => go(path)}>
              {nameOf(block)} <span class="soft">{excerptOf(block)}</span>
            </button>
            {listPaths(block, path).map((inner) => (
              <OutlineOf key={inner.join("/")} list={inner} />
            ))}
          </li>
        );
      })}
    </ul>
  );
}

export function Palette() {
  const { store } = useEditor();
  const [tab, setTab] = useState<"blocks" | "outline">("blocks");
  const leave = (event: KeyboardEvent) => {
    const { selected } = store.read();
    if (event.key !== "Escape") return;
    store.set({ target: null });
    focusBlock(selected);
  };
  const tabs: Record<"blocks" | "outline", string> = { blocks: t.tabs.blocks, outline: t.tabs.outline };
  return (
    <aside class="visual-side visual-blocks" aria-label={t.regions.blocks} onKeyDown={leave}>
      <Tabs tabs={tabs} chosen={tab} choose={(next) => setTab(next)} id="blocks" />
      <div class="side-body" id="panel-blocks" role="tabpanel" aria-labelledby={`tab-blocks-${tab}`}>
        {tab === "blocks" ? (
          <>
            <Offers title={t.content} offers={CONTENT} />
            <Offers title={t.layouts} offers={LAYOUTS} />
            <Offers title={t.logic} offers={LOGIC} />
            <SavedBlocks />
            <p class="hint">{t.pickHint}</p>
          </>
        ) : (
          <div class="outline">
            <OutlineOf list={["blocks"]} />
          </div>
        )}
      </div>
    </aside>
  );
}
