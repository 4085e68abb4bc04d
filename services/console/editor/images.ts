/** Images of the company's files: the library, uploads, and copies of the size in which they are shown. */
import { ask, isProblem, type Problem } from "./ask.ts";
import type { Boot } from "./boot.ts";

export type Image = Boot["images"][number];
export interface Crop {
  left: number;
  top: number;
  width: number;
  height: number;
}
export interface Library {
  images: Image[];
  folders: string[];
  next: string | null;
}

/** Screens with two pixels for each pixel of the mail show all of these. */
const PIXELS = 2;
/** Not worth a copy. */
const SLACK = 1.1;

/** Makes the image known, so that the canvas shows it. */
function known(boot: Boot, answer: Image | Problem): Image | Problem {
  if (!isProblem(answer) && !boot.images.some(({ url }) => url === answer.url)) boot.images.unshift(answer);
  return answer;
}

export async function uploadImage(boot: Boot, file: File, folder = ""): Promise<Image | Problem> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ form_token: boot.formToken, folder, file })) form.append(name, value);
  return known(boot, await ask<Image>(boot, boot.paths.upload, form));
}

export function findImages(boot: Boot, query: Record<string, string>): Promise<Library | Problem> {
  const asked = Object.entries(query).filter(([, value]) => value !== "");
  return ask(boot, `${boot.paths.media}/library?${new URLSearchParams(asked)}`);
}

/** The id in the address of one of the company's files. */
export const idOf = (url: string): string | undefined => /\/public\/media\/([0-9a-f-]{36})\//i.exec(url)?.[1];

export const originalOf = (boot: Boot, id: string): Promise<{ image: Image; crop: Crop | null } | Problem> =>
  ask(boot, `${boot.paths.media}/${id}/original`);

export async function sizeOf(path: string): Promise<{ width: number; height: number }> {
  const image = new Image();
  image.src = path;
  await image.decode().catch(() => {});
  return { width: image.naturalWidth, height: image.naturalHeight };
}

/** True if a copy would be much smaller. Vector images have no pixels. */
export const isTooLarge = ({ path }: Pick<Image, "path">, width: number, shown: number): boolean =>
  width > shown * PIXELS * SLACK && !/\.svg$/i.test(path);

/** True if a larger copy would look sharper. */
export const isTooSmall = (width: number, shown: number): boolean => width * SLACK < shown * PIXELS;

/** The image itself, or a copy for the width in which it is shown. */
export async function fitted(boot: Boot, image: Image, shown: number, crop?: Crop): Promise<Image | Problem> {
  if (!crop && !isTooLarge(image, (await sizeOf(image.path)).width, shown)) return image;
  const { left, top, width, height } = crop ?? {};
  const form = new URLSearchParams({ width: `${Math.round(shown * PIXELS)}` });
  if (crop) form.set("crop", [left, top, width, height].join(","));
  return known(boot, await ask<Image>(boot, `${boot.paths.media}/${image.id}/copy`, form));
}
