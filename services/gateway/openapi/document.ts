/**
 * The description of the API, OpenAPI 3.1: generated from routes.ts and the contracts, so that it cannot differ from what
 * is validated. The test suite checks every response against it.
 */
import type { ActionContract } from "../../define.ts";
import type { Permission } from "../../lib/rights.ts";
import type { Route } from "../routes.ts";
import { Components } from "./components.ts";
import { errorResponses, errorSchemas } from "./error-responses.ts";
import { type Operation, operationOf } from "./operation.ts";

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; responses: Record<string, object>; securitySchemes: object };
  [more: string]: unknown;
}

export interface Described {
  routes: readonly Route[];
  contractOf: (action: string) => ActionContract;
  permissionOf: (action: string) => Permission | undefined;
  baseUrl: string;
}

const DESCRIPTION = `Subscribers, lists, templates, SMTP configurations, campaigns, webhooks, suppressions, segments and media.

Every path ends with a slash; without it the answer is a 308 to the path with it. Every answer carries \`X-Request-Id\`
(a request may bring its own). Lists are pages of 20 (\`page_size\` up to 100): follow \`next\` until it is null.

Authenticate with \`X-API-Key\`, or as a person with \`Authorization: Bearer\`, and then say which company is meant:
\`company\` in the body of a send, \`?company=\` elsewhere; paths under \`/api/companies/{id}/\` say it themselves.
Each operation names the roles of people that may use it, and the scopes of API keys: \`send\` (the sends, and campaigns
that this key made), \`campaigns\` (campaigns, templates, media, reports), \`subscribers\` (subscribers, imports, lists,
segments, suppressions), \`settings\` (SMTP configurations, webhooks, company), \`read\` (every GET that is no export), \`export\`, or
\`full\`.
No text may hold U+0000 or a lone surrogate. Fields that are not described are ignored.
Retry 429 and 5xx with exponential backoff, and not before \`Retry-After\`; do not retry another 4xx unchanged.`;

const securitySchemes = {
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "`fm_…`, made by an owner or admin." },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "`access` of login, good for 15 minutes.",
  },
};

/** Chapters of the API reference, in the order of routes.ts. */
const CHAPTERS: [prefix: string, name: string][] = [
  ["/api/emails/send/", "Sending"],
  ["/api/emails/drafts/", "Drafts"],
  ["/api/emails/subscribers/", "Subscribers"],
  ["/api/emails/imports/", "Subscribers"],
  ["/api/emails/lists/", "Subscriber lists"],
  ["/api/emails/templates/", "Templates"],
  ["/api/emails/smtp-configs/", "SMTP configurations"],
  ["/api/emails/smtp/", "SMTP configurations"],
  ["/api/emails/campaigns/", "Campaigns"],
  ["/api/emails/webhook-endpoints/", "Webhook endpoints"],
  ["/api/emails/suppressions/", "Suppressions"],
  ["/api/emails/segments/", "Segments"],
  ["/api/emails/media/", "Media files"],
  ["/api/emails/sent-emails/", "Tracking"],
  ["/api/emails/events/", "Tracking"],
  ["/api/emails/stats/", "Tracking"],
  ["/api/emails/bounces/", "Bounces and complaints"],
  ["/api/emails/inbound/", "Bounces and complaints"],
  ["/api/emails/inbound-sources/", "Bounces and complaints"],
  ["/api/emails/public/", "Public endpoints"],
  ["/api/auth/", "Sign in"],
  ["/api/companies/", "Companies"],
];

const tags = [...new Set(CHAPTERS.map(([, name]) => name))].map((name) => ({ name }));

const tagOf = (path: string): string => CHAPTERS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "Other";

const openApiPath = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");

export function describeApi({ routes, contractOf, permissionOf, baseUrl }: Described): OpenApi {
  const components = new Components(routes, contractOf);
  const paths: OpenApi["paths"] = {};
  for (const route of routes) {
    const operation = operationOf(route, contractOf(route.action), components, permissionOf(route.action));
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: { tags: [tagOf(route.path)], ...operation } };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Flockmail",
      version: "1.0.0",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags,
    paths,
    components: {
      securitySchemes,
      responses: errorResponses,
      schemas: { ...errorSchemas, ...components.schemas },
    },
  };
}
