/**
 * Validates action and event parameters by the JSON Schemas of the contracts, and nothing else: Moleculer's own
 * `$node.*` actions keep their native format, which the parent class reads.
 */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Validators } from "moleculer";
import { isAddress } from "../services/lib/address.ts";
import type { Ctx } from "../services/lib/caller.ts";
import { type FieldErrors, invalid } from "../services/lib/errors.ts";
import { addFault, fieldErrors } from "../services/lib/field-errors.ts";
import { isUuid } from "../services/lib/ids.ts";
import { isOneLine } from "../services/lib/one-line.ts";

const OPTIONS = { verbose: true, strict: false, ownProperties: true } as const;

/**
 * A date-time as RFC 3339 has it is not always an instant to us: leap seconds and offsets without minutes parse to nothing,
 * and years beyond 9999 (by the offset) would be told in a form that clients cannot read.
 */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function withInstants(ajv: Ajv): Ajv {
  const { validate } = ajv.formats["date-time"] as { validate: (value: string) => boolean };
  return ajv.addFormat("date-time", (value: string) => validate(value) && Date.parse(value) <= LAST_INSTANT);
}

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ["date-time", "uri"]);
  return withInstants(ajv)
    .addFormat("uuid", isUuid)
    .addFormat("email", (value: string) => isAddress(value.trim()))
    .addFormat("line", isOneLine);
}

/** Stops at the first fault, which most parameters do not have; the other finds them all. */
const quick = withFormats(new Ajv(OPTIONS));
const thorough = withFormats(new Ajv({ ...OPTIONS, allErrors: true }));

type Handler = (ctx: Ctx) => Promise<unknown>;
interface ActionLike {
  params?: unknown;
  validate?: (ctx: Ctx, isValid: (field: string) => boolean) => Promise<FieldErrors> | FieldErrors;
}

const isJsonSchema = (schema: unknown): schema is object =>
  typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type === "object";

const MAX_DEPTH = 32;
// The largest send has 10,000 receivers with some thirty variables each.
const MAX_VALUES = 1_000_000;
// Millions of wrong values in one array must not become millions of faults: beyond this, only the first is told.
const MAX_VALUES_TOLD = 100_000;

interface Walked {
  values: number;
}

/**
 * NUL and lone surrogates are legal in JSON, but PostgreSQL stores neither; deep nesting would exhaust a stack, and an
 * endless array the memory.
 */
function textFault(value: unknown, walked: Walked, depth = 0): string | undefined {
  if (++walked.values > MAX_VALUES) return "Too many values.";
  if (typeof value === "string") {
    if (value.includes("\0")) return "Null characters are not allowed.";
    return value.isWellFormed() ? undefined : "Not a valid string.";
  }
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return undefined;
  if (depth === MAX_DEPTH) return "Nested too deeply.";
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = textFault(item, walked, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const fault =
      textFault(key, walked, depth) ?? textFault((value as Record<string, unknown>)[key], walked, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

/** Of the fields that the schema knows; others are ignored, whatever they hold. */
function textFaults(params: unknown, known: string[], walked: Walked): FieldErrors {
  const fields: FieldErrors = {};
  if (typeof params !== "object" || params === null) return fields;
  for (const field of known) {
    if (!Object.hasOwn(params, field)) continue;
    const fault = textFault((params as Record<string, unknown>)[field], walked);
    if (fault) addFault(fields, field, fault);
  }
  return fields;
}

/** What is wrong with parameters, by field; an empty object when nothing is. Compiled here, once. */
export function checker(schema: object): (params: unknown) => FieldErrors {
  const passes = quick.compile(schema);
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  let tell: ValidateFunction | undefined;
  return (params) => {
    const walked = { values: 0 };
    const faults = textFaults(params, known, walked);
    if (walked.values > MAX_VALUES || passes(params)) return faults;
    if (walked.values > MAX_VALUES_TOLD) return { ...fieldErrors(passes.errors ?? []), ...faults };
    tell ??= thorough.compile(schema);
    tell(params);
    return { ...fieldErrors(tell.errors ?? []), ...faults };
  };
}

export class AjvValidator extends Validators.Fastest {
  override middleware() {
    const native = super.middleware(this.broker) as { localAction: (next: Handler, action: ActionLike) => Handler };

    const localAction = (next: Handler, action: ActionLike): Handler => {
      if (!isJsonSchema(action.params)) return native.localAction(next, action);
      const errorsOf = checker(action.params);
      const { validate } = action;
      return async function checked(ctx: Ctx) {
        const params = ctx.params ?? {};
        const faults = errorsOf(params);
        if (validate) {
          const isValid = (field: string) =>
            (params as Record<string, unknown>)[field] !== undefined && !(field in faults);
          for (const [field, texts] of Object.entries(await validate(ctx, isValid))) {
            for (const text of texts) addFault(faults, field, text);
          }
        }
        if (Object.keys(faults).length > 0) throw invalid(faults);
        return next(ctx);
      };
    };

    return { ...native, name: "AjvValidator", localAction };
  }
}
