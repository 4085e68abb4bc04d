/** Makes a resized copy of an image as a media file of its own. */
import { Readable } from "node:stream";
import { UniqueConstraintError } from "sequelize";
import { query } from "../../../models/database/db.ts";
import { copyKeyOf, Media } from "../../../models/media.ts";
import type { Ctx } from "../../lib/caller.ts";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { badRequest, notFound } from "../../lib/errors.ts";
import { type CopyParameters, copying, copyName, isDecodable, REFUSED_TYPE } from "./copy-image.ts";
import { mediaLimit, upload } from "./upload.ts";

/** One at a time in a process, because decoding takes much memory. */
const decoding = new ConcurrencyLimit({ total: 1, perCompany: 1 });

const BYTES = `
  select p.data from media_parts p join media m on m.id = p.media_id
  where m.company_id = $1 and m.id = $2 order by p.no`;

async function bytesOf(companyId: string, id: string): Promise<Buffer> {
  const parts = await query<{ data: Buffer }>(BYTES, [companyId, id]);
  return Buffer.concat(parts.map(({ data }) => data));
}

export async function copyMedia(ctx: Ctx, companyId: string, { id, ...asked }: CopyParameters & { id: string }) {
  const source = await Media.findOne({ where: { companyId, id, deletedAt: null } });
  if (!source) throw notFound();
  if (!isDecodable(source.contentType)) throw badRequest(REFUSED_TYPE);
  let copyKey = copyKeyOf(asked);
  const existing = () => Media.findOne({ where: { companyId, copyOf: id, copyKey, deletedAt: null } });
  const make = async () => {
    const { parameters, make: makeCopy } = await copying(await bytesOf(companyId, id), source.contentType, asked);
    copyKey = copyKeyOf(parameters);
    const found = await existing();
    if (found) return found.view();
    const made = await makeCopy();
    const file = { filename: copyName(source.filename, made), size: made.bytes.length };
    const { folder, alt } = source;
    return upload(
      companyId,
      await mediaLimit(ctx),
      { ...file, folder, alt, copyOf: id, copyKey },
      Readable.from([made.bytes]),
    );
  };
  const found = await existing();
  if (found) return found.view();
  try {
    return await decoding.run(companyId, make);
  } catch (error) {
    // Another process made the same copy first.
    const first = error instanceof UniqueConstraintError ? await existing() : null;
    if (!first) throw error;
    return first.view();
  }
}
