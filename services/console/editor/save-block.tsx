/** Saves a block under a name for other emails. An existing name replaces that saved block wherever it is used. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Block } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import { ask, isProblem } from "./ask.ts";
import { excerptOf } from "./block-name.ts";
import type { SavedBlock } from "./boot.ts";
import { useEditor, useStore } from "./context.ts";
import { fits } from "./document.ts";

type Answer = Pick<SavedBlock, "id" | "name"> & { seen?: string };

const MAX_NAME = 255;
const SECTIONS = ["blocks"];

const inOrder = (all: readonly SavedBlock[]) => all.toSorted((one, other) => one.name.localeCompare(other.name));

export function SaveBlockForm({ block, onDone }: { block: Block; onDone(): void }) {
  const { boot, store } = useEditor();
  const known = useStore((state) => state.savedBlocks);
  const [name, setName] = useState(excerptOf(block).replace(/…$/, ""));
  const [problem, setProblem] = useState("");
  const [isSaving, setSaving] = useState(false);
  const names = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current!.select(), []);
  const same = known.find((one) => one.name === name.trim());
  const save = async (event: Event) => {
    event.preventDefault();
    // Templates that use it would fail to render.
    if (same && fits(block, SECTIONS) !== fits(same.blocks[0]!, SECTIONS)) {
      return setProblem(fits(block, SECTIONS) ? t.savedBlocks.isForColumns : t.savedBlocks.isForSections);
    }
    setSaving(true);
    const { id, seen } = store.read();
    const opened: Record<string, string> = same && id && !boot.isCampaign ? { template: id, seen: `${seen}` } : {};
    const fields = { name: name.trim(), blocks: JSON.stringify([block]), ...(same ? { id: same.id } : {}), ...opened };
    const answer = await ask<Answer>(boot, boot.paths.savedBlocks, new URLSearchParams(fields));
    setSaving(false);
    if (isProblem(answer)) return setProblem(answer.problem);
    const saved: SavedBlock = { id: answer.id, name: answer.name, blocks: [block] };
    store.set({
      savedBlocks: inOrder([...store.read().savedBlocks.filter((one) => one !== same), saved]),
      said: t.says.blockSaved(saved.name),
      ...(answer.seen ? { seen: answer.seen } : {}),
    });
    onDone();
  };
  return (
    <form class="menu-form" onSubmit={(event) => void save(event)}>
      <label>
        {t.savedBlocks.name}
        <input
          type="text"
          required={true}
          maxLength={MAX_NAME}
          list={names}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          ref={input}
        />
      </label>
      <datalist id={names}>
        {known.map((one) => (
          <option key={one.id} value={one.name} />
        ))}
      </datalist>
      <p class="hint">{same ? t.savedBlocks.replaceHint : t.savedBlocks.hint}</p>
      {problem !== "" && (
        <p class="setting-wrong" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" disabled={isSaving}>
        {same ? t.savedBlocks.replace : t.savedBlocks.save}
      </button>
    </form>
  );
}
