/**
 * Validates action and event parameters by the JSON Schemas of the contracts, and nothing else: Moleculer's own
 * `$node.*` actions keep their native format, which the parent class reads.
 */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Validators } from "moleculer";
import { isAddress } from "../services/address.ts";
import type { Ctx } from "../services/define.ts";
import { type FieldErrors, invalid } from "../services/errors.ts";
import { addFault, fieldErrors } from "../services/field-errors.ts";
import { isUuid } from "../services/ids.ts";

export const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, ownProperties: true });
addFormats.default(ajv, ["date-time", "uri"]);
ajv.addFormat("uuid", isUuid);
ajv.addFormat("email", (value: string) => isAddress(value.trim()));
ajv.addFormat("line", /^[^\r\n]*$/);

type Handler = (ctx: Ctx) => Promise<unknown>;
interface ActionLike {
  params?: unknown;
  check?: (ctx: Ctx, sound: (field: string) => boolean) => Promise<FieldErrors> | FieldErrors;
}

const isJsonSchema = (schema: unknown): schema is object =>
  typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type === "object";

const MAX_DEPTH = 32;

/** NUL and lone surrogates are legal in JSON, but PostgreSQL stores neither; deep nesting would exhaust a stack. */
function textFault(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") {
    if (value.includes("\0")) return "Null characters are not allowed.";
    return value.isWellFormed() ? undefined : "Not a valid string.";
  }
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return undefined;
  if (depth === MAX_DEPTH) return "Nested too deeply.";
  for (const key of Object.keys(value)) {
    const fault = textFault(key) ?? textFault((value as Record<string, unknown>)[key], depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

export function faultsOf(validate: ValidateFunction, params: unknown): FieldErrors {
  const fields: FieldErrors = {};
  if (typeof params === "object" && params !== null) {
    for (const [field, value] of Object.entries(params)) {
      const fault = textFault(value);
      if (fault) addFault(fields, field, fault);
    }
  }
  if (validate(params)) return fields;
  return { ...fieldErrors(validate.errors ?? []), ...fields };
}

export class AjvValidator extends Validators.Fastest {
  override middleware() {
    const native = super.middleware(this.broker) as { localAction: (next: Handler, action: ActionLike) => Handler };

    const localAction = (next: Handler, action: ActionLike): Handler => {
      if (!isJsonSchema(action.params)) return native.localAction(next, action);
      const validate = ajv.compile(action.params);
      const { check } = action;
      return async function checked(ctx: Ctx) {
        const params = ctx.params ?? {};
        const faults = faultsOf(validate, params);
        if (check) {
          const sound = (field: string) =>
            (params as Record<string, unknown>)[field] !== undefined && !(field in faults);
          for (const [field, texts] of Object.entries(await check(ctx, sound))) {
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
