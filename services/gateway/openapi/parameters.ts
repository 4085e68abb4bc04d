/** Parameters of an operation: path, query and the idempotency header. */
import type { ActionContract } from "../../define.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { isCompanyPath, namesCompanyInBody } from "../access/company-of-request.ts";
import { pathNames, propertiesOf } from "../http/params.ts";
import type { Route } from "../routes.ts";
import type { Components } from "./components.ts";
import { describedField, type Schema } from "./describe-fields.ts";
import { fieldsOf, hasBody, IDEMPOTENCY_KEY, isRequired } from "./request-body.ts";

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: true;
  description?: unknown;
  schema: Schema;
  example?: unknown;
}

/** Parameters that many operations share. */
const SHARED: Record<string, Parameter> = {
  company: {
    name: "company",
    in: "query",
    description: "Required with a bearer token. Default: the API key's company.",
    schema: { type: "string", format: "uuid" },
    example: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
  },
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Repeating the key with the same body within 24 hours changes nothing and returns the first answer.",
    schema: { type: "string", minLength: 1, maxLength: 256 },
    example: "order-1043",
  },
};

/** The fields named in a list's description; a test checks that each list sorts by them. */
function orderingOf({ description = "" }: ActionContract): Schema | undefined {
  const fields = /Sortable: ([\w, ]+)\./.exec(description)?.[1]?.split(", ");
  if (!fields) return undefined;
  return {
    type: "string",
    enum: fields.flatMap((field) => [field, `-${field}`]),
    description: "Field to sort by; prefix `-` for descending. Default: newest first.",
  };
}

function parameter(place: Parameter["in"], name: string, given: Schema, required: boolean): Parameter {
  const { description, examples, ...schema } = describedField(given);
  const example = (examples as unknown[] | undefined)?.[0];
  return {
    name,
    in: place,
    ...(required ? { required } : {}),
    description,
    schema,
    ...(example === undefined ? {} : { example }),
  };
}

/** Collects the parameters of all operations; shared ones are described once, by name, under `shared`. */
export class Parameters {
  readonly shared: Record<string, Parameter> = {};
  readonly #all = new Map<Route, Parameter[]>();

  constructor(routes: readonly Route[], contractOf: (action: string) => ActionContract, components: Components) {
    const uses = new Map<string, { parameter: Parameter; times: number }>();
    for (const route of routes) {
      const list = this.#listOf(route, contractOf(route.action), components);
      this.#all.set(route, list);
      for (const parameter of list) {
        const key = JSON.stringify(parameter);
        uses.set(key, { parameter, times: (uses.get(key)?.times ?? 0) + 1 });
      }
    }
    const often = [...uses.values()].filter(({ times }) => times > 1).toSorted((a, b) => b.times - a.times);
    for (const { parameter } of often) this.shared[parameter.name] ??= parameter;
  }

  of(route: Route): object[] {
    return this.#all.get(route)!.map((parameter) => {
      const shared = this.shared[parameter.name];
      const isSame = shared !== undefined && JSON.stringify(shared) === JSON.stringify(parameter);
      return isSame ? { $ref: `#/components/parameters/${parameter.name}` } : parameter;
    });
  }

  #listOf(route: Route, contract: ActionContract, components: Components): Parameter[] {
    const properties = propertiesOf(contract);
    const shown = (schema: TSchema | undefined): Schema => (schema ? components.shown(schema) : { type: "string" });
    const list = pathNames(route.path).map((name) => parameter("path", name, shown(properties[name]), true));
    if (!hasBody(route)) {
      for (const [name, schema] of Object.entries(fieldsOf(route, contract))) {
        const ordering = name === "ordering" ? orderingOf(contract) : undefined;
        list.push(parameter("query", name, ordering ?? shown(schema), isRequired(contract, name)));
      }
    }
    if (route.access === "company" && !isCompanyPath(route) && !namesCompanyInBody(contract)) {
      list.push(SHARED.company!);
    }
    if (IDEMPOTENCY_KEY in properties) list.push(SHARED.idempotencyKey!);
    return list;
  }
}
