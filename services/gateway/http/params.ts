/** Reads an action's parameters from path and query. The contract's types are looked up once, at start. */
import { parse } from "node:querystring";
import type { ActionContract } from "../../define.ts";
import { invalidPage, notFound } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { isFilter, type TSchema } from "../../lib/shapes.ts";
import type { Route } from "../routes.ts";
import type { Context } from "./context.ts";

export type Params = Record<string, unknown>;
type Property = TSchema & { type?: string; format?: string; anyOf?: TSchema[]; takesEmpty?: boolean };

const MAX_PAGE_SIZE = 100;

export const propertiesOf = (contract: ActionContract): Record<string, Property> =>
  (contract.params as { properties?: Record<string, Property> }).properties ?? {};

/** Query parameters that may be repeated. */
export const filtersOf = (contract: ActionContract): string[] =>
  Object.entries(propertiesOf(contract)).flatMap(([name, schema]) => (isFilter(schema) ? [name] : []));

export const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

/** Reads ids, tokens and numbers from the path; an invalid value is a 404. */
export function pathReader(route: Route, contract: ActionContract): (context: Context) => Params {
  const properties = propertiesOf(contract);
  const names = pathNames(route.path);
  const types = new Map(names.map((name) => [name, properties[name] ? typeOf(properties[name]) : null]));
  const uuids = new Set(names.filter((name) => properties[name]?.format === "uuid"));
  return ({ params }) => {
    const values: Params = {};
    for (const name of names) {
      const value = params[name]!;
      if (uuids.has(name) ? !isUuid(value) : value.includes("\0")) throw notFound();
      values[name] = coerce(types.get(name) ?? null, value);
    }
    return values;
  };
}

/** The type that a query's text is converted to; null for text. */
function typeOf(property: Property): string | null {
  const types = [property, ...((property.anyOf as Property[] | undefined) ?? [])].map(({ type }) => type);
  return types.find((type) => type === "integer" || type === "number" || type === "boolean") ?? null;
}

/** Text that does not convert is passed on for the validator to refuse. */
function coerce(type: string | null, text: string): unknown {
  if (type === "boolean")
    return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
  if (type === "integer") return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (type === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  return text;
}

/** Converts the texts of a form to the numbers and booleans of the contract. */
export function formReader(contract: ActionContract): (fields: Params) => Params {
  const types = new Map(Object.entries(propertiesOf(contract)).map(([name, property]) => [name, typeOf(property)]));
  const coerced = (name: string, value: unknown) =>
    typeof value === "string" ? coerce(types.get(name) ?? null, value) : value;
  return (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, coerced(name, value)]));
}

/** Follows Django REST framework: a page that is not a number is a 404, an invalid page size means the default. */
function coercePaging(params: Params): void {
  if (params.page !== undefined && !(Number.isInteger(params.page) && (params.page as number) > 0)) throw invalidPage();
  const size = params.page_size;
  if (size === undefined) return;
  if (Number.isInteger(size) && (size as number) > 0) params.page_size = Math.min(size as number, MAX_PAGE_SIZE);
  else delete params.page_size;
}

/** The values of a repeated query parameter, without duplicates, and without blanks unless `takesEmpty`. */
export const valuesOf = (given: string | string[] | undefined, takesEmpty = false): string[] =>
  [...new Set([given ?? []].flat())].filter((text) => takesEmpty || text !== "");

/**
 * Reads the parameters that the contract knows; a repeated filter becomes an array. Empty values are ignored: forms and
 * generated clients send `?search=&status=&page=` for blank fields. Only a filter that `takesEmpty` keeps them.
 */
export function queryReader(route: Route, contract: ActionContract): (context: Context) => Params {
  const properties = propertiesOf(contract);
  const types = new Map(Object.entries(properties).map(([name, property]) => [name, typeOf(property)]));
  const filters = new Set(filtersOf(contract));
  return (context) => {
    const values: Params = {};
    if (context.querystring === "") return values;
    for (const [name, value] of Object.entries(parse(context.querystring))) {
      const type = types.get(name);
      const texts = valuesOf(value, properties[name]?.takesEmpty);
      if (type === undefined || texts.length === 0) continue;
      values[name] = filters.has(name) && texts.length > 1 ? texts : coerce(type, texts.at(-1)!);
    }
    if (route.answer === "list") coercePaging(values);
    return values;
  };
}
