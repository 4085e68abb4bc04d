/** What no route answered: a missing slash, another method, or nothing that exists. */
import { notFound as notFoundError } from "../../lib/errors.ts";
import type { Context } from "./context.ts";
import { allowPreflight } from "./cors.ts";
import { HttpRefusal } from "./problems.ts";
import type { ResourceRouter } from "./router.ts";

export function notFound(router: ResourceRouter) {
  return (context: Context): void => {
    const { path, method } = context;
    if (context.methods) {
      const methods = context.methods.toSorted().concat("OPTIONS").join(", ");
      context.set("Allow", methods);
      if (method !== "OPTIONS") throw new HttpRefusal(405, `Method "${method}" not allowed.`);
      allowPreflight(context, methods);
      context.status = 204;
      return;
    }
    if (path.endsWith("/") || !router.has(`${path}/`)) throw notFoundError();
    // 308 keeps method and body. The path matched a route, so it cannot lead to another host.
    context.status = 308;
    context.set("Location", `${path}/${context.search}`);
    context.body = "";
  };
}
