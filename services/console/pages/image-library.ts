/** Images for the visual editor, in JSON: the library, and copies that are cut and resized for where they are shown. */
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import type { RawResponse } from "../contract.ts";
import { asJson } from "../json-answer.ts";
import { type CompanyVisit, callIn, requireMay } from "../request.ts";
import { jsonOrRefusal, offeredImage } from "./media.ts";

type Media = ReturnsOf<"campaigns.getMedia">;

/** HEIC is missing: no email client and few browsers show it. */
const SHOWN = ["png", "jpeg", "gif", "webp", "avif", "svg+xml"].map((type) => `image/${type}`);
const PAGE_SIZE = 24;

/** Uploads only: a copy is found through its original. */
export async function imageLibrary(visit: CompanyVisit): Promise<RawResponse> {
  const { search, folder, cursor } = visit.query;
  const asked = { content_type: SHOWN, is_copy: false, page_size: PAGE_SIZE };
  const chosen = Object.entries({ search, folder, cursor }).filter(([, text]) => text);
  const [{ results, next }, folders] = await Promise.all([
    callIn(visit, "campaigns.listMedia", { ...asked, ...Object.fromEntries(chosen) }),
    callIn(visit, "campaigns.listMediaFolders", {}),
  ]);
  return asJson({ images: results.map(offeredImage), folders: folders.map(({ folder: name }) => name), next });
}

/** The image that this one was made from, or itself. */
async function originalOf(visit: CompanyVisit, image: Media): Promise<Media> {
  if (image.copy_of === null) return image;
  try {
    return await callIn(visit, "campaigns.getMedia", { id: image.copy_of });
  } catch (error) {
    if (isServiceError(error, "NOT_FOUND")) return image;
    throw error;
  }
}

export async function originalImage(visit: CompanyVisit): Promise<RawResponse> {
  const image = await callIn(visit, "campaigns.getMedia", { id: visit.params.id! });
  const original = await originalOf(visit, image);
  return asJson({ image: offeredImage(original), crop: original === image ? null : image.crop });
}

/** Left, top, width and height; empty for the whole image. */
function cropOf(text: string | undefined): Pick<ParamsOf<"campaigns.copyMedia">, "crop"> {
  if (!text) return {};
  const [left = 0, top = 0, width = 0, height = 0] = text.split(",").map(Number);
  return { crop: { left, top, width, height } };
}

export function copyImage(visit: CompanyVisit): Promise<RawResponse> {
  requireMay(visit, "campaigns.copyMedia");
  const { width, crop } = visit.form;
  const asked = { id: visit.params.id!, ...cropOf(crop), ...(width ? { width: Number(width) } : {}) };
  return jsonOrRefusal(async () => offeredImage(await callIn(visit, "campaigns.copyMedia", asked)));
}
