/**
 * Refuses what a request says and nobody would read: a mistyped `scheduled_for` would send at once, a mistyped filter show
 * everything. Where little harm can come of it only what looks mistyped is refused, so that clients may send more than
 * this release knows.
 */
import { parse } from "node:querystring";
import { compileValidator } from "../../../mixins/ajv-validator.ts";
import type { ActionContract } from "../../define.ts";
import { type FieldErrors, invalid } from "../../lib/errors.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { READ_ONLY_FIELDS, unknownFieldErrors } from "../../lib/unknown-fields.ts";
import type { Route } from "../routes.ts";
import type { Context } from "./context.ts";
import { FILE_FIELDS } from "./multipart-upload.ts";
import { type Params, pathNames, propertiesOf } from "./params.ts";

/** Set from headers and by the gateway. */
const NOT_IN_BODIES = ["idempotency_key"];

const namesIn = (schema: TSchema | undefined): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

function bodyErrors(route: Route, contract: ActionContract): ((body: Params) => FieldErrors) | undefined {
  if (route.method === "GET" || route.rawWith || route.anyBody) return undefined;
  const { unknownFields = "near" } = contract;
  if (unknownFields === "read") return undefined;
  const ofFile = route.upload ? FILE_FIELDS : [];
  const elsewhere = [...pathNames(route.path), ...NOT_IN_BODIES, ...ofFile];
  const known = Object.keys(propertiesOf(contract)).filter((name) => !elsewhere.includes(name));
  // Of other bodies all is ignored that the resource shows; a send's answer has `template`, which it does not take.
  const shown = unknownFields === "all" ? [] : [...namesIn(contract.returns), ...namesIn(contract.json), ...elsewhere];
  const ignored = new Set([...known, ...READ_ONLY_FIELDS, ...shown, ...ofFile, ...(contract.ignoredFields ?? [])]);
  return (body) =>
    unknownFieldErrors(
      Object.keys(body).filter((name) => !ignored.has(name)),
      known,
      unknownFields,
    );
}

/** A name without a value is ignored here, too (params.ts). */
function queryErrors(route: Route, contract: ActionContract): ((querystring: string) => FieldErrors) | undefined {
  if (route.answer !== "list") return undefined;
  const elsewhere = pathNames(route.path);
  const known = Object.keys(propertiesOf(contract)).filter((name) => !elsewhere.includes(name));
  const ignored = new Set([...known, ...elsewhere, "company"]);
  return (querystring) => {
    if (querystring === "") return {};
    const given = Object.entries(parse(querystring)).filter(([name, value]) => !ignored.has(name) && value !== "");
    return unknownFieldErrors(
      given.map(([name]) => name),
      known,
      "near",
    );
  };
}

/** Throws a 400 with these errors and those of the schema: a request's faults are reported at once. Undefined: nothing is refused. */
export function unknownFieldsRefusal(route: Route, contract: ActionContract) {
  const ofBody = bodyErrors(route, contract);
  const ofQuery = queryErrors(route, contract);
  if (!ofBody && !ofQuery) return undefined;
  const schemaErrors = compileValidator(contract.params);
  return (context: Context, body: Params | undefined, params: Params): void => {
    const errors = { ...(body && ofBody?.(body)), ...ofQuery?.(context.querystring) };
    if (Object.keys(errors).length > 0) throw invalid({ ...schemaErrors(params), ...errors });
  };
}
