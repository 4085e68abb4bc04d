/** One file of the media page: its name, folder and description, and its deletion. */
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { formPage } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../request.ts";
import { tileOf } from "./media.ts";

async function showFile(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requirePermission("campaigns.updateMedia", visit.company);
  const id = visit.params.id!;
  const [file, folders] = await Promise.all([
    callIn(visit, "campaigns.getMedia", { id }),
    callIn(visit, "campaigns.listMediaFolders", {}),
  ]);
  const { filename, folder, alt } = { ...file, ...visit.form };
  const t = messages.media;
  const names = folders.map((one) => one.folder).join(", ");
  const isImage = file.content_type.startsWith("image/");
  return formPage({
    title: file.filename,
    action: companyPath(visit, `media/${id}`),
    errors,
    button: t.saveFile,
    fields: [
      {
        name: "filename",
        label: t.filename,
        kind: "text",
        value: filename,
        attributes: { maxlength: 255, required: true },
      },
      {
        name: "folder",
        label: t.folder,
        kind: "text",
        value: folder,
        hint: names === "" ? t.folderHint : t.foldersSoFar(names),
        attributes: { maxlength: 100 },
      },
      ...(isImage
        ? [
            {
              name: "alt",
              label: t.alt,
              kind: "text" as const,
              value: alt,
              hint: t.altHint,
              attributes: { maxlength: 300 },
            },
          ]
        : []),
    ],
    ways: [{ label: t.back, href: companyPath(visit, "media") }],
  });
}

export const filePage = (visit: CompanyVisit): Promise<Answer> => showFile(visit);

export const changeFile = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { filename = "", folder = "", alt } = visit.form;
      const change = { filename, folder, ...(alt === undefined ? {} : { alt }) };
      await callIn(visit, "campaigns.updateMedia", { id: visit.params.id!, ...change });
      return { goTo: companyPath(visit, "media"), notice: "saved" };
    },
    (errors) => showFile(visit, errors),
  );

export async function deleteFilePage(visit: CompanyVisit): Promise<Answer> {
  requirePermission("campaigns.removeMedia", visit.company);
  const id = visit.params.id!;
  const [file, usage] = await Promise.all([
    callIn(visit, "campaigns.getMedia", { id }),
    callIn(visit, "campaigns.mediaUsage", { id }),
  ]);
  return {
    view: "media-delete",
    title: messages.media.deleteTitle(file.filename),
    values: {
      usage,
      file: tileOf(file),
      here: companyPath(visit, `media/${id}/delete`),
      back: companyPath(visit, "media"),
      templates: companyPath(visit, "templates"),
      campaigns: companyPath(visit, "campaigns"),
    },
  };
}

export async function deleteFile(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "campaigns.removeMedia", { id: visit.params.id! });
  return { goTo: companyPath(visit, "media"), notice: "deleted" };
}
