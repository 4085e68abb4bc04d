/** Media files: uploads, their folders and descriptions, and resized copies of images. */
import { CAMPAIGN_STATUSES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  CreatedAt,
  Described,
  Document,
  DownloadPage,
  Filter,
  Id,
  Line,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  Page,
  TakesEmpty,
  Text,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { COPY_FORMATS, MAX_COPY_PIXELS, MAX_FRAMES, MAX_PIXELS, MAX_SIDES } from "./media/copy-limits.ts";
import { MAX_SEARCHED, SHOWN_USES } from "./media/media-uses.ts";

const MAX_FOLDER = 100;
export const MAX_FOLDERS = 1_000;
const MAX_ALT = 300;

const pixels = (description: string, example: number, minimum = 1) =>
  Described(Type.Integer({ minimum, maximum: MAX_PIXELS }), description, example);

const CROP = {
  left: pixels("Pixels from the left edge.", 0, 0),
  top: pixels("Pixels from the top edge.", 120, 0),
  width: pixels("Width in pixels.", 1200),
  height: pixels("Height in pixels.", 400),
};
const Crop = Type.Object(CROP, {
  additionalProperties: false,
  description: "Part of the image to keep, in pixels of the upright image; unset: all of it.",
});

const Media = Type.Object({
  id: Id,
  filename: Described(Type.String(), "The file's name.", "books.png"),
  folder: Described(Type.String(), "Extension. Folder of the file; empty: in no folder.", "Autumn"),
  alt: Described(
    Type.String(),
    "Extension. Text for people who do not see the image; offered as its alt text where the image is used.",
    "Two books on a table",
  ),
  copy_of: Described(
    Nullable(Uuid),
    "Extension. Id of the image that this copy was made from, also if that image was deleted; null for an upload.",
    "0199f0a2-0000-7000-8000-000000000031",
  ),
  crop: Type.Union([Type.Object(CROP), Type.Null()], {
    description: "Extension. The part of the image that the copy shows; null for all of it, and for an upload.",
  }),
  content_type: Type.String({
    description: "Detected from the file's content.",
    examples: ["image/png"],
  }),
  size: Described(Type.Integer(), "Bytes.", 20480),
  sha256: Described(
    Type.String(),
    "SHA-256 of the content, hexadecimal.",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ),
  url: Type.String({
    description: "Public URL of the file.",
    examples: ["https://mail.lantern.example/api/emails/public/media/0199f0a2/books.png"],
  }),
  created_at: CreatedAt,
});

const Folder = Line(MAX_FOLDER);

const Use = Type.Object({ id: Id, name: Described(Type.String(), "Name.", "Readers") });
const MediaUsage = Type.Object({
  template_count: Type.Integer({ description: "Number of templates that use the file.", examples: [2] }),
  templates: Type.Array(Use, { description: "The newest templates or campaigns that use the file." }),
  campaign_count: Type.Integer({ description: "Number of campaigns that use or attach the file.", examples: [7] }),
  campaigns: Type.Array(
    Type.Composite([Use, Type.Object({ status: Described(OneOf(...CAMPAIGN_STATUSES), "Current state.") })]),
    {
      description: "The newest templates or campaigns that use the file.",
    },
  ),
});

const FolderOfFiles = Type.Object({
  folder: Described(Type.String(), "Name of the folder.", "Autumn"),
  count: Described(Type.Integer(), "Number of files in it.", 12),
});

export const media = {
  listMedia: {
    summary: "List media files",
    description: "Searches the filename and the alt text. Sortable: created_at, filename, size, content_type.",
    params: Type.Composite([
      ListQuery,
      Type.Object({
        content_type: Filter(Text(255), "Only files of this type.", "image/png"),
        folder: TakesEmpty(
          Filter(Text(MAX_FOLDER), "Extension. Only files of this folder; empty: only files in no folder.", "Autumn"),
        ),
        is_copy: Type.Optional(Described(Bool, "Extension. Only copies of other images, or only uploads.", false)),
      }),
    ]),
    returns: Page(Media),
  },
  listMediaFolders: {
    summary: "List folders of media files",
    description: `Extension. A folder exists while it holds a file. Sorted by name; at most ${MAX_FOLDERS}.`,
    params: Type.Object({}),
    returns: Type.Array(FolderOfFiles),
  },
  createMedia: {
    summary: "Upload a media file",
    description: `403 if the plan's storage (\`media_bytes\`) is full. Deleted files count until no campaign can send them any more. 400 for an image of more than ${MAX_PIXELS / 1_000_000} million pixels.`,
    params: Type.Object({
      filename: Type.String(),
      content_type: Type.String(),
      size: Type.Integer(),
      folder: Type.Optional(Described(Folder, "Extension. Folder of the file.", "Autumn")),
      alt: Type.Optional(Described(Line(MAX_ALT), "Extension. Description of an image.", "Two books on a table")),
    }),
    returns: Media,
  },
  getMedia: { summary: "Get a media file", params: ById, returns: Media },
  updateMedia: {
    summary: "Change a media file",
    description:
      "Extension. Renames, moves or describes the file. Its content never changes, and mails that show it keep it.",
    params: Type.Object({
      ...ById.properties,
      filename: Type.Optional(
        Described(Type.String({ minLength: 1, maxLength: 255 }), "The file's name.", "books.png"),
      ),
      folder: Type.Optional(Described(Folder, "Folder of the file; empty: in no folder.", "Autumn")),
      alt: Type.Optional(Described(Line(MAX_ALT), "Description of an image.", "Two books on a table")),
    }),
    returns: Media,
    example: { folder: "Autumn", alt: "Two books on a table" },
  },
  copyMedia: {
    summary: "Make a resized copy of an image",
    description: `Extension. Crops and resizes a JPEG, PNG, GIF, WebP, AVIF or TIFF image into a new media file, and returns it; requesting an existing copy returns it. The copy is upright, in sRGB and without metadata such as the place where it was taken; the original stays as it is. Never enlarges; a copy has at most ${MAX_COPY_PIXELS / 1_000_000} million pixels, and as WebP no side over ${MAX_SIDES.webp}. Animations stay animated in GIF and WebP copies; those with an EXIF rotation are refused. 400 if the file is no such image or has more than ${MAX_PIXELS / 1_000_000} million pixels (all frames together) or ${MAX_FRAMES} frames. 403 if the plan's storage (\`media_bytes\`) is full. 503 if the server cannot read images.`,
    params: Type.Object({
      ...ById.properties,
      crop: Type.Optional(Crop),
      width: Type.Optional(
        pixels(
          "Greatest width of the copy in pixels; a smaller image keeps its own. For mails: twice the shown width.",
          1200,
        ),
      ),
      format: Type.Optional(
        Described(OneOf(...COPY_FORMATS), "Default: the image's own format; for AVIF and TIFF, JPEG or PNG.", "jpeg"),
      ),
    }),
    returns: Media,
    example: { crop: { left: 0, top: 120, width: 1200, height: 400 }, width: 1200 },
  },
  mediaUsage: {
    summary: "List where a media file is used",
    description: `Extension. Returns the templates that use the file, and of the newest ${MAX_SEARCHED} campaigns those that use or attach it: newest first, at most ${SHOWN_USES} of each; the counts include all found. Deleting the file leaves a gap in these mails, including delivered ones; unfinished campaigns that attach it still send it.`,
    params: ById,
    returns: MediaUsage,
  },
  removeMedia: {
    summary: "Delete a media file",
    description: "Unfinished campaigns that attach the file still send it.",
    params: ById,
    returns: Nothing,
  },
  downloadMedia: {
    summary: "Download a media file (public)",
    params: Type.Object({
      id: Id,
      filename: Described(Type.String(), "Name of the uploaded file.", "books.png"),
    }),
    returns: Document,
  },
  mediaBytes: {
    summary: "The bytes of a media file, page by page, for the gateway",
    visibility: "public",
    params: ById,
    returns: DownloadPage,
  },
} as const satisfies ServiceContract;
