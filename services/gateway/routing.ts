/** One small router per resource: @koa/router tries all of its routes on each request, and we have close to ninety. */
import Router from "@koa/router";
import type { Exchange, Next, State } from "./exchange.ts";

type Handler = (exchange: Exchange) => Promise<void> | void;

/** "emails/subscribers" for /api/emails/subscribers/:id/…, "companies" for /api/companies/:id/… */
function resourceOf(path: string): string {
  const [, , second, third] = path.split("/", 4);
  return second === "emails" ? `emails/${third}` : (second ?? path);
}

export class Routing {
  readonly #routers = new Map<string, Router<State>>();
  readonly #none = new Router<State>();

  add(method: string, path: string, handler: Handler): void {
    // A path without parameters stands for itself alone: DELETE …/subscribers/bulk/ is no subscriber with the id "bulk".
    const name = path.includes(":") ? resourceOf(path) : path;
    const router = this.#routers.get(name) ?? new Router<State>({ strict: true, sensitive: true });
    this.#routers.set(name, router);
    router.register(path, [method], handler);
  }

  #router(path: string): Router<State> {
    return this.#routers.get(path) ?? this.#routers.get(resourceOf(path)) ?? this.#none;
  }

  /** True where some route has this path, whatever its method. */
  has(path: string): boolean {
    return this.#router(path).match(path, "GET").path.length > 0;
  }

  middleware() {
    const dispatch = new Map([...this.#routers.values(), this.#none].map((router) => [router, router.routes()]));
    return (exchange: Exchange, next: Next) => dispatch.get(this.#router(exchange.path))!(exchange as never, next);
  }
}
