/**
 * Validates the parameters of actions and the payloads of events by the JSON Schemas of the contracts, and nothing else:
 * Moleculer's own `$node.*` actions keep their native format, which the parent class reads.
 */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { type ServiceBroker, Validators } from "moleculer";
import { dateError, isDay } from "../models/segment-rules/values.ts";
import { addressText, isAddress } from "../services/lib/address.ts";
import type { Ctx } from "../services/lib/caller.ts";
import { type FieldErrors, invalid } from "../services/lib/errors.ts";
import { addFieldError, fieldErrors } from "../services/lib/field-errors.ts";
import { isUuid } from "../services/lib/ids.ts";
import { isOneLine } from "../services/lib/one-line.ts";

const OPTIONS = { verbose: true, strict: false, ownProperties: true } as const;

/**
 * RFC 3339 allows date-times that JavaScript cannot represent: leap seconds and offsets without minutes parse to
 * nothing, and years beyond 9999 (by the offset) would be returned in a form that clients cannot read.
 */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function withInstants(ajv: Ajv): Ajv {
  const { validate } = ajv.formats["date-time"] as { validate: (value: string) => boolean };
  const isInstant = (value: string) => validate(value) && Date.parse(value) <= LAST_INSTANT;
  return ajv
    .addFormat("date-time", isInstant)
    .addFormat("day-or-time", (value: string) => (isDay(value) ? dateError(value) === undefined : isInstant(value)));
}

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ["date-time", "uri"]);
  return withInstants(ajv)
    .addFormat("uuid", isUuid)
    .addFormat("email", (value: string) => isAddress(addressText(value)))
    .addFormat("line", isOneLine);
}

/** Stops at the first error, and most parameters have none; the other one finds them all. */
const quick = withFormats(new Ajv(OPTIONS));
const thorough = withFormats(new Ajv({ ...OPTIONS, allErrors: true }));

const isJsonSchema = (schema: unknown): schema is object =>
  typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type === "object";

const MAX_DEPTH = 32;
// The largest send has 10,000 receivers with some thirty variables each.
const MAX_VALUES = 1_000_000;
// Millions of wrong values in one array must not become millions of errors: beyond this, only the first is reported.
const MAX_VALUES_REPORTED = 100_000;

interface Walked {
  values: number;
}

/**
 * NUL and lone surrogates are legal in JSON, but PostgreSQL stores neither; deep nesting would exhaust a stack, and an
 * endless array the memory.
 */
function textError(value: unknown, walked: Walked, depth = 0): string | undefined {
  if (++walked.values > MAX_VALUES) return "Too many values.";
  if (typeof value === "string") {
    if (value.includes("\0")) return "Null characters are not allowed.";
    return value.isWellFormed() ? undefined : "Not a valid string.";
  }
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return undefined;
  if (depth === MAX_DEPTH) return "Nested too deeply.";
  if (Array.isArray(value)) {
    for (const item of value) {
      const error = textError(item, walked, depth + 1);
      if (error) return error;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const error =
      textError(key, walked, depth) ?? textError((value as Record<string, unknown>)[key], walked, depth + 1);
    if (error) return error;
  }
  return undefined;
}

/** Errors of known fields; others are ignored, whatever their value. */
function textErrors(params: unknown, known: string[], walked: Walked): FieldErrors {
  const fields: FieldErrors = {};
  if (typeof params !== "object" || params === null) return fields;
  for (const field of known) {
    if (!Object.hasOwn(params, field)) continue;
    const error = textError((params as Record<string, unknown>)[field], walked);
    if (error) addFieldError(fields, field, error);
  }
  return fields;
}

type Validate = (params: unknown) => FieldErrors;

/**
 * Makes of a schema a function that returns the errors by field: an empty object where there are none. It is compiled at
 * its first use: all of them took a quarter of the CPU time of a process's start, and most processes see few of them.
 */
export function compileValidator(schema: object): Validate {
  let passes: ValidateFunction | undefined;
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  let findAll: ValidateFunction | undefined;
  return (params) => {
    passes ??= quick.compile(schema);
    const walked = { values: 0 };
    const errors = textErrors(params, names, walked);
    if (walked.values > MAX_VALUES || passes(params)) return errors;
    if (walked.values > MAX_VALUES_REPORTED) return { ...fieldErrors(passes.errors ?? []), ...errors };
    findAll ??= thorough.compile(schema);
    findAll(params);
    return { ...fieldErrors(findAll.errors ?? []), ...errors };
  };
}

type Handler = (ctx: Ctx) => Promise<unknown>;
interface ActionLike {
  params?: unknown;
  validate?: (ctx: Ctx, isValid: (field: string) => boolean) => Promise<FieldErrors> | FieldErrors;
}
type Emit = (name: string, payload?: unknown, options?: unknown) => Promise<unknown>;

/**
 * `events` maps names to schemas. An event with an invalid payload is neither sent nor handled (it may come from an
 * older or newer node): the error is logged and the sender continues. Events are hints backed by polling, and the
 * announced rows are committed: failing the sender would invite the client to repeat the work.
 */
export class AjvValidator extends Validators.Fastest {
  readonly #events: ReadonlyMap<string, Validate>;

  constructor(events: Record<string, object> = {}) {
    super();
    this.#events = new Map(Object.entries(events).map(([name, schema]) => [name, compileValidator({ ...schema })]));
  }

  #isValidEvent(name: string, payload: unknown, refusal: string): boolean {
    const errors = this.#events.get(name)?.(payload) ?? {};
    if (Object.keys(errors).length === 0) return true;
    (this.broker as ServiceBroker).logger.error(
      { event: name, errors },
      `${refusal}: the payload of ${name} is invalid`,
    );
    return false;
  }

  override middleware() {
    const native = super.middleware(this.broker) as { localAction: (next: Handler, action: ActionLike) => Handler };

    const localAction = (next: Handler, action: ActionLike): Handler => {
      if (!isJsonSchema(action.params)) return native.localAction(next, action);
      const errorsOf = compileValidator(action.params);
      const { validate } = action;
      return async function validated(ctx: Ctx) {
        const { refused } = ctx.meta;
        // Calls that this action makes have parameters of their own.
        delete ctx.meta.refused;
        const params = ctx.params ?? {};
        const errors = errorsOf(params);
        const isValid = (field: string) =>
          (params as Record<string, unknown>)[field] !== undefined && !(field in errors);
        for (const [field, sentences] of Object.entries((await validate?.(ctx, isValid)) ?? {})) {
          for (const sentence of sentences) addFieldError(errors, field, sentence);
        }
        Object.assign(errors, refused);
        return Object.keys(errors).length > 0 ? Promise.reject(invalid(errors)) : next(ctx);
      };
    };

    const localEvent =
      (next: Handler): Handler =>
      async (ctx) =>
        this.#isValidEvent(ctx.eventName ?? "", ctx.params, "Not handled") ? next(ctx) : undefined;

    const emit =
      (next: Emit): Emit =>
      async (name, payload, options) =>
        this.#isValidEvent(name, payload, "Not sent") ? next(name, payload, options) : undefined;

    return { ...native, name: "AjvValidator", localAction, localEvent, emit, broadcast: emit };
  }
}
