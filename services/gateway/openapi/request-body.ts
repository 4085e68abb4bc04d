/** Describes the request body of an operation. */
import type { ActionContract } from "../../define.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { FILE_FIELDS } from "../http/multipart-upload.ts";
import { pathNames, propertiesOf } from "../http/params.ts";
import type { Route } from "../routes.ts";
import type { Components } from "./components.ts";
import { describedField } from "./describe-fields.ts";

export const IDEMPOTENCY_KEY = "idempotency_key";

export const hasBody = ({ method, deleteBody }: Route) =>
  method === "POST" || method === "PUT" || method === "PATCH" || deleteBody === true;

export const isRequired = (contract: ActionContract, name: string) =>
  ((contract.params as { required?: string[] }).required ?? []).includes(name);

/** Fields of the body, or of the query for requests without a body. */
export function fieldsOf(route: Route, contract: ActionContract): Record<string, TSchema> {
  const elsewhere = [...pathNames(route.path), IDEMPOTENCY_KEY, ...(route.upload ? FILE_FIELDS : [])];
  return Object.fromEntries(Object.entries(propertiesOf(contract)).filter(([name]) => !elsewhere.includes(name)));
}

function mediaTypes(route: Route): string[] {
  if (route.upload) return ["multipart/form-data", ...(route.orJson ? ["application/json"] : [])];
  if (!route.path.startsWith("/api/emails/public/")) return ["application/json"];
  return ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"];
}

type Shape = TSchema & { type?: string; items?: TSchema; anyOf?: TSchema[] };

/** Forms send texts, also repeated ones, but no objects and no arrays of objects. */
function isFormField(schema: TSchema): boolean {
  const { type, items, anyOf } = schema as Shape;
  if (anyOf) return anyOf.filter((one) => (one as Shape).type !== "null").every(isFormField);
  return type === "array" ? isFormField(items!) : type !== "object";
}

const requiresField = (field: string) => ({ required: [field], properties: { [field]: { not: { type: "null" } } } });

const FILE = {
  type: "string",
  format: "binary",
  description: "The file, as a form-data part with a file name.",
  examples: ["(bytes)"],
};

const exactlyOneOf = (groups: readonly (readonly string[])[]) => {
  const each = groups.map((fields) => ({ oneOf: fields.map(requiresField) }));
  return each.length === 1 ? each[0] : { allOf: each };
};

export function requestBodyOf(route: Route, contract: ActionContract, components: Components): object {
  // The provider documents this body.
  if (route.rawWith) {
    const schema = { description: "Request body as documented by the provider." };
    return { requestBody: { required: true, content: { "application/json": { schema, example: contract.example } } } };
  }
  const fields = fieldsOf(route, contract);
  if (!hasBody(route) || (Object.keys(fields).length === 0 && !route.upload)) return {};
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, describedField(components.shown(schema))]),
  );
  const required = Object.keys(fields).filter((name) => isRequired(contract, name));
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
    const requiredFields = hasFile ? [...required, "file"] : required;
    return {
      schema: {
        type: "object",
        properties: { ...Object.fromEntries(sendable), ...(hasFile ? { file: FILE } : {}) },
        ...(requiredFields.length > 0 ? { required: requiredFields } : {}),
        ...(contract.unknownFields === "all" ? { additionalProperties: false } : {}),
        ...(contract.exactlyOne ? exactlyOneOf(contract.exactlyOne) : {}),
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
