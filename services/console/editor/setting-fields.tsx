/** Forms of settings, drawn from the settings of a block as data. */
import type { Field, Fields } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { newItem } from "./document.ts";
import { type AnyField, type FieldOf, labelFor, useSetter } from "./field.tsx";
import { Icon, IconButton } from "./icon.tsx";
import { AltField, ImageField } from "./image-field.tsx";
import {
  AddressField,
  ChoiceField,
  ColourField,
  FlagField,
  HtmlField,
  LineField,
  PixelsField,
} from "./plain-fields.tsx";
import { getAt, type Path } from "./tree.ts";

function ItemsField({ value, ...props }: FieldOf<"items">) {
  const { name, field, path } = props;
  const set = useSetter(path);
  const entries = (value ?? []) as Record<string, unknown>[];
  // Rows and columns of a table are changed together.
  const inner = Object.values(field.fields).length === 1 ? Object.entries(field.fields)[0]! : undefined;
  if (inner?.[1].kind === "items") return <TableField {...props} value={entries} />;
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

function TableField({ name, field, path, value }: FieldOf<"items"> & { value: unknown }) {
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
} as unknown as Record<Field["kind"], AnyField>;

/** The description of an image has a field of its own. */
const byName: Record<string, AnyField> = { alt: AltField as unknown as AnyField };

interface FieldsProps {
  fields: Fields;
  path: Path;
  values: Readonly<Record<string, unknown>>;
}

export function SettingFields({ fields, path, values }: FieldsProps) {
  return (
    <>
      {Object.entries(fields).map(([name, field]) => {
        const Shown = byName[name] ?? byKind[field.kind];
        const value = getAt(values, [name]);
        return <Shown key={name} name={name} field={field} path={[...path, name]} value={value} values={values} />;
      })}
    </>
  );
}
