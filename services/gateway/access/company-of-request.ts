/** Determines the company of a request: from the path, the key, or the `company` that a bearer request must name. */
import { compileValidator } from "../../../mixins/ajv-validator.ts";
import type { ActionContract } from "../../define.ts";
import { invalid, missingObject } from "../../lib/errors.ts";
import { addFieldError } from "../../lib/field-errors.ts";
import { isUuid } from "../../lib/ids.ts";
import type { Context } from "../http/context.ts";
import { FILE_FIELDS } from "../http/multipart-upload.ts";
import { type Params, propertiesOf } from "../http/params.ts";
import type { Route } from "../routes.ts";
import type { Identity } from "./authentication.ts";

export const isCompanyPath = (route: Route): boolean => route.path.startsWith("/api/companies/:id/");

/** A bearer request names the company in the body if the contract has the field there, else in the query. */
export const namesCompanyInBody = (contract: ActionContract): boolean => "company" in propertiesOf(contract);

function refuse(contract: ActionContract, params: Params, sentence: string): never {
  // All errors of a body are reported at once, including one found here. The file of an upload has not been read yet.
  const { company: _, ...others } = params;
  const errors = compileValidator(contract.params)(others);
  for (const field of ["company", ...FILE_FIELDS]) delete errors[field];
  addFieldError(errors, "company", sentence);
  throw invalid(errors);
}

function namedCompany(contract: ActionContract, params: Params, { key }: Identity, named: unknown): string {
  if (named === undefined || named === null)
    return key?.companyId ?? refuse(contract, params, "This field is required.");
  if (!isUuid(named)) refuse(contract, params, "Must be a valid UUID.");
  const company = named.toLowerCase();
  if (key && key.companyId !== company) refuse(contract, params, missingObject(named));
  return company;
}

interface CompanyReader {
  /**
   * Returns the company if path or query name it, so that a request without access is refused before its body is read.
   */
  beforeBody(path: Params, context: Context): string | undefined;
  of(identity: Identity, params: Params, context: Context): string;
}

export function companyReader(route: Route, contract: ActionContract): CompanyReader {
  const inPath = isCompanyPath(route);
  const inBody = namesCompanyInBody(contract);
  return {
    beforeBody(path, context) {
      if (inPath) return (path.id as string).toLowerCase();
      const { company } = context.query;
      return !inBody && isUuid(company) ? company.toLowerCase() : undefined;
    },
    of(identity, params, context) {
      if (inPath) return (params.id as string).toLowerCase();
      // The action refuses a body that contradicts its key, together with all other errors of the body.
      if (inBody && identity.key) return identity.key.companyId;
      if (inBody) return namedCompany(contract, params, identity, params.company);
      const inQuery = context.querystring === "" ? undefined : context.query.company || undefined;
      return namedCompany(contract, params, identity, inQuery);
    },
  };
}
