/** What no route answered: a missing slash, another method, or nothing that exists. */
import { ApiError, notFound } from "../lib/errors.ts";
import { tellBrowsers } from "./cors.ts";
import type { Exchange } from "./exchange.ts";
import type { Routing } from "./routing.ts";

function allowed(exchange: Exchange): string {
  const methods = new Set(exchange.matched!.flatMap(({ methods }) => methods));
  return [...methods].toSorted().concat("OPTIONS").join(", ");
}

export function unmatched(routing: Routing) {
  return (exchange: Exchange): void => {
    const { path, method } = exchange;
    if (exchange.matched?.length) {
      const methods = allowed(exchange);
      exchange.set("Allow", methods);
      if (method !== "OPTIONS") throw new ApiError("METHOD", 405, { detail: `Method "${method}" not allowed.` });
      tellBrowsers(exchange, methods);
      exchange.status = 204;
      return;
    }
    if (path.endsWith("/") || !routing.has(`${path}/`)) throw notFound();
    // 308 keeps method and body. The path matched a route, so it cannot lead to another host.
    exchange.status = 308;
    exchange.set("Location", `${path}/${exchange.search}`);
    exchange.body = "";
  };
}
