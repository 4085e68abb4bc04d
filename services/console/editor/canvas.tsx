/** The mail as it is edited. */

import { Component, createRef } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type Sortable from "sortablejs";
import { isKind } from "../../lib/design/blocks/fields.ts";
import { type Block, isCondition, isLoop, isSection, type Section } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import { Body } from "./block-bodies.tsx";
import { BlockMenu } from "./block-menu.tsx";
import { titleOf } from "./block-name.ts";
import { nameOf } from "./commands.ts";
import { useEditor, useStore } from "./context.ts";
import { makeList } from "./drag.ts";
import { labelOf } from "./fields.ts";
import { focusPalette, pathText } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { takeImageFiles } from "./image-files.ts";
import { colour, columnWidths, font, px, sectionStyle, settingsOf } from "./look.ts";
import { SavedBody } from "./saved-body.tsx";
import { designOf, type Store, savedFor } from "./store.ts";
import { isSame, isWithin, keyOf, type Path } from "./tree.ts";

interface ListProps {
  store: Store;
  blocks: readonly Block[];
  path: Path;
  selected: Path | null;
}

class BlockList extends Component<ListProps> {
  element = createRef<HTMLDivElement>();
  sortable: Sortable | undefined;

  override componentDidMount() {
    this.sortable = makeList(this.props.store, this.element.current!);
  }
  override componentWillUnmount() {
    this.sortable?.destroy();
  }

  override render({ store, blocks, path, selected }: ListProps) {
    return (
      <div
        class={blocks.length === 0 ? "block-list is-empty" : "block-list"}
        data-list={pathText(path)}
        ref={this.element}
      >
        {blocks.map((block, no) => (
          <BlockFrame key={keyOf(block)} store={store} block={block} path={[...path, no]} selected={selected} />
        ))}
        {blocks.length === 0 && <EmptyList path={path} />}
      </div>
    );
  }
}

function EmptyList({ path }: { path: Path }) {
  const { store } = useEditor();
  const isTarget = useStore(({ target }) => target !== null && isSame(target.slice(0, -1), path));
  const choose = () => {
    store.set({ target: [...path, 0], said: t.says.choose });
    focusPalette();
  };
  return (
    <button type="button" class="empty-list" aria-pressed={isTarget} onClick={choose}>
      <Icon icon="plus" />
      {t.emptyColumn}
    </button>
  );
}

interface FrameProps {
  store: Store;
  block: Block;
  path: Path;
  selected: Path | null;
}

class BlockFrame extends Component<FrameProps> {
  /** Draws again only what changed: a block, its path, or whether something in it is selected. */
  override shouldComponentUpdate({ block, path, selected }: FrameProps) {
    const now = this.props;
    if (block !== now.block || pathText(path) !== pathText(now.path)) return true;
    const concerns = (one: Path | null) => one !== null && isWithin(one, path);
    return selected !== now.selected && (concerns(selected) || concerns(now.selected));
  }

  override render({ store, block, path, selected }: FrameProps) {
    const isSelected = selected !== null && isSame(selected, path);
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form
      <div
        class={`block is-${block.type}${isSelected ? " is-selected" : ""}`}
        data-path={pathText(path)}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys select, move and delete the block
        tabIndex={0}
        aria-label={titleOf(block)}
      >
        <BlockMenu block={block} path={path} isSelected={isSelected} />
        <Inside store={store} block={block} path={path} selected={selected} />
      </div>
    );
  }
}

function Inside({ store, block, path, selected }: FrameProps) {
  if (isSection(block)) return <SectionBody store={store} block={block} path={path} selected={selected} />;
  if (isCondition(block) || isLoop(block)) {
    const other = isCondition(block) ? block.else : undefined;
    return (
      <div class="around">
        <p class="around-label">
          {isLoop(block) ? t.forEach : t.onlyIf} <strong>{labelOf(block.variable)}</strong>
          {!isLoop(block) && ` ${t.isFilled}`}
        </p>
        <BlockList store={store} blocks={block.blocks} path={[...path, "blocks"]} selected={selected} />
        {other && (
          <>
            <p class="around-label">{t.otherwise}</p>
            <BlockList store={store} blocks={other} path={[...path, "else"]} selected={selected} />
          </>
        )}
      </div>
    );
  }
  if (isKind(block.type)) return <Body kind={block.type} block={block} path={path} />;
  const saved = savedFor(store.read(), block);
  return saved ? <SavedBody saved={saved} /> : <p class="saved-block">{nameOf(block)}</p>;
}

function SectionBody({ store, block, path, selected }: FrameProps & { block: Section }) {
  const { boot } = useEditor();
  const widths = columnWidths(block);
  return (
    <div class="section-columns" style={sectionStyle(block, settingsOf(designOf(store.read())), boot.brand)}>
      {block.columns.map(({ blocks }, no) => (
        <div class="section-column" key={no} style={{ width: widths[no]! }}>
          <BlockList store={store} blocks={blocks} path={[...path, "columns", no, "blocks"]} selected={selected} />
        </div>
      ))}
    </div>
  );
}

export function Canvas() {
  const { boot, store } = useEditor();
  const design = useStore(designOf);
  const selected = useStore((state) => state.selected);
  const settings = settingsOf(design);
  const { brand } = boot;
  const canvas = useRef<HTMLElement>(null);
  const [problem, refuse] = useState("");
  useEffect(() => takeImageFiles({ boot, store, refuse }, canvas.current!), []);
  return (
    <section
      class="visual-mail"
      ref={canvas}
      aria-label={t.regions.mail}
      style={{ backgroundColor: colour(settings.background, brand) }}
    >
      {problem !== "" && (
        <p class="drop-problem" role="alert">
          {problem}
        </p>
      )}
      <div
        class="mail-paper"
        style={{
          maxWidth: px(settings.width),
          color: colour(settings.text_color, brand),
          fontFamily: font(brand.font),
        }}
        ref={(element) => {
          element?.style.setProperty("--mail-link", colour(settings.link_color, brand) ?? "#0b6b72");
        }}
      >
        <BlockList store={store} blocks={design.blocks} path={["blocks"]} selected={selected} />
      </div>
    </section>
  );
}
