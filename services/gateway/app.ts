/** The Koa application: the edge, the documents, the routes, and what is left. Reads from top to bottom as a request goes. */
import Koa from "koa";
import type { ActionContract } from "../define.ts";
import { handlerOf, type Tools } from "./bind.ts";
import { documents } from "./documents.ts";
import { type EdgeOptions, edge } from "./edge.ts";
import type { State } from "./exchange.ts";
import { hits } from "./hits.ts";
import { Routing } from "./routing.ts";
import { unmatched } from "./unmatched.ts";

export interface AppOptions extends EdgeOptions, Tools {
  contractOf: (action: string) => ActionContract;
}

export function buildApp(options: AppOptions): Koa<State> {
  const app = new Koa<State>();
  const routing = new Routing();
  for (const [path, handler] of documents(options)) routing.add("GET", path, handler);
  for (const route of options.routes) {
    routing.add(route.method, route.path, handlerOf(route, options.contractOf(route.action), options));
  }
  // Only what breaks after the answer has begun comes here: a download whose source fails, a client that left.
  app.on("error", (error, exchange) => options.report(error, exchange));
  app.use(edge(options));
  app.use(hits(options));
  app.use(routing.middleware());
  app.use(unmatched(routing));
  return app;
}
