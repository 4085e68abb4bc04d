/** The image of a block: chosen, uploaded, cut, and delivered in twice the width in which it is shown; and its description. */
import { useId, useState } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { isProblem } from "./ask.ts";
import { useEditor, useStore } from "./context.ts";
import { type FieldOf, Labelled, labelFor, useSetter } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { ImageCrop } from "./image-crop.tsx";
import { ImageLibrary } from "./image-library.tsx";
import { type Crop, type Image, idOf, isTooLarge, isTooSmall, originalOf, uploadImage } from "./images.ts";
import { shownImage } from "./look.ts";
import { AddressField } from "./plain-fields.tsx";
import { shownWidth } from "./shown-width.ts";
import { designOf } from "./store.ts";
import { takeImage } from "./take-image.ts";
import { parentOf } from "./tree.ts";

/** Newest images that are offered without a dialog. */
const QUICK = 6;

type Open = "library" | { image: Image; crop: Crop | null } | null;

export function ImageField(props: FieldOf<"image">) {
  const { path, value, values } = props;
  const { boot, store } = useEditor();
  const [open, setOpen] = useState<Open>(null);
  const [problem, setProblem] = useState("");
  const [natural, setNatural] = useState(0);
  /** The image and width for which a copy was asked; another request would give the same. */
  const [resizedFor, setResizedFor] = useState("");
  const id = useId();
  const block = parentOf(path);
  const shown = useStore((state) => shownWidth(designOf(state), block, values.width));
  const src = `${value ?? ""}`;
  const preview = shownImage(src, boot.images);
  const own = preview ? idOf(src) : undefined;
  const isCopy = boot.images.some(({ url, isCopy: is }) => url === src && is);
  const isLarge = own !== undefined && isTooLarge({ path: preview! }, natural, shown);
  const isSmall = isCopy && natural > 0 && isTooSmall(natural, shown) && resizedFor !== `${src} ${shown}`;

  const take = async (image: Image, crop?: Crop) => {
    setOpen(null);
    setProblem(await takeImage({ boot, store }, path, image, crop));
  };
  const upload = async (file: File | undefined) => {
    if (!file) return;
    const made = await uploadImage(boot, file);
    if (isProblem(made)) return setProblem(made.problem);
    store.set({ said: t.says.uploaded });
    await take(made);
  };
  const original = async () => {
    const found = await originalOf(boot, own!);
    if (!isProblem(found)) return found;
    setProblem(found.problem);
    return undefined;
  };
  const resize = async () => {
    setResizedFor(`${src} ${shown}`);
    const found = await original();
    if (found) await take(found.image, found.crop ?? undefined);
  };
  const newest = boot.images.filter(({ isCopy }) => !isCopy).slice(0, QUICK);
  const choice = (
    <ul class="picture-choice" aria-label={t.settings.library}>
      {newest.map((image) => (
        <li key={image.url}>
          <button type="button" title={image.filename} onClick={() => void take(image)}>
            <img src={image.path} alt={image.filename} loading="lazy" />
          </button>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      <div class="setting">
        {preview && (
          <img
            class="picture-now"
            src={preview}
            alt=""
            onLoad={(event) => setNatural(event.currentTarget.naturalWidth)}
          />
        )}
        {isLarge && <p class="hint">{t.settings.tooWide(natural, shown)}</p>}
        {isSmall && <p class="hint">{t.settings.tooNarrow(natural, shown)}</p>}
        {src === "" && newest.length > 0 && choice}
        <div class="picture-buttons">
          <button type="button" onClick={() => setOpen("library")}>
            <Icon icon="image" />
            {src === "" ? t.settings.choose : t.settings.replace}
          </button>
          {own && (
            <button
              type="button"
              onClick={async () => {
                const found = await original();
                if (found) setOpen(found);
              }}
            >
              {t.settings.crop}
            </button>
          )}
          {(isLarge || isSmall) && (
            <button type="button" onClick={resize}>
              {t.settings.resize}
            </button>
          )}
        </div>
        <label for={id}>{t.settings.upload}</label>
        <input id={id} type="file" accept="image/*" onChange={(event) => void upload(event.currentTarget.files?.[0])} />
        {problem !== "" && (
          <p class="setting-wrong" role="alert">
            {problem}
          </p>
        )}
      </div>
      <AddressField {...props} />
      {open === "library" && <ImageLibrary take={(image) => void take(image)} onClose={() => setOpen(null)} />}
      {open && open !== "library" && (
        <ImageCrop {...open} apply={(crop) => void take(open.image, crop)} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

/** Asks for the description of an image. Without an image there is nothing to describe yet. */
export function AltField({ name, field, path, value, values }: FieldOf<"line">) {
  const set = useSetter(path);
  const isMissing = `${value ?? ""}`.trim() === "" && `${values.src ?? ""}` !== "";
  return (
    <Labelled label={labelFor(name)}>
      {(id) => (
        <>
          <input
            id={id}
            type="text"
            maxLength={field.maxLength}
            value={`${value ?? ""}`}
            aria-describedby={`${id}-hint`}
            onInput={(event) => set(event.currentTarget.value)}
          />
          <p id={`${id}-hint`} class={isMissing ? "setting-warning" : "hint"}>
            {isMissing && <Icon icon="triangle-alert" />}
            {isMissing ? t.settings.altMissing : t.settings.altHint}
          </p>
        </>
      )}
    </Labelled>
  );
}
