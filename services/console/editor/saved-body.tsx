/** A saved block as it looks in the mail. It is changed as a copy, or where it was made. */
import { useMemo } from "preact/hooks";
import { isKind } from "../../lib/design/blocks/fields.ts";
import { type Block, isSection } from "../../lib/design/design.ts";
import { Body } from "./block-bodies.tsx";
import type { SavedBlock } from "./boot.ts";
import { EditorContext, useEditor, useStore } from "./context.ts";
import { listPaths } from "./document.ts";
import { Icon } from "./icon.tsx";
import { columnWidths, type Settings, sectionStyle, settingsOf } from "./look.ts";
import { createStore, designOf } from "./store.ts";
import { getAt, type Path } from "./tree.ts";

interface Props {
  blocks: readonly Block[];
  list: Path;
  settings: Settings;
}

function Blocks({ blocks, list, settings }: Props) {
  const { boot } = useEditor();
  return (
    <>
      {((getAt({ blocks }, list) ?? []) as Block[]).map((block, no) => {
        const path = [...list, no];
        if (isKind(block.type)) return <Body key={no} kind={block.type} block={block} path={path} />;
        const inner = listPaths(block, path).map((one) => (
          <Blocks key={one.join()} blocks={blocks} list={one} settings={settings} />
        ));
        if (!isSection(block)) return inner;
        const widths = columnWidths(block);
        return (
          <div class="section-columns" style={sectionStyle(block, settings, boot.brand)} key={no}>
            {inner.map((column, at) => (
              <div class="section-column" style={{ width: widths[at]! }} key={at}>
                {column}
              </div>
            ))}
          </div>
        );
      })}
    </>
  );
}

export function SavedBody({ saved }: { saved: SavedBlock }) {
  const editor = useEditor();
  const { boot } = editor;
  const { blocks } = saved;
  const settings = useStore((state) => settingsOf(designOf(state)));
  // Its texts must not reach those of the mail.
  const own = useMemo(
    () => ({ ...editor, active: {}, store: createStore({ ...boot, design: { version: 1, blocks } }) }),
    [blocks],
  );
  return (
    <EditorContext.Provider value={own}>
      <div class="saved-body" inert={true} key={JSON.stringify(blocks)}>
        <Blocks blocks={blocks} list={["blocks"]} settings={settings} />
      </div>
      <p class="saved-name">
        <Icon icon="layers" />
        {saved.name}
      </p>
    </EditorContext.Provider>
  );
}
