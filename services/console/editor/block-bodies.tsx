/** Blocks as they look in the mail, like mail.ts of each kind draws them; texts are edited in place. */
import type { ComponentChildren, JSX } from "preact";
import { BLOCKS, type Kind } from "../../lib/design/blocks/fields.ts";
import type { Block } from "../../lib/design/design.ts";
import { type Fields, filled, type ValuesOf } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { type Editor, useEditor } from "./context.ts";
import { chooseImage } from "./focus.ts";
import { colour, font, HEADING_SIZES, px, shownImage } from "./look.ts";
import { TextIn } from "./rich-text.tsx";
import type { Path } from "./tree.ts";

type Values<K extends Kind> = ValuesOf<(typeof BLOCKS)[K]>;
interface BodyProps<K extends Kind> {
  values: Values<K>;
  path: Path;
  editor: Editor;
}
type Bodies = { [K in Kind]: (props: BodyProps<K>) => JSX.Element };

const toSide = { left: "flex-start", center: "center", right: "flex-end" } as const;

function Picture({ src, alt, style }: { src: string; alt: string; style?: Record<string, string | undefined> }) {
  const { boot } = useEditor();
  const shown = shownImage(src, boot.images);
  if (shown) return <img src={shown} alt={alt} style={style} draggable={false} />;
  const icon = (
    <svg class="icon" aria-hidden="true">
      <use href={`${boot.icons}#image`} />
    </svg>
  );
  if (src === "") {
    return (
      <button type="button" class="no-image" style={style} tabIndex={-1} onClick={chooseImage}>
        {icon}
        {t.noImage}
      </button>
    );
  }
  return (
    <div class="no-image" style={style}>
      {icon}
      <span>{alt || src}</span>
      <small>{t.otherSite}</small>
    </div>
  );
}

interface LineProps {
  path: Path;
  at?: Path;
  name: string;
  value: string;
  label: string;
  placeholder?: string;
}
const Line = ({ path, at, name, value, label, placeholder = label }: LineProps) => (
  <TextIn block={path} path={at ?? path} name={name} value={value} label={label} placeholder={placeholder} />
);

function Button({ values, path, editor, name = "text" }: BodyProps<"button"> & { name?: string }) {
  const { brand } = editor.boot;
  const { text, color, background, align, wide } = values;
  const style = {
    color: colour(color, brand),
    backgroundColor: colour(background, brand),
    borderRadius: px(brand.buttonRadius),
    width: wide ? "100%" : "auto",
  };
  return (
    <div class="mail-row" style={{ justifyContent: toSide[align] }}>
      <div class="mail-button" style={style}>
        <Line path={path} name={name} value={text} label={t.kinds.button} placeholder={t.placeholders.button} />
      </div>
    </div>
  );
}

const bodies: Bodies = {
  heading: ({ values: { text, level, align, color }, path, editor: { boot } }) => (
    <div
      class="mail-heading"
      style={{
        fontSize: px(HEADING_SIZES[level]),
        fontFamily: font(boot.brand.headingFont),
        textAlign: align,
        color: colour(color, boot.brand),
      }}
    >
      <Line path={path} name="text" value={text} label={t.kinds.heading} placeholder={t.placeholders.heading} />
    </div>
  ),
  text: ({ values: { content, size, align, color }, path, editor: { boot } }) => (
    <div class="mail-text" style={{ fontSize: px(size), textAlign: align, color: colour(color, boot.brand) }}>
      <TextIn block={path} name="content" value={content} label={t.kinds.text} placeholder={t.placeholders.text} />
    </div>
  ),
  image: ({ values: { src, alt, width, radius, align } }) => (
    <div class="mail-row" style={{ justifyContent: toSide[align] }}>
      <Picture src={src} alt={alt} style={{ width: width > 0 ? px(width) : "100%", borderRadius: px(radius) }} />
    </div>
  ),
  button: Button,
  divider: ({ values: { color, thickness }, editor: { boot } }) => (
    <div class="mail-divider" style={{ borderTop: `${thickness}px solid ${colour(color, boot.brand) ?? "#d5dae0"}` }} />
  ),
  spacer: ({ values: { height } }) => <div class="mail-spacer" style={{ height: px(height) }} />,
  list: ({ values: { entries, kind }, path }) => (
    <ul class={`mail-list of-${kind}`}>
      {entries.map(({ text }, no) => (
        <li key={no}>
          <Line
            path={path}
            at={[...path, "entries", no]}
            name="text"
            value={text}
            label={t.settings.item(no + 1)}
            placeholder={t.placeholders.entry}
          />
        </li>
      ))}
    </ul>
  ),
  quote: ({ values: { text, author, color }, path, editor: { boot } }) => (
    <div class="mail-quote" style={{ borderLeftColor: colour(color, boot.brand) ?? "#d5dae0" }}>
      <Line path={path} name="text" value={text} label={t.placeholders.quote} />
      <small>
        <Line path={path} name="author" value={author} label={t.labels.author} />
      </small>
    </div>
  ),
  table: ({ values: { header, rows }, path }) => (
    <div class="mail-table">
      {rows.map(({ cells }, row) => (
        <div class={header && row === 0 ? "mail-table-row is-head" : "mail-table-row"} key={row}>
          {rows[0]!.cells.map((_, column) => (
            <Line
              key={column}
              path={path}
              at={[...path, "rows", row, "cells", column]}
              name="text"
              value={cells[column]?.text ?? ""}
              label={t.settings.cell(row + 1, column + 1)}
              placeholder="–"
            />
          ))}
        </div>
      ))}
    </div>
  ),
  card: ({ values, path, editor }) => (
    <div class="mail-card">
      <Picture src={values.src} alt={values.alt} style={{ width: "100%" }} />
      <strong class="mail-card-title">
        <Line path={path} name="title" value={values.title} label={t.labels.title} />
      </strong>
      <Line path={path} name="text" value={values.text} label={t.labels.text} />
      <strong>
        <Line path={path} name="price" value={values.price} label={t.labels.price} />
      </strong>
      <Button
        values={{ ...filled(BLOCKS.button, { text: values.button }) }}
        name="button"
        path={path}
        editor={editor}
      />
    </div>
  ),
  social: ({ values: { links, align }, editor: { boot } }) => (
    <div class="mail-social" style={{ textAlign: align, color: colour("brand.primary", boot.brand) }}>
      {links.length === 0 ? t.noLinks : links.map(({ network }) => t.choices[network]).join("  ·  ")}
    </div>
  ),
  header: ({ values: { width, align }, editor: { boot } }) => {
    const { brand } = boot;
    const logo = shownImage(brand.logoUrl, boot.images);
    return (
      <div class="mail-row" style={{ justifyContent: toSide[align] }}>
        {logo ? (
          <img src={logo} alt={brand.companyName} style={{ width: px(width) }} draggable={false} />
        ) : (
          <strong class="mail-logo" style={{ fontFamily: font(brand.headingFont), color: brand.colours.primary }}>
            {brand.companyName}
          </strong>
        )}
      </div>
    );
  },
  footer: ({ values: { text, unsubscribe, preferences, color, align }, path, editor: { boot } }) => (
    <div class="mail-footer" style={{ textAlign: align, color: colour(color, boot.brand) }}>
      <Line path={path} name="text" value={text} label={t.footerText} />
      {[boot.brand.companyName, ...boot.brand.footerText.split("\n")].filter(Boolean).map((line) => (
        <div key={line}>{line}</div>
      ))}
      <div>
        {[unsubscribe, preferences].filter(Boolean).map((words, no) => (
          <span key={words}>
            {no > 0 && " | "}
            <u>{words}</u>
          </span>
        ))}
      </div>
    </div>
  ),
  html: ({ values: { html } }) => <pre class="mail-html">{html.trim() === "" ? t.emptyHtml : html.slice(0, 600)}</pre>,
};

export function Body({ kind, block, path }: { kind: Kind; block: Block; path: Path }): ComponentChildren {
  const editor = useEditor();
  const Shown = bodies[kind] as (props: { values: unknown; path: Path; editor: Editor }) => JSX.Element;
  const values = filled(BLOCKS[kind] as Fields, block as Record<string, unknown>);
  return <Shown values={values} path={path} editor={editor} />;
}
