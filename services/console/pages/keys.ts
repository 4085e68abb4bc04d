/** API keys. A key is shown only once, in the response that creates it. */
import { SCOPES } from "../../lib/rights.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, companyPath, may, type Outcome } from "../request.ts";
import { isClock } from "./compose/when.ts";

/** Page size; a company has at most 20 keys. */
const ALL = 100;

interface ShowOptions {
  errors?: Errors;
  made?: { name: string; key: string };
}

async function show(visit: CompanyVisit, { errors = {}, made }: ShowOptions = {}): Promise<Answer> {
  const { results } = await callIn(visit, "accounts.listKeys", { id: visit.company.id, page_size: ALL });
  const here = companyPath(visit, "settings/keys");
  const values = {
    keys: results,
    made,
    errors,
    typed: visit.form,
    scopes: SCOPES.map((value) => ({ value, label: messages.keys.scopeNames[value] })),
    chosen: SCOPES.filter((scope) => visit.form[`scope.${scope}`] !== undefined),
    here,
    mayWrite: may(visit, "accounts.createKey"),
  };
  return { view: "keys", title: messages.keys.title, values };
}

export const keysPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

export const makeKey = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { name = "", expires = "", allowed_ips = "" } = visit.form;
      const scopes = SCOPES.filter((scope) => visit.form[`scope.${scope}`] !== undefined);
      const allowed = allowed_ips.split(/[\s,]+/).filter((text) => text !== "");
      const end = `${expires}T23:59:59`;
      const expires_at = isClock(end) ? await callUnder(visit, "accounts.instantOf", { clock: end }) : end;
      const key = await callIn(visit, "accounts.createKey", {
        id: visit.company.id,
        name,
        ...(expires === "" ? {} : { expires_at }),
        ...(scopes.length > 0 ? { scopes } : {}),
        ...(allowed.length > 0 ? { allowed_ips: allowed } : {}),
      });
      return show({ ...visit, form: {} }, { made: key });
    },
    (errors) => show(visit, { errors }),
  );

export async function deleteKey(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "accounts.removeKey", { id: visit.company.id, key_id: visit.params.id! });
  return { goTo: companyPath(visit, "settings/keys") };
}
