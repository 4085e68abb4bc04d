/** Versions of a template, their differences, and restoring one. */
import type { ReturnsOf } from "../../contracts.ts";
import type { Design } from "../../lib/design/design.ts";
import { notFound } from "../../lib/errors.ts";
import { linesOf } from "../design-lines.ts";
import { type ContextLine, diffOf, withContext } from "../line-diff.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, may } from "../request.ts";
import { templatesPath } from "./templates.ts";

type Version = ReturnsOf<"renderer.getVersion">;

const readAll = (visit: CompanyVisit) => {
  const id = visit.params.id!;
  return Promise.all([callIn(visit, "renderer.getTemplate", { id }), callIn(visit, "renderer.listVersions", { id })]);
};

export async function versionsPage(visit: CompanyVisit): Promise<Answer> {
  const [template, versions] = await readAll(visit);
  return {
    view: "template-versions",
    title: messages.templates.versionsTitle(template.name),
    values: {
      versions,
      here: templatesPath(visit, `${template.id}/versions`),
      editor: templatesPath(visit, template.id),
      mayWrite: may(visit, "renderer.restoreVersion"),
    },
  };
}

const FIELDS = ["subject", "preheader", "design", "markdown", "body", "text_body", "inline_css"] as const;

interface Difference {
  label: string;
  lines: ContextLine[];
}

function textOf(version: Version, field: (typeof FIELDS)[number]): string {
  if (field === "design") return version.design ? linesOf(version.design as unknown as Design) : "";
  if (field !== "inline_css") return version[field] ?? "";
  return version.inline_css ? messages.templates.yes : messages.templates.no;
}

/** Returns the differences, by field. The HTML of designs differs wherever these do. */
function differencesOf(before: Version, after: Version): Difference[] {
  const isRedesigned = before.design && after.design && textOf(before, "design") !== textOf(after, "design");
  return FIELDS.filter((field) => !(field === "body" && isRedesigned))
    .map((field) => ({
      label: messages.templates.fields[field],
      lines: withContext(diffOf(textOf(before, field), textOf(after, field))),
    }))
    .filter(({ lines }) => lines.length > 0);
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/**
 * Chooses the version to compare with: the requested one, otherwise the newest, or for the newest the one before it.
 */
function otherOf(version: number, asked: number | undefined, numbers: readonly number[]): number | undefined {
  const [newest] = numbers;
  const fallback = version === newest ? numbers[1] : newest;
  return asked !== undefined && asked !== version && numbers.includes(asked) ? asked : fallback;
}

export async function versionPage(visit: CompanyVisit): Promise<Answer> {
  const version = numberOf(visit.params.version);
  if (version === undefined) throw notFound();
  const [[template, versions], shown] = await Promise.all([
    readAll(visit),
    callIn(visit, "renderer.getVersion", { id: visit.params.id!, version }),
  ]);
  const numbers = versions.map((one) => one.version);
  const with_ = otherOf(version, numberOf(visit.query.with), numbers);
  const other =
    with_ === undefined ? undefined : await callIn(visit, "renderer.getVersion", { id: template.id, version: with_ });
  const [before, after] = other && other.version < shown.version ? [other, shown] : [shown, other];
  const here = templatesPath(visit, `${template.id}/versions`);
  return {
    view: "template-version",
    title: messages.templates.versionTitle(`${version}`, template.name),
    values: {
      shown,
      others: versions.filter((one) => one.version !== version),
      other,
      before,
      after,
      differences: before && after ? differencesOf(before, after) : [],
      isNewest: version === numbers[0],
      here,
      editor: templatesPath(visit, template.id),
      mayWrite: may(visit, "renderer.restoreVersion"),
    },
  };
}

export async function restoreVersion(visit: CompanyVisit): Promise<Answer> {
  const version = numberOf(visit.params.version);
  const { id } = await callIn(visit, "renderer.restoreVersion", { id: visit.params.id!, version: version ?? 0 });
  return { goTo: templatesPath(visit, `${id}?checked=1`), notice: "restored" };
}
