/** Puts an image into a block: at once as it is, then as a copy for the width in which it is shown. */
import { isProblem } from "./ask.ts";
import type { Boot } from "./boot.ts";
import { type Crop, fitted, type Image } from "./images.ts";
import { shownWidth } from "./shown-width.ts";
import { designOf, type Store, setValue } from "./store.ts";
import { getAt, type Path, parentOf, setAt } from "./tree.ts";

interface Where {
  boot: Boot;
  store: Store;
}

const textAt = (store: Store, path: Path): string => `${getAt(designOf(store.read()), path) ?? ""}`;

/** `path`: of the address. Returns a problem to show, or nothing. */
export async function takeImage({ boot, store }: Where, path: Path, image: Image, crop?: Crop): Promise<string> {
  const block = parentOf(path);
  const alt = [...block, "alt"];
  const design = setAt(designOf(store.read()), path, image.url);
  const isDescribed = textAt(store, alt) !== "" || image.alt === "";
  store.edit({ design: isDescribed ? design : setAt(design, alt, image.alt) }, path.join("/"));
  const made = await fitted(boot, image, shownWidth(design, block, getAt(design, [...block, "width"])), crop);
  if (isProblem(made)) return made.problem;
  // The user may have chosen another image during the request.
  if (textAt(store, path) === image.url && made.url !== image.url) setValue(store, path, made.url);
  return "";
}
