/** Validates the form of an import. */
import { keepImport } from "../../../models/statements/imports.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { listErrors } from "../members.ts";
import { subscriberLimit } from "../subscriber-limit.ts";
import type { DateOrder } from "./cell-types.ts";
import { readMapping } from "./columns.ts";
import { charsetErrors } from "./decode-text.ts";
import { type ImportJob, importSubscribers } from "./import-subscribers.ts";

export interface ImportForm {
  filename?: string;
  list_id?: string;
  mapping?: string;
  charset?: string;
  dry_run?: boolean;
  on_conflict?: "update" | "skip";
  date_order?: DateOrder;
  header?: boolean;
  background?: boolean;
  size?: number;
}

export async function importErrors(
  companyId: string,
  form: ImportForm,
  isValid: (field: keyof ImportForm) => boolean,
): Promise<FieldErrors> {
  const mapping = isValid("mapping") ? readMapping(form.mapping) : { errors: {} };
  return {
    ...(isValid("list_id") ? await listErrors(companyId, "list_id", [form.list_id!]) : {}),
    ...(isValid("charset") ? charsetErrors(form.charset) : {}),
    ...("errors" in mapping ? mapping.errors : {}),
  };
}

/** Requires a form that has passed `importErrors`. */
export function jobOf(form: ImportForm): Omit<ImportJob, "companyId" | "limit"> {
  const parsed = readMapping(form.mapping);
  return {
    listId: form.list_id,
    charset: form.charset,
    mapping: "mapping" in parsed ? parsed.mapping : {},
    dryRun: form.dry_run,
    bytes: form.size ?? 0,
    onConflict: form.on_conflict,
    dateOrder: form.date_order,
    header: form.header,
  };
}

export async function importFile(ctx: Ctx<ImportForm>) {
  const companyId = companyOf(ctx);
  const limit = await subscriberLimit(ctx);
  const { background: _, ...form } = ctx.params;
  return importSubscribers(ctx.stream, {
    companyId,
    limit,
    ...jobOf(form),
    finish: async (client, report) => {
      await keepImport(client, companyId, { id: report.import_id, form, bytes: form.size ?? 0, report });
    },
  });
}
