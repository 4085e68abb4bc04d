/**
 * Generates the OpenAPI 3.1 document from routes.ts and the contracts, so that it cannot differ from the validation.
 * The test suite checks every response against it.
 */
import type { ActionContract } from "../../define.ts";
import type { Permission } from "../../lib/rights.ts";
import type { Route } from "../routes.ts";
import { tagOf, tags } from "./chapters.ts";
import { Components } from "./components.ts";
import { errorResponses } from "./error-responses.ts";
import { errorSchemas } from "./error-schemas.ts";
import { headerComponents } from "./headers.ts";
import { type Operation, operationOf, USUAL_SECURITY } from "./operation.ts";
import { Parameters } from "./parameters.ts";
import { share } from "./share.ts";
import { pageSchemas } from "./success-responses.ts";
import { webhookParameters, webhookSchemas, webhooks } from "./webhooks.ts";

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, object>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, object>;
    parameters: Record<string, object>;
    headers: Record<string, object>;
    securitySchemes: object;
  };
  [more: string]: unknown;
}

export interface Described {
  routes: readonly Route[];
  contractOf: (action: string) => ActionContract;
  permissionOf: (action: string) => Permission | undefined;
  baseUrl: string;
}

const DESCRIPTION = `Subscribers, lists, templates, SMTP configurations, campaigns, webhooks, suppressions, segments and media.

Every path ends with a slash; without it the answer is a 308 to the path with it. Every answer has an \`X-Request-Id\` (send your
own, or a W3C \`traceparent\`, to trace a request). If the plan limits API calls, answers also have \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Lists return 20 entries per page (\`page_size\` up to 100): follow \`next\` until it is null.

Authenticate with \`X-API-Key\`. People use \`Authorization: Bearer\` and name the company: \`company\` in the body of a send,
\`?company=\` elsewhere; paths under \`/api/companies/{id}/\` already name it.
Each operation lists the roles and API key scopes that may use it. Scopes: \`send\` (sends, and campaigns created by the same
key), \`campaigns\` (campaigns, templates, media, reports), \`subscribers\` (subscribers, imports, lists, segments,
suppressions), \`settings\` (SMTP configurations, webhooks, company), \`read\` (every GET except exports), \`export\`, and \`full\`.
Texts must not contain U+0000 or a lone surrogate. Undocumented fields are ignored.
Retry 429 and 5xx with exponential back-off, and not before \`Retry-After\`; do not retry other 4xx unchanged.`;

const securitySchemes = {
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "`fm_…`, created by an owner or admin." },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "`access` from login, valid for 15 minutes.",
  },
};

const openApiPath = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");

export function describeApi({ routes, contractOf, permissionOf, baseUrl }: Described): OpenApi {
  const components = new Components(routes, contractOf);
  const parameters = new Parameters(routes, contractOf, components);
  const paths: OpenApi["paths"] = {};
  for (const route of routes) {
    const operation = operationOf(route, contractOf(route.action), components, parameters, permissionOf(route.action));
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: { tags: [tagOf(route.path)], ...operation } };
  }
  const schemas = { ...errorSchemas, ...pageSchemas, ...webhookSchemas, ...components.schemas };
  const shared = share({ paths, webhooks, schemas, responses: errorResponses });
  return {
    openapi: "3.1.0",
    info: {
      title: "Flockmail",
      version: "1.0.0",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    security: USUAL_SECURITY,
    tags,
    paths: shared.paths as OpenApi["paths"],
    webhooks: shared.webhooks as OpenApi["webhooks"],
    components: {
      securitySchemes,
      headers: headerComponents,
      parameters: { ...parameters.shared, ...webhookParameters },
      responses: shared.responses,
      schemas: shared.schemas,
    },
  };
}
