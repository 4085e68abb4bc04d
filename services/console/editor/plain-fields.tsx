/** Form fields of single settings. */
import { useId, useState } from "preact/hooks";
import { BRAND_COLOURS } from "../../lib/design/brand.ts";
import { visual as t } from "../messages/visual.ts";
import { completed, isUsable } from "./address.ts";
import { useEditor } from "./context.ts";
import { type FieldOf, Labelled, labelFor, useSetter } from "./field.tsx";
import { colour } from "./look.ts";

const choiceLabel = (value: string): string => t.choices[value as keyof typeof t.choices] ?? value;

export function LineField({ name, field, path, value }: FieldOf<"line">) {
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

export function AddressField({ name, field, path, value }: FieldOf<"link" | "image">) {
  const set = useSetter(path);
  const address = `${value ?? field.default}`;
  const [isTyping, setTyping] = useState(false);
  const isWrong = !isTyping && !isUsable(address);
  return (
    <Labelled label={labelFor(name)}>
      {(id) => (
        <>
          <input
            id={id}
            type="text"
            inputMode="url"
            placeholder="https://"
            value={address}
            aria-invalid={isWrong}
            aria-describedby={isWrong ? `${id}-wrong` : undefined}
            onInput={(event) => {
              setTyping(true);
              set(event.currentTarget.value.trim());
            }}
            onBlur={() => {
              setTyping(false);
              if (completed(address) !== address) set(completed(address));
            }}
          />
          {isWrong && (
            <p id={`${id}-wrong`} class="setting-wrong" role="alert">
              {t.link.wrong}
            </p>
          )}
        </>
      )}
    </Labelled>
  );
}

export function ColourField({ name, field, path, value }: FieldOf<"colour">) {
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

export function PixelsField({ name, field, path, value }: FieldOf<"pixels">) {
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

export function ChoiceField({ name, field, path, value }: FieldOf<"choice">) {
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

export function FlagField({ name, field, path, value }: FieldOf<"flag">) {
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

export function HtmlField({ name, path, value }: FieldOf<"html">) {
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
