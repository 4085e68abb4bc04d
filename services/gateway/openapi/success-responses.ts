/** Success responses of an operation. */
import type { ActionContract } from "../../define.ts";
import type { TSchema } from "../../lib/shapes.ts";
import { propertiesOf } from "../http/params.ts";
import type { Route } from "../routes.ts";
import type { Components } from "./components.ts";
import { described, type Schema } from "./describe-fields.ts";
import { locationHeader, requestIdHeader } from "./headers.ts";

const link = { type: ["string", "null"], format: "uri" };

/** Fields of every list, besides its rows. */
export const pageSchemas: Record<string, Schema> = {
  Count: { type: "integer", description: "Total number of entries on all pages.", examples: [42] },
  CountEstimated: {
    type: "boolean",
    description: "True if `count` is an estimate because counting takes more than 2 seconds; omitted if it is exact.",
  },
  NextPage: {
    ...link,
    description: "URL of the next page, to be requested unchanged; null on the last one.",
    examples: ["https://mail.lantern.example/api/emails/lists/?page=3&cursor=Zk3xq0c2"],
  },
  PreviousPage: {
    ...link,
    description: "URL of the previous page; null on the first one.",
    examples: ["https://mail.lantern.example/api/emails/lists/?page=1&cursor=Qm9pd1f0"],
  },
};

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function page(items: object): object {
  const properties = {
    count: ref("Count"),
    next: ref("NextPage"),
    previous: ref("PreviousPage"),
    results: { description: "The entries of this page.", ...items },
  };
  const required = Object.keys(properties);
  return { type: "object", required, properties: { ...properties, count_estimated: ref("CountEstimated") } };
}

function successContent({ route, contract, components }: Success): object {
  const json = (schema: TSchema) => ({ schema: described(components.shown(schema)) });
  switch (route.answer) {
    case "json":
      return { "application/json": json(contract.returns) };
    case "list": {
      const { results } = propertiesOf({ ...contract, params: contract.returns });
      return { "application/json": { schema: page(json(results!).schema) } };
    }
    case "csv":
      return { "text/csv": { schema: { type: "string" }, example: "email,status\r\nann@example.com,active\r\n" } };
    case "events":
      return {
        "text/event-stream": {
          schema: { type: "string" },
          example: 'event: progress\ndata: {"status":"sending","total_emails":1000,"sent_count":250}\n\n',
        },
      };
    case "feed":
      return {
        "application/rss+xml": {
          schema: { type: "string" },
          example: '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0">…</rss>',
        },
      };
    case "html":
      return {
        "text/html": { schema: { type: "string" }, example: "<!doctype html><title>Lantern Books</title>" },
        ...(contract.json ? { "application/json": json(contract.json) } : {}),
      };
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
  events: "Stream of events.",
  feed: "The feed.",
  html: "The page; JSON is returned for `Accept: application/json`.",
  bytes: "The file.",
  redirect: "Redirects to the link's target.",
  none: "Done, no content.",
};

export interface Success {
  route: Route;
  contract: ActionContract;
  components: Components;
}

function successOf(success: Success, description: string): object {
  const { route } = success;
  const content = successContent(success);
  const headers = {
    ...requestIdHeader,
    ...(route.answer === "redirect" ? locationHeader : {}),
  };
  return { description, headers, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

export function successesOf(success: Success): Record<string, object> {
  const { route, contract } = success;
  const answers: Record<string, object> = { [route.status]: successOf(success, successes[route.answer]) };
  for (const [field, status] of Object.entries(route.statusBy ?? {})) {
    const returns = contract.returnsBy?.[field] ?? contract.returns;
    answers[status] = successOf({ ...success, contract: { ...contract, returns } }, `With \`${field}\`.`);
  }
  if (route.conditional) {
    answers[304] = { description: "Not modified: `If-None-Match` matches its ETag.", headers: requestIdHeader };
  }
  if (route.mayRedirect) {
    const description = "Redirects to the given address.";
    answers[303] = { description, headers: { ...requestIdHeader, ...locationHeader } };
  }
  return answers;
}
