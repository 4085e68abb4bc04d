/** Cuts an image: a shape, a size and a place, by sliders or by dragging the part that stays. */
import { useEffect, useRef, useState } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { type Framing, framingOf, isWhole, MAX_ZOOM, partOf, SHAPES, type Shape, type Size, WHOLE } from "./crop.ts";
import { Dialog } from "./dialog.tsx";
import { type Crop, type Image, sizeOf } from "./images.ts";

interface Props {
  image: Image;
  crop: Crop | null;
  /** Undefined for the whole image. */
  apply(crop: Crop | undefined): void;
  onClose(): void;
}

const within = (value: number) => Math.min(Math.max(value, 0), 1);
const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;

export function ImageCrop({ image, crop, apply, onClose }: Props) {
  const [size, setSize] = useState<Size>();
  const [framing, setFraming] = useState(WHOLE);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void sizeOf(image.path).then((found) => {
      setSize(found);
      if (crop && found.width > 0) setFraming(framingOf(found, crop));
    });
  }, []);
  if (!size || size.width === 0) return null;
  const part = partOf(size, framing);
  const change = (more: Partial<Framing>) => setFraming((now) => ({ ...now, ...more }));
  const drag = (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const scale = size.width / shown.current!.clientWidth;
    const moved = (by: number, free: number) => (free > 0 ? (by * scale) / free : 0);
    change({
      x: within(framing.x + moved(event.movementX, size.width - part.width)),
      y: within(framing.y + moved(event.movementY, size.height - part.height)),
    });
  };
  const slider = (label: string, value: number, isFree: boolean, take: (value: number) => void) => (
    <label>
      {label}
      <input
        type="range"
        min={0}
        max={100}
        disabled={!isFree}
        value={Math.round(value * 100)}
        onInput={(event) => take(Number(event.currentTarget.value) / 100)}
      />
    </label>
  );
  return (
    <Dialog title={t.crop.title} onClose={onClose}>
      <div class="crop-image" ref={shown}>
        <img src={image.path} alt="" draggable={false} />
        <div
          class="crop-part"
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={drag}
          style={{
            left: percent(part.left, size.width),
            top: percent(part.top, size.height),
            width: percent(part.width, size.width),
            height: percent(part.height, size.height),
          }}
        />
      </div>
      <fieldset class="setting">
        <legend>{t.crop.shape}</legend>
        <div class="segmented">
          {(Object.keys(SHAPES) as Shape[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === framing.shape}
              onClick={() => change({ shape: one, zoom: 1, x: 0.5, y: 0.5 })}
            >
              {one === "original" ? t.crop.original : one}
            </button>
          ))}
        </div>
      </fieldset>
      <div class="crop-sliders">
        {slider(t.crop.zoom, (framing.zoom - 1) / (MAX_ZOOM - 1), true, (zoom) =>
          change({ zoom: 1 + zoom * (MAX_ZOOM - 1) }),
        )}
        {slider(t.crop.across, framing.x, part.width < size.width, (x) => change({ x }))}
        {slider(t.crop.down, framing.y, part.height < size.height, (y) => change({ y }))}
      </div>
      <p class="hint" role="status">
        {t.crop.size(part.width, part.height)}
      </p>
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t.crop.cancel}
        </button>
        <button type="button" class="primary" onClick={() => apply(isWhole(part, size) ? undefined : part)}>
          {t.crop.apply}
        </button>
      </p>
    </Dialog>
  );
}
