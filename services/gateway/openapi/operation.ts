/** Describes one row of routes.ts as an operation of the document. */
import type { ActionContract } from "../../define.ts";
import { type Permission, rolesFrom } from "../../lib/rights.ts";
import type { Route } from "../routes.ts";
import type { Components } from "./components.ts";
import { errorsOf } from "./error-responses.ts";
import { operationIdOf } from "./operation-ids.ts";
import type { Parameters } from "./parameters.ts";
import { requestBodyOf } from "./request-body.ts";
import { successesOf } from "./success-responses.ts";

export interface Operation {
  operationId: string;
  summary: string;
  responses: Record<string, object>;
  [more: string]: unknown;
}

/** Default security of the document, omitted in operations. */
export const USUAL_SECURITY = [{ apiKey: [] }, { bearer: [] }];

const SECURITY = {
  company: undefined,
  user: [{ bearer: [] }],
  person: [{ bearer: [] }],
  anyone: [{}, { bearer: [] }],
  public: [],
};

/** The required role or scope, from the table of permissions. */
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
  parameters: Parameters,
  permission: Permission | undefined,
): Operation {
  const { summary, description } = contract;
  const text = [description, permission && rightsSentence(route, permission)].filter(Boolean).join("\n\n");
  // An action can have two routes, because forms cannot send PUT.
  const suffix = route.method === "POST" && route.action === "tracking.updatePreferences" ? "ByForm" : "";
  const operationId = operationIdOf(route.action) + suffix;
  const security = SECURITY[route.access];
  const listed = parameters.of(route);
  return {
    operationId,
    summary,
    ...(text ? { description: text } : {}),
    ...(security ? { security } : {}),
    ...(listed.length > 0 ? { parameters: listed } : {}),
    ...requestBodyOf(route, contract, components),
    responses: { ...successesOf({ route, contract, components }), ...errorsOf(route) },
  };
}
