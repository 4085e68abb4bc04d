/** A form field for each kind of setting. Forms are drawn from the settings of a block as data. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { BRAND_COLOURS } from "../../lib/design/brand.ts";
import type { Field, Fields } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { useEditor } from "./context.ts";
import { newItem } from "./document.ts";
import { Icon, IconButton } from "./icon.tsx";
import { colour } from "./look.ts";
import { setValue } from "./store.ts";
import { getAt, type Path } from "./tree.ts";
import { uploadImage } from "./upload.ts";

interface FieldProps<F extends Field = Field> {
  name: string;
  field: F;
  path: Path;
  value: unknown;
}
type Of<K extends Field["kind"]> = FieldProps<Extract<Field, { kind: K }>>;

export const labelFor = (name: string): string => t.labels[name as keyof typeof t.labels] ?? name;
const choiceLabel = (value: string): string => t.choices[value as keyof typeof t.choices] ?? value;

function useSetter(path: Path): (value: unknown) => void {
  const { store } = useEditor();
  return (value) => setValue(store, path, value);
}

interface LabelledProps {
  label: string;
  children: (id: string) => ComponentChildren;
}
export function Labelled({ label, children }: LabelledProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}

function LineField({ name, field, path, value }: Of<"line">) {
  const set = useSetter(path);
  const isLong = field.maxLength >= 500;
  return (
    <Labelled label={labelFor(name)}>
      {(id) => {
        const common = { id, value: `${value ?? field.default}`, maxLength: field.maxLength };
        return isLong ? (
          <textarea {...common} rows={2} onInput={(event) => set(event.currentTarget.value.replaceAll("\n", " "))} />
        ) : (
          <input {...common} type="text" onInput={(event) => set(event.currentTarget.value)} />
        );
      }}
    </Labelled>
  );
}

function AddressField({ name, field, path, value }: Of<"link" | "image">) {
  const set = useSetter(path);
  return (
    <Labelled label={labelFor(name)}>
      {(id) => (
        <input
          id={id}
          type="text"
          inputMode="url"
          placeholder="https://"
          value={`${value ?? field.default}`}
          onInput={(event) => set(event.currentTarget.value.trim())}
        />
      )}
    </Labelled>
  );
}

function ImageField(props: Of<"image">) {
  const { boot, store } = useEditor();
  const set = useSetter(props.path);
  const [images, setImages] = useState(boot.images);
  const [problem, setProblem] = useState("");
  const id = useId();
  const upload = async (file: File | undefined) => {
    if (!file) return;
    const made = await uploadImage(boot, file);
    if ("problem" in made) return setProblem(made.problem);
    setProblem("");
    boot.images.unshift(made);
    setImages([...boot.images]);
    store.set({ said: t.says.uploaded });
    set(made.url);
  };
  return (
    <>
      <div class="setting">
        <label for={id}>{t.settings.upload}</label>
        <input id={id} type="file" accept="image/*" onChange={(event) => upload(event.currentTarget.files?.[0])} />
        {problem !== "" && (
          <p class="setting-wrong" role="alert">
            {problem}
          </p>
        )}
        {images.length === 0 ? (
          <p class="hint">{t.settings.noImages}</p>
        ) : (
          <ul class="picture-choice" aria-label={t.settings.library}>
            {images.map(({ url, path, filename }) => (
              <li key={url}>
                <button type="button" aria-pressed={props.value === url} title={filename} onClick={() => set(url)}>
                  <img src={path} alt={filename} loading="lazy" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <AddressField {...props} />
    </>
  );
}

function ColourField({ name, field, path, value }: Of<"colour">) {
  const { boot } = useEditor();
  const set = useSetter(path);
  const now = `${value ?? field.default}`;
  const shown = colour(now, boot.brand);
  return (
    <fieldset class="setting">
      <legend>{labelFor(name)}</legend>
      <div class="swatches">
        {BRAND_COLOURS.map((one) => (
          <button
            key={one}
            type="button"
            class="swatch"
            aria-label={t.colours[one]}
            title={t.colours[one]}
            aria-pressed={now === `brand.${one}`}
            style={{ backgroundColor: boot.brand.colours[one] }}
            onClick={() => set(`brand.${one}`)}
          />
        ))}
        <input
          type="color"
          aria-label={t.settings.ownColour}
          title={t.settings.ownColour}
          value={shown ?? "#ffffff"}
          onInput={(event) => set(event.currentTarget.value)}
        />
        {value !== undefined && (
          <button type="button" class="small-button" onClick={() => set(undefined)}>
            {t.settings.usual}
          </button>
        )}
      </div>
    </fieldset>
  );
}

function PixelsField({ name, field, path, value }: Of<"pixels">) {
  const set = useSetter(path);
  const take = (text: string) => {
    const n = Math.round(Number(text));
    if (text !== "" && Number.isFinite(n)) set(Math.min(Math.max(n, field.minimum), field.maximum));
  };
  const label = field.default === 0 && name === "width" ? t.labels.widthOrFull : labelFor(name);
  return (
    <Labelled label={label}>
      {(id) => (
        <input
          id={id}
          type="number"
          min={field.minimum}
          max={field.maximum}
          value={Number(value ?? field.default)}
          onChange={(event) => take(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

const FEW = 3;

function ChoiceField({ name, field, path, value }: Of<"choice">) {
  const set = useSetter(path);
  const now = value ?? field.default;
  if (field.values.length > FEW) {
    return (
      <Labelled label={labelFor(name)}>
        {(id) => (
          <select id={id} value={`${now}`} onChange={(event) => set(event.currentTarget.value)}>
            {field.values.map((one) => (
              <option key={one} value={one}>
                {choiceLabel(one)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
    );
  }
  return (
    <fieldset class="setting">
      <legend>{labelFor(name)}</legend>
      <div class="segmented">
        {field.values.map((one) => (
          <button key={one} type="button" aria-pressed={one === now} onClick={() => set(one)}>
            {choiceLabel(one)}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function FlagField({ name, field, path, value }: Of<"flag">) {
  const set = useSetter(path);
  const id = useId();
  return (
    <div class="setting-switch">
      <label for={id}>{labelFor(name)}</label>
      <input
        id={id}
        type="checkbox"
        checked={Boolean(value ?? field.default)}
        onChange={(event) => set(event.currentTarget.checked)}
      />
    </div>
  );
}

function HtmlField({ name, path, value }: Of<"html">) {
  const set = useSetter(path);
  return (
    <Labelled label={labelFor(name)}>
      {(id) => (
        <textarea
          id={id}
          class="code"
          rows={10}
          spellcheck={false}
          value={`${value ?? ""}`}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

function ItemsField({ name, field, path, value }: Of<"items">) {
  const set = useSetter(path);
  const entries = (value ?? []) as Record<string, unknown>[];
  // Rows and columns of a table are changed together.
  const inner = Object.values(field.fields).length === 1 ? Object.entries(field.fields)[0]! : undefined;
  if (inner?.[1].kind === "items") return <TableField name={name} field={field} path={path} value={entries} />;
  return (
    <fieldset class="setting">
      <legend>{labelFor(name)}</legend>
      {entries.map((entry, no) => (
        <fieldset class="setting-entry" aria-label={t.settings.item(no + 1)} key={no}>
          <SettingFields fields={field.fields} path={[...path, no]} values={entry} />
          <IconButton
            icon="trash-2"
            label={t.settings.removeItem(no + 1)}
            isDisabled={entries.length <= field.minimum}
            onClick={() => set(entries.toSpliced(no, 1))}
          />
        </fieldset>
      ))}
      <button
        type="button"
        class="small-button"
        disabled={entries.length >= field.maximum}
        onClick={() => set([...entries, newItem(field.fields)])}
      >
        <Icon icon="plus" />
        {t.settings.addItem}
      </button>
    </fieldset>
  );
}

type Row = { cells: Record<string, unknown>[] };

function TableField({ name, field, path, value }: Of<"items"> & { value: unknown }) {
  const set = useSetter(path);
  const rows = value as unknown as Row[];
  const width = rows[0]?.cells.length ?? 1;
  const row = (): Row => ({ cells: Array.from({ length: width }, () => ({})) });
  const widened = (by: 1 | -1) =>
    rows.map(({ cells }) => ({ cells: by === 1 ? [...cells, {}] : cells.slice(0, Math.max(1, width - 1)) }));
  return (
    <fieldset class="setting">
      <legend>{labelFor(name)}</legend>
      <div class="swatches">
        <button
          type="button"
          class="small-button"
          disabled={rows.length >= field.maximum}
          onClick={() => set([...rows, row()])}
        >
          {t.settings.addRow}
        </button>
        <button type="button" class="small-button" disabled={rows.length < 2} onClick={() => set(rows.slice(0, -1))}>
          {t.settings.removeRow(rows.length)}
        </button>
        <button type="button" class="small-button" disabled={width >= 6} onClick={() => set(widened(1))}>
          {t.settings.addColumn}
        </button>
        <button type="button" class="small-button" disabled={width < 2} onClick={() => set(widened(-1))}>
          {t.settings.removeColumn}
        </button>
      </div>
    </fieldset>
  );
}

const byKind = {
  line: LineField,
  link: AddressField,
  image: ImageField,
  colour: ColourField,
  pixels: PixelsField,
  choice: ChoiceField,
  flag: FlagField,
  html: HtmlField,
  items: ItemsField,
  // Edited in place.
  rich: () => null,
} as unknown as Record<Field["kind"], (props: FieldProps) => preact.JSX.Element | null>;

interface FieldsProps {
  fields: Fields;
  path: Path;
  values: Readonly<Record<string, unknown>>;
}

/** Numbers stand in pairs. */
export function SettingFields({ fields, path, values }: FieldsProps) {
  return (
    <>
      {Object.entries(fields).map(([name, field]) => {
        const Shown = byKind[field.kind];
        return <Shown key={name} name={name} field={field} path={[...path, name]} value={getAt(values, [name])} />;
      })}
    </>
  );
}
