/** A text of a block, edited in place. */

import { Component, createRef } from "preact";
import type { Node as RichNode } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import type { RichText } from "../../lib/design/fields.ts";
import { type Editor, useEditor } from "./context.ts";
import { blockElement } from "./focus.ts";
import { createRichEditor, replaceText } from "./rich-editor.ts";
import { lineSchema, richSchema } from "./rich-schema.ts";
import { lineNode, lineValue, richNode, richValue } from "./rich-value.ts";
import { select, setValue } from "./store.ts";
import type { Path } from "./tree.ts";

interface Props {
  /** Path of the block. */
  block: Path;
  /** Path of the object that has the text. */
  path?: Path;
  name: string;
  value: RichText | string;
  label: string;
  placeholder: string;
}

class Text extends Component<Props & { editor: Editor }> {
  mount = createRef<HTMLDivElement>();
  view: EditorView | undefined;
  /** Written by this editor last: does not need to be read again. */
  written: RichText | string | undefined;

  node({ value, editor }: Props & { editor: Editor }): RichNode {
    return typeof value === "string" ? lineNode(lineSchema, value) : richNode(richSchema(editor.boot.brand), value);
  }

  override componentDidMount() {
    const { store, active } = this.props.editor;
    const doc = this.node(this.props);
    this.written = this.props.value;
    this.view = createRichEditor(this.mount.current!, {
      schema: doc.type.schema,
      doc,
      label: this.props.label,
      placeholder: this.props.placeholder,
      onChange: (changed) => {
        const { block, path = block, name, value } = this.props;
        this.written = typeof value === "string" ? lineValue(changed) : richValue(changed);
        setValue(store, [...path, name], this.written);
      },
      onFocus: (view) => {
        active.view = view;
        select(store, this.props.block);
      },
      onSelect: (chip, marks) => {
        const now = store.read();
        if (now.chip !== chip || now.marks !== marks) store.set({ chip, marks });
      },
      onEscape: () => blockElement(this.props.block)?.focus(),
    });
  }

  override shouldComponentUpdate(next: Props & { editor: Editor }) {
    if (next.value !== this.written && this.view) {
      this.written = next.value;
      replaceText(this.view, this.node(next));
    }
    return false;
  }

  override componentWillUnmount() {
    const { active } = this.props.editor;
    if (active.view === this.view) active.view = undefined;
    this.view?.destroy();
  }

  override render() {
    return <div class="rich" ref={this.mount} data-setting={this.props.name} />;
  }
}

export function TextIn(props: Props) {
  return <Text {...props} editor={useEditor()} />;
}
