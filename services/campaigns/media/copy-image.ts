/**
 * Crops and resizes an image with sharp, which decodes in a thread of its own. It is loaded with the first copy, because
 * it holds memory and has no binary for some platforms.
 */
import type Sharp from "sharp";
import type { Crop } from "../../../models/media.ts";
import { badRequest, invalid, unavailable } from "../../lib/errors.ts";
import { type CopyFormat, MAX_COPY_PIXELS, MAX_FRAMES, MAX_PIXELS } from "./copy-limits.ts";

export interface CopyParameters {
  crop?: Crop;
  width?: number;
  format?: CopyFormat;
}

const MAX_SECONDS = 20;

/**
 * Sniffed types that are decoded. SVG is not: it refers to other files and can take unbounded time. HEIC has no free
 * decoder.
 */
const FORMAT_OF: Readonly<Record<string, CopyFormat | undefined>> = {
  "image/jpeg": "jpeg",
  "image/png": "png",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": undefined,
  "image/tiff": undefined,
};
/** libvips' names of the decoders of these types. */
const DECODERS = ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"];

export const isDecodable = (contentType: string): boolean => Object.hasOwn(FORMAT_OF, contentType);

let loading: Promise<typeof Sharp> | undefined;

async function load(): Promise<typeof Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  // The bytes decide which decoder libvips takes, so all others are off.
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: DECODERS.map((name) => `VipsForeignLoad${name}`) });
  return sharp;
}

/** Fails where sharp has no binary for this platform, or npm has not installed it. */
async function sharpOf(): Promise<typeof Sharp> {
  loading ??= load();
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw unavailable("This server cannot resize images.", error as Error);
  }
}

const unreadable = () => badRequest("The image cannot be read. It may be damaged.");

interface Measured {
  /** Size of one frame, upright. */
  width: number;
  height: number;
  frames: number;
  hasAlpha: boolean;
}

async function measure(sharp: typeof Sharp, bytes: Buffer): Promise<Measured> {
  const found = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (!found) throw unreadable();
  const { pages: frames = 1, hasAlpha, autoOrient } = found;
  const { width, height } = autoOrient;
  if (frames > MAX_FRAMES) throw badRequest(`The image has more than ${MAX_FRAMES} frames.`);
  if (width * height * frames > MAX_PIXELS) {
    throw badRequest(`The image has more than ${MAX_PIXELS / 1_000_000} million pixels.`);
  }
  return { width, height, frames, hasAlpha };
}

function requireInside({ left, top, ...crop }: Crop, { width, height }: Measured): void {
  if (left + crop.width > width || top + crop.height > height) {
    throw invalid({ crop: [`The image has ${width} × ${height} pixels.`] });
  }
}

export interface MadeCopy {
  bytes: Buffer;
  width: number;
  height: number;
  format: CopyFormat;
}

/** `contentType` is a decodable one. */
export async function copyImage(bytes: Buffer, contentType: string, asked: CopyParameters): Promise<MadeCopy> {
  const sharp = await sharpOf();
  const measured = await measure(sharp, bytes);
  const { crop, width } = asked;
  if (crop) requireInside(crop, measured);
  const format = asked.format ?? FORMAT_OF[contentType] ?? (measured.hasAlpha ? "png" : "jpeg");
  const isAnimated = measured.frames > 1 && (format === "gif" || format === "webp");
  const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, pages: isAnimated ? -1 : 1, failOn: "error" })
    .timeout({ seconds: MAX_SECONDS })
    .autoOrient();
  if (crop) image.extract(crop);
  const source = crop ?? measured;
  const ratio = source.width / source.height;
  const frames = isAnimated ? measured.frames : 1;
  const maxWidth = Math.max(1, Math.floor(Math.sqrt((MAX_COPY_PIXELS / frames) * ratio)));
  image.resize({ width: Math.min(width ?? source.width, maxWidth), withoutEnlargement: true });
  // JPEG has no transparency: what shows through in mails is nearly always white.
  if (format === "jpeg") image.flatten({ background: "#ffffff" });
  const made = await image
    .toFormat(format)
    .toBuffer({ resolveWithObject: true })
    .catch((error: Error) => {
      throw error.message.startsWith("timeout") ? badRequest("The image takes too long to read.") : unreadable();
    });
  const { width: madeWidth, height, pageHeight = height } = made.info;
  return { bytes: made.data, width: madeWidth, height: pageHeight, format };
}

/** "books.png" as "books-1200x400.jpg". */
export function copyName(filename: string, { width, height, format }: MadeCopy): string {
  const stem = filename.replace(/\.[^.]{1,16}$/, "");
  return `${stem.slice(0, 200)}-${width}x${height}.${format === "jpeg" ? "jpg" : format}`;
}

export const REFUSED_TYPE = "Copies can be made of JPEG, PNG, GIF, WebP, AVIF and TIFF images.";
