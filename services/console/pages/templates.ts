/** Templates: the list, duplicating, and deletion with its effects. */
import { requirePermission } from "../../permissions.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";

const MAX_NAME = 255;

export const templatesPath = (visit: CompanyVisit, rest = ""): string =>
  companyPath(visit, `templates${rest && `/${rest}`}`);

export async function templatesPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const { results, ...paging } = await callIn(visit, "renderer.listTemplates", {
    ...askedOf(query),
    ordering: "-updated_at",
    ...orderingIn(query, ["name", "updated_at"]),
  });
  const here = templatesPath(visit);
  return {
    view: "templates",
    title: messages.templates.title,
    values: {
      templates: results,
      asked: query,
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "renderer.createTemplate"),
    },
  };
}

export async function duplicateTemplate(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.createTemplate", visit.company);
  const {
    id: _,
    created_at,
    updated_at,
    body,
    ...content
  } = await callIn(visit, "renderer.getTemplate", {
    id: visit.params.id!,
  });
  const name = messages.templates.copyOf(content.name).slice(0, MAX_NAME).toWellFormed();
  const copy = await callIn(visit, "renderer.createTemplate", {
    ...content,
    name,
    ...(content.design || typeof content.markdown === "string" ? {} : { body }),
  });
  return { goTo: templatesPath(visit, copy.id), notice: "duplicated" };
}

const PAGE = 100;

/**
 * Counts drafts that use the template. A company has at most 500 drafts; the body of a very large one is not checked.
 */
async function draftsWith(visit: CompanyVisit, id: string): Promise<number> {
  const ask = (page: number) => callIn(visit, "campaigns.listDrafts", { page, page_size: PAGE });
  const first = await ask(1);
  const pages = Math.ceil(first.count / PAGE);
  const rest = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, n) => ask(n + 2)));
  const names = (body: unknown) => JSON.stringify(body ?? null).includes(`"${id}"`);
  return [first, ...rest].flatMap(({ results }) => results).filter(({ body }) => names(body)).length;
}

export async function deleteTemplatePage(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.removeTemplate", visit.company);
  const id = visit.params.id!;
  const [template, drafts] = await Promise.all([
    callIn(visit, "renderer.getTemplate", { id }),
    draftsWith(visit, id.toLowerCase()),
  ]);
  return {
    view: "template-delete",
    title: messages.templates.deleteTitle(template.name),
    values: { drafts, here: templatesPath(visit, `${id}/delete`), back: templatesPath(visit, id) },
  };
}

export async function deleteTemplate(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "renderer.removeTemplate", { id: visit.params.id! });
  return { goTo: templatesPath(visit), notice: "deleted" };
}
