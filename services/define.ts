/**
 * Binds a service's handlers to its contract: a missing, surplus or mistyped handler does not compile.
 *
 * An action is a function, or `{ validate, handler }` where errors beyond the schema (an id that refers to nothing) are
 * reported together with the schema's own, in one response.
 *
 * Visibility (Moleculer's), by contract: an action without it is published, which means that a route of the gateway leads
 * to it; "public": other services and operators on any node call it, but no route does (the gateway refuses to bind one);
 * "protected": only its own node does, as with what `every` repeats (mixins/every.mixin.ts).
 */
import type { Service, ServiceSchema } from "moleculer";
import type { EventName, EventPayload } from "./events.ts";
import type { Ctx } from "./lib/caller.ts";
import type { FieldErrors } from "./lib/errors.ts";
import type { Static, TSchema } from "./lib/shapes.ts";

export interface ActionContract {
  /** One line for OpenAPI and the REPL. */
  summary: string;
  description?: string;
  params: TSchema;
  returns: TSchema;
  visibility?: "public" | "protected";
  /** Schema of the response if this field is true. */
  returnsBy?: Record<string, TSchema>;
  /** Schema of the JSON response of a page that can also answer in JSON. */
  json?: TSchema;
  /** Exactly one field of each group is given; the action's `validate` says so in words. */
  exactlyOne?: readonly (readonly string[])[];
  /**
   * Which fields of a body that `params` does not have are a 400: those that look mistyped (unset), all of them, or those
   * that the action itself refuses.
   */
  unknownFields?: "all" | "read";
  /** Fields that are not parameters but are ignored instead of refused. */
  ignoredFields?: readonly string[];
  /** Example of a request body in OpenAPI. */
  example?: unknown;
}
export type ServiceContract = Record<string, ActionContract>;

type ParamsOf<A extends ActionContract> = Static<A["params"]>;
type Handler<A extends ActionContract> = (this: Service, ctx: Ctx<ParamsOf<A>>) => Promise<Static<A["returns"]>>;
/** Returns the errors it finds; `isValid(field)`: the field is given and passed the schema. */
export type Validate<A extends ActionContract> = (
  ctx: Ctx<ParamsOf<A>>,
  isValid: (field: keyof ParamsOf<A> & string) => boolean,
) => Promise<FieldErrors> | FieldErrors;

type Actions<C extends ServiceContract> = {
  [K in keyof C]: Handler<C[K]> | { validate: Validate<C[K]>; handler: Handler<C[K]> };
};
type Events = { [E in EventName]?: (this: Service, ctx: Ctx<EventPayload<E>>) => Promise<void> };

interface Parts<C extends ServiceContract>
  extends Pick<ServiceSchema, "mixins" | "metadata" | "dependencies" | "created" | "started" | "stopped"> {
  actions: Actions<C>;
  events?: Events;
}

export function defineService<const C extends ServiceContract>(
  name: string,
  contract: C,
  parts: Parts<C>,
): ServiceSchema {
  const actions: Record<string, unknown> = {};
  for (const [action, { params, visibility }] of Object.entries(contract)) {
    const part = parts.actions[action]!;
    const handler = typeof part === "function" ? { handler: part } : part;
    // A shallow copy: Moleculer's registry publishes actions through a WeakSet that drops the second use of an object.
    actions[action] = { params: { ...params }, ...(visibility ? { visibility } : {}), ...handler };
  }
  return { ...parts, name, actions } as ServiceSchema;
}
