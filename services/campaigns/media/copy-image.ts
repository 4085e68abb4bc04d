/**
 * Crops and resizes an image with sharp, which decodes in a thread of its own. It is loaded with the first copy, because
 * it holds memory and has no binary for some platforms.
 */
import type Sharp from "sharp";
import type { Crop } from "../../../models/media.ts";
import { badRequest, invalid, unavailable } from "../../lib/errors.ts";
import { type CopyFormat, MAX_COPY_PIXELS, MAX_FRAMES, MAX_PIXELS, MAX_SIDES } from "./copy-limits.ts";

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

const TURNED =
  "This animation has an EXIF rotation, which is supported only for still images. Rotate it and upload it again, or choose the format jpeg or png for its first frame.";

interface Measured {
  /** Size of one frame, upright. */
  width: number;
  height: number;
  frames: number;
  hasAlpha: boolean;
  /** True if its orientation moves rows, which sharp applies to all frames as to one image. */
  isTurned: boolean;
}

async function measure(sharp: typeof Sharp, bytes: Buffer): Promise<Measured> {
  const found = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (!found) throw unreadable();
  const { pages: frames = 1, hasAlpha, orientation = 1, autoOrient } = found;
  const { width, height } = autoOrient;
  if (frames > MAX_FRAMES) throw badRequest(`The image has more than ${MAX_FRAMES} frames.`);
  if (width * height * frames > MAX_PIXELS) {
    throw badRequest(`The image has more than ${MAX_PIXELS / 1_000_000} million pixels.`);
  }
  // 2 is mirrored left to right.
  return { width, height, frames, hasAlpha, isTurned: orientation > 2 };
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

interface Copying {
  /** The same for all requests that make the same copy: without what changes nothing. */
  parameters: CopyParameters;
  make(): Promise<MadeCopy>;
}

/** `contentType` is a decodable one. */
export async function copying(bytes: Buffer, contentType: string, asked: CopyParameters): Promise<Copying> {
  const sharp = await sharpOf();
  const measured = await measure(sharp, bytes);
  if (asked.crop) requireInside(asked.crop, measured);
  const isCropped = asked.crop && (asked.crop.width < measured.width || asked.crop.height < measured.height);
  const crop = isCropped ? asked.crop : undefined;
  const ownFormat = FORMAT_OF[contentType] ?? (measured.hasAlpha ? "png" : "jpeg");
  const format = asked.format ?? ownFormat;
  const isAnimated = measured.frames > 1 && (format === "gif" || format === "webp");
  if (isAnimated && measured.isTurned) throw badRequest(TURNED);
  const source = crop ?? measured;
  const ratio = source.width / source.height;
  const frames = isAnimated ? measured.frames : 1;
  const maxSide = MAX_SIDES[format];
  const maxWidth = Math.min(Math.sqrt((MAX_COPY_PIXELS / frames) * ratio), maxSide, maxSide * ratio);
  const width = Math.max(1, Math.floor(Math.min(asked.width ?? source.width, source.width, maxWidth)));

  async function make(): Promise<MadeCopy> {
    const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, pages: isAnimated ? -1 : 1, failOn: "error" })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient();
    if (crop) image.extract(crop);
    // The height bounds images of a few columns, which cannot be narrowed.
    image.resize({ width, height: maxSide, fit: "inside", withoutEnlargement: true });
    // JPEG has no transparency: what shows through in mails is nearly always white.
    if (format === "jpeg") image.flatten({ background: "#ffffff" });
    const made = await image
      .toFormat(format)
      .toBuffer({ resolveWithObject: true })
      .catch((error: Error) => {
        throw error.message.startsWith("timeout") ? badRequest("The image takes too long to read.") : unreadable();
      });
    const { height, pageHeight = height } = made.info;
    return { bytes: made.data, width: made.info.width, height: pageHeight, format };
  }
  const parameters = {
    ...(crop ? { crop } : {}),
    ...(width < source.width ? { width } : {}),
    ...(format === ownFormat ? {} : { format }),
  };
  return { parameters, make };
}

/** "books.png" as "books-1200x400.jpg". */
export function copyName(filename: string, { width, height, format }: MadeCopy): string {
  const stem = filename.replace(/\.[^.]{1,16}$/, "");
  return `${stem.slice(0, 200)}-${width}x${height}.${format === "jpeg" ? "jpg" : format}`;
}

export const REFUSED_TYPE = "Copies can be made of JPEG, PNG, GIF, WebP, AVIF and TIFF images.";
