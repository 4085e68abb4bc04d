/** Reads earlier versions of templates (written by services/renderer/version-rows.ts). */

import { notFound } from "../lib/errors.ts";
import type { Static } from "../lib/shapes.ts";
import type { FullVersion, Version } from "./contract-versions.ts";
import { type VersionRow, versionOf, versionsOf } from "./version-rows.ts";

const withTime = <Row extends Pick<VersionRow, "created_at">>(row: Row) => ({
  ...row,
  created_at: row.created_at.toISOString(),
});

/** Every template has one version at least. */
export async function listVersions(companyId: string, id: string): Promise<Static<typeof Version>[]> {
  const versions = await versionsOf(companyId, id);
  if (versions.length === 0) throw notFound();
  return versions.map(withTime);
}

export async function getVersion(
  companyId: string,
  id: string,
  versionNo: number,
): Promise<Static<typeof FullVersion>> {
  const found = await versionOf(companyId, id, versionNo);
  if (!found) throw notFound();
  return withTime(found);
}
