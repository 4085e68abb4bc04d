/** Answers requests that match no route: a missing slash, another method, or an unknown path. */
import { notFound as notFoundError } from "../../lib/errors.ts";
import type { Context } from "./context.ts";
import { allowPreflight } from "./cors.ts";
import { HttpRefusal } from "./problems.ts";
import type { ResourceRouter } from "./router.ts";

function allowedMethods(context: Context): string {
  const methods = new Set(context.matched!.flatMap(({ methods }) => methods));
  return [...methods].toSorted().concat("OPTIONS").join(", ");
}

export function notFound(router: ResourceRouter) {
  return (context: Context): void => {
    const { path, method } = context;
    if (context.matched?.length) {
      const methods = allowedMethods(context);
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
