/**
 * Refuses fields and parameters that nothing would read: a mistyped `scheduled_for` would send at once, a mistyped
 * filter would show everything. Where this does little harm, only likely typos are refused, so that clients may send
 * fields of later releases.
 */
import { parse } from "node:querystring";
import type { ActionContract } from "../../define.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { READ_ONLY_FIELDS, unknownFieldErrors } from "../../lib/unknown-fields.ts";
import type { Route } from "../routes.ts";
import type { Context } from "./context.ts";
import { FILE_FIELDS } from "./multipart-upload.ts";
import { filtersOf, type Params, pathNames, propertiesOf, valuesOf } from "./params.ts";

/** Parameters set from headers and by the gateway. */
const NOT_IN_BODIES = ["idempotency_key"];

const namesIn = (schema: TSchema | undefined): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

function bodyErrors(route: Route, contract: ActionContract): ((body: Params) => FieldErrors) | undefined {
  if (route.method === "GET" || route.rawWith || route.anyBody) return undefined;
  const { unknownFields = "near" } = contract;
  if (unknownFields === "read") return undefined;
  const ofFile = route.upload ? FILE_FIELDS : [];
  const elsewhere = [...pathNames(route.path), ...NOT_IN_BODIES, ...ofFile];
  const names = Object.keys(propertiesOf(contract)).filter((name) => !elsewhere.includes(name));
  // Other bodies may contain every field that the resource shows; a send also returns `template`, which it does not
  // accept.
  const shown = unknownFields === "all" ? [] : [...namesIn(contract.returns), ...namesIn(contract.json), ...elsewhere];
  const ignored = new Set([...names, ...READ_ONLY_FIELDS, ...shown, ...ofFile, ...(contract.ignoredFields ?? [])]);
  return (body) =>
    unknownFieldErrors(
      Object.keys(body).filter((name) => !ignored.has(name)),
      names,
      unknownFields,
    );
}

/** Writes, exports and counts must not silently do something else than the client asked for. */
const isStrict = ({ method, path }: Route): boolean => method !== "GET" || /\/(?:export|stats)\//.test(path);

/** Known names without a value are ignored, too (params.ts). Public pages accept all that links and forms add. */
function queryErrors(route: Route, contract: ActionContract): ((querystring: string) => FieldErrors) | undefined {
  if (route.access === "public") return undefined;
  const elsewhere = pathNames(route.path);
  const names = Object.keys(propertiesOf(contract)).filter((name) => !elsewhere.includes(name));
  const expected = new Set([...names, ...elsewhere, "company"]);
  const filters = new Set(filtersOf(contract));
  const refuse = isStrict(route) ? "all" : route.answer === "list" ? "near" : undefined;
  return (querystring) => {
    if (querystring === "") return {};
    const unknown: string[] = [];
    const errors: FieldErrors = {};
    for (const [name, value] of Object.entries(parse(querystring))) {
      const count = valuesOf(value).length;
      if (!expected.has(name)) {
        if (count > 0 || refuse === "all") unknown.push(name);
      } else if (count > 1 && !filters.has(name)) errors[name] = ["Give this parameter once."];
    }
    return refuse ? { ...errors, ...unknownFieldErrors(unknown, names, refuse) } : errors;
  };
}

/** Returns a check for unknown fields and parameters; undefined if nothing is refused. */
export function unknownFieldsOf(route: Route, contract: ActionContract) {
  const ofBody = bodyErrors(route, contract);
  const ofQuery = queryErrors(route, contract);
  if (!ofBody && !ofQuery) return undefined;
  return ({ querystring }: Context, body: Params | undefined): FieldErrors => ({
    ...(body && ofBody?.(body)),
    ...ofQuery?.(querystring),
  });
}
