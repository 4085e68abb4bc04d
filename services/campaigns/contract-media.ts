import type { ServiceContract } from "../define.ts";
import { ById, Document, ListQuery, Nothing, Page, Stream, Text, Time, Type, Uuid } from "../lib/shapes.ts";

const Media = Type.Object({
  id: Uuid,
  filename: Type.String(),
  content_type: Type.String({ description: "Found in the file's own bytes, whatever the upload said." }),
  size: Type.Integer(),
  sha256: Type.String(),
  url: Type.String({ description: "Serves the file to anybody." }),
  created_at: Time,
});

export const media = {
  listMedia: {
    summary: "List media files",
    description: "Search looks into the filename. Sortable: created_at, filename, size, content_type.",
    params: Type.Composite([ListQuery, Type.Object({ content_type: Type.Optional(Text(255)) })]),
    returns: Page(Media),
  },
  createMedia: {
    summary: "Upload a media file",
    params: Type.Object({ filename: Type.String(), content_type: Type.String(), size: Type.Integer() }),
    returns: Media,
  },
  getMedia: { summary: "One media file", params: ById, returns: Media },
  removeMedia: {
    summary: "Delete a media file",
    description: "A campaign that attaches the file and is not through yet still sends it.",
    params: ById,
    returns: Nothing,
  },
  downloadMedia: {
    summary: "The bytes of a media file",
    params: Type.Object({ id: Uuid, filename: Type.String() }),
    returns: Document,
  },
  streamMedia: { summary: "The bytes of a media file as a stream, for the gateway", params: ById, returns: Stream },
} as const satisfies ServiceContract;
