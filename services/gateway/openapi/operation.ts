/** One row of routes.ts as an operation of the document. */
import type { ActionContract } from "../../define.ts";
import { type Permission, rolesFrom } from "../../lib/rights.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { isCompanyPath, namesCompanyInBody } from "../access/company-of-request.ts";
import { FILE_FIELDS } from "../http/multipart-upload.ts";
import { pathNames, propertiesOf } from "../http/params.ts";
import type { Route } from "../routes.ts";
import type { Components } from "./components.ts";
import { errorsOf, rateLimitHeaders, requestIdHeader } from "./error-responses.ts";

export interface Operation {
  operationId: string;
  summary: string;
  responses: Record<string, object>;
  [more: string]: unknown;
}

type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  schema: object;
  description?: string;
};

const IDEMPOTENCY_KEY = "idempotency_key";
const hasBody = ({ method, deleteBody }: Route) =>
  method === "POST" || method === "PUT" || method === "PATCH" || deleteBody === true;
const isRequired = (contract: ActionContract, name: string) =>
  ((contract.params as { required?: string[] }).required ?? []).includes(name);

/** The fields of the body, or of the query where there is no body. */
function fieldsOf(route: Route, contract: ActionContract): Record<string, TSchema> {
  const elsewhere = [...pathNames(route.path), IDEMPOTENCY_KEY, ...(route.upload ? FILE_FIELDS : [])];
  return Object.fromEntries(Object.entries(propertiesOf(contract)).filter(([name]) => !elsewhere.includes(name)));
}

/** The fields that a list's description names; a test asks each list whether it says the same. */
function orderingOf({ description = "" }: ActionContract): object | undefined {
  const fields = /Sortable: ([\w, ]+)\./.exec(description)?.[1]?.split(", ");
  if (!fields) return undefined;
  return {
    type: "string",
    enum: fields.flatMap((field) => [field, `-${field}`]),
    description: "A field, or `-` and a field for descending. Without it: newest first.",
  };
}

function parametersOf(route: Route, contract: ActionContract, components: Components): Parameter[] {
  const properties = propertiesOf(contract);
  const list = pathNames(route.path).map((name): Parameter => {
    return {
      name,
      in: "path",
      required: true,
      schema: components.shown(properties[name] ?? ({ type: "string" } as unknown as TSchema)),
    };
  });
  if (!hasBody(route)) {
    for (const [name, schema] of Object.entries(fieldsOf(route, contract))) {
      const shown = name === "ordering" ? orderingOf(contract) : undefined;
      list.push({
        name,
        in: "query",
        required: isRequired(contract, name),
        schema: shown ?? components.shown(schema),
      });
    }
  }
  if (route.access === "company" && !isCompanyPath(route) && !namesCompanyInBody(contract)) {
    const description = "Required with a bearer token, else the key's company.";
    list.push({
      name: "company",
      in: "query",
      required: false,
      schema: { type: "string", format: "uuid" },
      description,
    });
  }
  if (IDEMPOTENCY_KEY in properties) {
    const description = "The same key with the same body within 24 hours creates nothing and gets the first answer.";
    list.push({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      schema: { type: "string", minLength: 1, maxLength: 256 },
      description,
    });
  }
  return list;
}

function mediaTypes(route: Route): string[] {
  if (route.upload) return ["multipart/form-data", ...(route.orJson ? ["application/json"] : [])];
  if (!route.path.startsWith("/api/emails/public/")) return ["application/json"];
  return ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"];
}

type Shape = TSchema & { type?: string; items?: TSchema; anyOf?: TSchema[] };

/** A form sends texts, and several of one name: no object, and no array of them. */
function isFormField(schema: TSchema): boolean {
  const { type, items, anyOf } = schema as Shape;
  if (anyOf) return anyOf.filter((one) => (one as Shape).type !== "null").every(isFormField);
  return type === "array" ? isFormField(items!) : type !== "object";
}

const requiresField = (field: string) => ({ required: [field], properties: { [field]: { not: { type: "null" } } } });

function requestBodyOf(route: Route, contract: ActionContract, components: Components): object {
  // Whatever the provider documents.
  if (route.rawWith) {
    const content = { "application/json": { schema: {}, example: contract.example } };
    return { requestBody: { required: true, content } };
  }
  const fields = fieldsOf(route, contract);
  if (!hasBody(route) || (Object.keys(fields).length === 0 && !route.upload)) return {};
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, components.shown(schema)]),
  );
  const required = Object.keys(fields).filter((name) => isRequired(contract, name));
  const file = { type: "string", format: "binary" };
  const contentOf = (type: string) => {
    const isForm = type !== "application/json";
    const isSendable = (name: string) =>
      route.orJson ? isFormField(fields[name]!) === isForm : !isForm || isFormField(fields[name]!);
    const sendable = Object.entries(properties).filter(([name]) => isSendable(name));
    const given = (contract.example as object | undefined) ?? {};
    const example = Object.fromEntries(
      Object.entries(given).filter(([name]) => sendable.some(([sendableName]) => sendableName === name)),
    );
    const hasFile = route.upload !== undefined && isForm;
    const asked = hasFile ? [...required, "file"] : required;
    return {
      schema: {
        type: "object",
        properties: { ...Object.fromEntries(sendable), ...(hasFile ? { file } : {}) },
        ...(asked.length > 0 ? { required: asked } : {}),
        ...(contract.unknownFields === "all" ? { additionalProperties: false } : {}),
        ...(contract.exactlyOne ? { oneOf: contract.exactlyOne.map(requiresField) } : {}),
      },
      ...(contract.example === undefined || (hasFile && Object.keys(example).length === 0) ? {} : { example }),
    };
  };
  return {
    requestBody: {
      required: required.length > 0 || route.upload !== undefined,
      content: Object.fromEntries(mediaTypes(route).map((type) => [type, contentOf(type)])),
    },
  };
}

function page(items: object): object {
  const link = { anyOf: [{ type: "string", format: "uri" }, { type: "null" }] };
  const properties = { count: { type: "integer" }, next: link, previous: link, results: items };
  return { type: "object", required: Object.keys(properties), properties };
}

function successContent(route: Route, contract: ActionContract, components: Components): object {
  const text = { schema: { type: "string" } };
  switch (route.answer) {
    case "json":
      return { "application/json": { schema: components.shown(contract.returns) } };
    case "list":
      return {
        "application/json": {
          schema: page(components.shown(propertiesOf({ ...contract, params: contract.returns }).results!)),
        },
      };
    case "csv":
      return { "text/csv": text };
    case "events":
      return { "text/event-stream": text };
    case "html":
      return {
        "text/html": text,
        ...(contract.json ? { "application/json": { schema: components.shown(contract.json) } } : {}),
      };
    case "feed":
      return { "application/rss+xml": text };
    case "bytes":
      return { "*/*": { schema: { type: "string", format: "binary" } } };
    default:
      return {};
  }
}

const successes: Record<Route["answer"], string> = {
  json: "Done.",
  list: "A page of the list.",
  csv: "The download.",
  events: "The events, as they come.",
  html: "The page; where JSON is described, that for `Accept: application/json`.",
  feed: "The feed.",
  bytes: "The file.",
  redirect: "On to the link's target.",
  none: "Done, nothing to say.",
};

function successOf(
  route: Route,
  contract: ActionContract,
  components: Components,
  permission: Permission | undefined,
): object {
  const content = successContent(route, contract, components);
  const headers = {
    ...requestIdHeader,
    ...(permission ? rateLimitHeaders : {}),
    ...(route.answer === "redirect" ? location : {}),
  };
  return { description: successes[route.answer], headers, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

function successesOf(
  route: Route,
  contract: ActionContract,
  components: Components,
  permission: Permission | undefined,
): Record<string, object> {
  const answers: Record<string, object> = { [route.status]: successOf(route, contract, components, permission) };
  for (const [field, status] of Object.entries(route.statusBy ?? {})) {
    const returns = contract.returnsBy?.[field] ?? contract.returns;
    const success = successOf(route, { ...contract, returns }, components, permission);
    answers[status] = { ...success, description: `With \`${field}\`.` };
  }
  if (route.conditional)
    answers[304] = { description: "As it was: `If-None-Match` has its ETag.", headers: requestIdHeader };
  return answers;
}

const location = { Location: { schema: { type: "string", format: "uri" } } };

function ledOn({ leadsOn }: Route): object {
  if (!leadsOn) return {};
  return {
    303: { description: "Done; on to the address that was given.", headers: { ...requestIdHeader, ...location } },
  };
}

const SECURITY = {
  company: [{ apiKey: [] }, { bearer: [] }],
  user: [{ bearer: [] }],
  person: [{ bearer: [] }],
  anyone: [{}, { bearer: [] }],
  public: [],
};

/** Who may, as the table of permissions has it. */
function rightsSentence(route: Route, { role, scopes }: Permission): string {
  const people = `Roles: ${rolesFrom(role).join(", ")}.`;
  return route.access === "user"
    ? people
    : `${people} API keys: \`full\`, ${scopes.map((s) => `\`${s}\``).join(", ")}.`;
}

export function operationOf(
  route: Route,
  contract: ActionContract,
  components: Components,
  permission: Permission | undefined,
): Operation {
  const { summary, description } = contract;
  const described = [description, permission && rightsSentence(route, permission)].filter(Boolean).join("\n\n");
  const [service, action] = route.action.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()).split(".");
  // One action can have two routes: forms know no PUT.
  const suffix = route.method === "POST" && action === "updatePreferences" ? "ByForm" : "";
  return {
    operationId: `${service}_${action}${suffix}`,
    summary,
    ...(described ? { description: described } : {}),
    security: SECURITY[route.access],
    parameters: parametersOf(route, contract, components),
    ...requestBodyOf(route, contract, components),
    responses: {
      ...successesOf(route, contract, components, permission),
      ...ledOn(route),
      ...errorsOf(route),
    },
  };
}
