/** Whose data a request is about (spec 5.3): the path's company, the key's, or the one that a bearer token must name. */
import { checker } from "../../mixins/ajv-validator.ts";
import type { ActionContract } from "../define.ts";
import { invalid, missingObject } from "../lib/errors.ts";
import { addFault } from "../lib/field-errors.ts";
import { isUuid } from "../lib/ids.ts";
import type { Identity } from "./auth.ts";
import type { Exchange } from "./exchange.ts";
import { type Params, propertiesOf } from "./params.ts";
import type { Route } from "./routes.ts";

export const isCompanyPath = (route: Route): boolean => route.path.startsWith("/api/companies/:id/");

/** Where a bearer token's company is told: in the body where the contract has it there, else in the query. */
export const tellsCompanyInBody = (contract: ActionContract): boolean => "company" in propertiesOf(contract);

function refuse(contract: ActionContract, params: Params, sentence: string): never {
  // All faults of a body are told at once, also when the first of them is found here.
  const { company: _, ...others } = params;
  const faults = checker(contract.params)(others);
  delete faults.company;
  addFault(faults, "company", sentence);
  throw invalid(faults);
}

function namedCompany(contract: ActionContract, params: Params, { key }: Identity, named: unknown): string {
  if (named === undefined || named === null)
    return key?.companyId ?? refuse(contract, params, "This field is required.");
  if (!isUuid(named)) refuse(contract, params, "Must be a valid UUID.");
  const company = named.toLowerCase();
  if (key && key.companyId !== company) refuse(contract, params, missingObject(named));
  return company;
}

export function companyReader(route: Route, contract: ActionContract) {
  const inPath = isCompanyPath(route);
  const inBody = tellsCompanyInBody(contract);
  return (identity: Identity, params: Params, exchange: Exchange): string => {
    if (inPath) return (params.id as string).toLowerCase();
    // What a body says against its key is told by the action, with all else that is wrong with the body.
    if (inBody && identity.key) return identity.key.companyId;
    return namedCompany(contract, params, identity, inBody ? params.company : exchange.query.company || undefined);
  };
}
