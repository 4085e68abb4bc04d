/** Suppressions: the list with reasons, adding one or many, and removing one, which can be undone. */
import { SUPPRESSION_KINDS, type SuppressionKind } from "../../../models/suppression.ts";
import type { RawResponse } from "../contract.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, download, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";

const t = messages.suppressions;

const kindOf = (text: string | undefined): SuppressionKind | undefined => SUPPRESSION_KINDS.find((one) => one === text);

type Imported = Awaited<ReturnType<typeof readFile>>;

/** Number of errors to show; users can check the rest in their file. */
const SHOWN_ERRORS = 100;

interface More {
  errors?: Errors;
  imported?: Imported;
}

async function show(visit: CompanyVisit, { errors = {}, imported }: More = {}): Promise<Answer> {
  const { query, form } = visit;
  const kind = kindOf(query.kind);
  const params = { ...askedOf(query), ...orderingIn(query, ["created_at"]), ...(kind ? { kind } : {}) };
  const { results, ...paging } = await callIn(visit, "subscribers.listSuppressions", params);
  const here = companyPath(visit, "suppressions");
  return {
    view: "suppressions",
    title: t.title,
    values: {
      suppressions: results,
      found: paging.count_estimated ? t.many(countText(paging.count, true)) : t.found(paging.count),
      isFiltered: Boolean(query.search || kind),
      errors,
      asked: query,
      typed: form,
      here,
      pager: pagerOf(here, query, paging),
      result: resultOf(visit),
      imported: imported && {
        text: t.imported(imported.total, imported.created, imported.existing),
        errors: imported.errors.slice(0, SHOWN_ERRORS),
        errorsTitle: t.importErrors(imported.errors.length),
        more: imported.errors.length > SHOWN_ERRORS ? t.moreErrors(imported.errors.length - SHOWN_ERRORS) : "",
      },
      mayWrite: may(visit, "subscribers.createSuppression"),
      mayExport: may(visit, "subscribers.exportSuppressions"),
    },
  };
}

export const suppressionsPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

export const suppress = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { what = "", reason = "" } = visit.form;
      const kind = kindOf(visit.form.kind);
      const target = what.includes("@") && !what.trim().startsWith("@") ? { email: what } : { domain: what };
      const suppression = await callIn(visit, "subscribers.createSuppression", {
        ...target,
        reason,
        ...(kind ? { kind } : {}),
      });
      return withResult(visit, "suppressions", { text: t.suppressed(suppression.email ?? suppression.domain ?? what) });
    },
    (errors) => show(visit, { errors }),
  );

/** Undo creates the suppression again and restores the subscriber's status. */
export async function liftSuppression(visit: CompanyVisit): Promise<Answer> {
  const id = visit.params.id!;
  const { email, domain, kind, reason } = await callIn(visit, "subscribers.getSuppression", { id });
  await callIn(visit, "subscribers.removeSuppression", { id });
  const address = email ?? domain ?? "";
  return withResult(visit, "suppressions", {
    text: t.lifted(address),
    undo: { path: "suppressions", fields: { what: address, kind, reason } },
  });
}

const readFile = (visit: CompanyVisit) => {
  const { stream, filename, content_type, size } = visit.file!;
  return callIn(visit, "subscribers.importSuppressions", { filename, content_type, size }, { stream });
};

export const importSuppressions = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const imported = visit.file ? await readFile(visit) : undefined;
      return show({ ...visit, form: {} }, imported ? { imported } : { errors: { file: [t.noFile] } });
    },
    (errors) => show({ ...visit, form: {} }, { errors: { file: Object.values(errors).flat() } }),
  );

export const exportSuppressions = (visit: CompanyVisit): RawResponse =>
  download(visit, "subscribers.exportSuppressions", {}, "suppressions.csv");
