/**
 * Routes by resource: @koa/router tries all of its routes on each request, and there are close to ninety, so each
 * resource gets a small router.
 */
import Router from "@koa/router";
import type { Context, Next, State } from "./context.ts";

export type RouteHandler = (context: Context) => Promise<void> | void;

/** "emails/subscribers" for /api/emails/subscribers/:id/…, "companies" for /api/companies/:id/… */
function resourceOf(path: string): string {
  const [, , second, third] = path.split("/", 4);
  return second === "emails" ? `emails/${third}` : (second ?? path);
}

export class ResourceRouter {
  readonly #routers = new Map<string, Router<State>>();
  readonly #none = new Router<State>();

  add(method: string, path: string, handler: RouteHandler): void {
    // A path without parameters has its own router: DELETE …/subscribers/bulk/ must not match a subscriber with the id
    // "bulk".
    const name = path.includes(":") ? resourceOf(path) : path;
    const router = this.#routers.get(name) ?? new Router<State>({ strict: true, sensitive: true });
    this.#routers.set(name, router);
    router.register(path, [method], handler);
  }

  #router(path: string): Router<State> {
    return this.#routers.get(path) ?? this.#routers.get(resourceOf(path)) ?? this.#none;
  }

  /** True if any route has this path, whatever its method. */
  has(path: string): boolean {
    return this.#router(path).match(path, "GET").path.length > 0;
  }

  middleware() {
    const dispatch = new Map([...this.#routers.values(), this.#none].map((router) => [router, router.routes()]));
    return (context: Context, next: Next) => dispatch.get(this.#router(context.path))!(context as never, next);
  }
}
