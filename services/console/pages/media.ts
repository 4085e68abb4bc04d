/** Media: files that mails show or attach, in folders, used storage, and deletion with its effects. */
import type { ReturnsOf } from "../../contracts.ts";
import { config } from "../../lib/config.ts";
import { invalid, isServiceError } from "../../lib/errors.ts";
import { sizeText } from "../../lib/size-text.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { sniffed } from "../head-of-file.ts";
import { asJson } from "../json-answer.ts";
import { listLink } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";

type Media = ReturnsOf<"campaigns.getMedia">;

/** File extension, shown for files without a picture. */
const kindOf = ({ filename }: Media): string => /\.([a-z0-9]{1,5})$/i.exec(filename)?.[1]?.toUpperCase() ?? "…";

export function tileOf(file: Media) {
  const { id, filename, url, created_at, alt } = file;
  // The console's CSP allows images only from its own origin.
  const path = new URL(url).pathname;
  const isImage = file.content_type.startsWith("image/");
  const isCopy = file.copy_of !== null;
  return { id, filename, url, created_at, alt, path, isImage, isCopy, kind: kindOf(file), size: sizeText(file.size) };
}

async function show(visit: CompanyVisit, sentences: string[] = [], status = 200): Promise<Answer> {
  const { query } = visit;
  const [{ results, ...paging }, folders, { limits, usage }] = await Promise.all([
    callIn(visit, "campaigns.listMedia", { ...askedOf(query), ...(query.folder ? { folder: query.folder } : {}) }),
    callIn(visit, "campaigns.listMediaFolders", {}),
    callIn(visit, "accounts.getPlan", { id: visit.company.id }),
  ]);
  const here = companyPath(visit, "media");
  const [used, limit] = [usage.media_bytes, limits.media_bytes];
  const t = messages.media;
  return {
    view: "media",
    title: t.title,
    status,
    values: {
      files: results.map(tileOf),
      folders: folders.map(({ folder }) => folder),
      asked: query,
      used,
      limit,
      room: limit === null ? t.usedPlain(sizeText(used)) : t.used(sizeText(used), sizeText(limit)),
      largest: sizeText(config().MAX_UPLOAD_BYTES),
      sentences,
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "campaigns.createMedia"),
    },
  };
}

export const mediaPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

function stored(visit: CompanyVisit): Promise<Media> {
  requirePermission("campaigns.createMedia", visit.company);
  const { file, form } = visit;
  if (!file) throw invalid({ file: [messages.media.noFile] });
  const { filename, content_type, size, stream } = file;
  const folder = form.folder ?? "";
  return callIn(visit, "campaigns.createMedia", { filename, content_type, size, folder }, { stream });
}

/** An image as the editors offer it. */
export const offeredImage = ({ id, url, filename, alt, copy_of }: Media) => ({
  id,
  url,
  filename,
  alt,
  isCopy: copy_of !== null,
  path: new URL(url).pathname,
});

/** Explains why a file was refused; undefined for other errors. */
function refusalOf(error: unknown): { sentences: string[]; status: number } | undefined {
  const t = messages.media;
  if (isServiceError(error, "INVALID")) return { sentences: Object.values(error.data.fields).flat(), status: 400 };
  if (isServiceError(error, "MEDIA_QUOTA")) return { sentences: [`${error.message} ${t.full}`], status: 403 };
  if (isServiceError(error, "BAD_REQUEST")) return { sentences: [error.message], status: 400 };
  if (isServiceError(error, "UNAVAILABLE")) return { sentences: [error.message], status: 503 };
  if (isServiceError(error, "TOO_LARGE")) return { sentences: [`${error.message} ${t.tooLarge}`], status: 413 };
  return undefined;
}

export async function uploadFile(visit: CompanyVisit): Promise<Answer> {
  try {
    await stored(visit);
    const { folder } = visit.form;
    const here = companyPath(visit, "media");
    return { goTo: folder ? listLink(here, {}, "folder", folder) : here, notice: "uploaded" };
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return show(visit, refusal.sentences, refusal.status);
  }
}

/** The work's result as JSON, or the sentences that say why it was refused. */
export async function jsonOrRefusal(work: () => Promise<unknown>): Promise<RawResponse> {
  try {
    return asJson(await work());
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return asJson({ sentences: refusal.sentences }, refusal.status);
  }
}

/** Image types that all email clients show. */
const SHOWN_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export const uploadImage = (visit: CompanyVisit): Promise<RawResponse> =>
  jsonOrRefusal(async () => {
    requirePermission("campaigns.createMedia", visit.company);
    const { file } = visit;
    if (!file) return offeredImage(await stored(visit));
    // Before any of it is stored.
    const { type, stream } = await sniffed(file.stream, file.filename);
    if (!SHOWN_TYPES.includes(type)) throw invalid({ file: [messages.media.noImage] });
    return offeredImage(await stored({ ...visit, file: { ...file, stream } }));
  });
