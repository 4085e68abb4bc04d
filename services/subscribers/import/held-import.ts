/** Actions on imports by id: held files are inspected, tried and started; all imports report their progress. */
import { listPage } from "../../../models/database/listing.ts";
import { readPart } from "../../../models/statements/imports.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { type FieldErrors, notFound, wrongState } from "../../lib/errors.ts";
import type { ListQuery, Static } from "../../lib/shapes.ts";
import type { FileColumns, ImportState } from "../contract-import.ts";
import { importerOf, storeImport, tooManyImports } from "./background-import.ts";
import { type Mapping, readMapping } from "./columns.ts";
import {
  findImport,
  holdImport,
  IMPORT_LISTING,
  type ImportRow,
  removeImport as removeRow,
  startHeldImport,
} from "./held-imports.ts";
import { type ImportForm, importErrors } from "./import-request.ts";
import { inspectFile } from "./inspect-file.ts";

type State = Static<typeof ImportState>;

/** Form to start a held file; `mapping` is an object, because the request is JSON. */
interface StartForm
  extends Pick<ImportForm, "list_id" | "charset" | "dry_run" | "on_conflict" | "date_order" | "header"> {
  mapping?: Mapping;
}

const EMPTY = {
  total: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  repeated: 0,
  suppressed: 0,
  errors: [],
  errors_count: 0,
  errors_url: null,
  columns: [],
  decoded_cells: 0,
};

/** Requires a validated form. */
function mappingOf({ mapping }: ImportForm): Mapping {
  const parsed = readMapping(mapping);
  return "mapping" in parsed ? parsed.mapping : {};
}

function stateOf({ form, report, held, created_at, kept_until, ...row }: ImportRow): State {
  const asked = form as ImportForm;
  return {
    ...row,
    ...EMPTY,
    import_id: row.id,
    ...(report as Partial<State> | null),
    filename: asked.filename ?? "",
    list_id: asked.list_id ?? null,
    mapping: mappingOf(asked),
    charset: asked.charset ?? null,
    on_conflict: asked.on_conflict ?? "update",
    date_order: asked.date_order ?? null,
    header: asked.header ?? true,
    dry_run: asked.dry_run ?? false,
    startable: held,
    created_at: created_at.toISOString(),
    kept_until: kept_until.toISOString(),
  };
}

async function requireImport(companyId: string, id: string): Promise<ImportRow> {
  const row = await findImport(companyId, id);
  if (!row) throw notFound();
  return row;
}

export const importView = async (companyId: string, id: string): Promise<State> =>
  stateOf(await requireImport(companyId, id));

export async function listImports(companyId: string, asked: ListQuery) {
  const listing = { ...IMPORT_LISTING, values: [companyId], id: "i.id", orderings: {}, searchIn: [] };
  const { results, ...page } = await listPage<ImportRow>(listing, asked);
  return { ...page, results: results.map(stateOf) };
}

export async function uploadImport(ctx: Ctx<{ filename?: string; size?: number }>): Promise<State> {
  const { filename = "", size = 0 } = ctx.params;
  const form = { filename: filename.slice(0, 255).toWellFormed(), size };
  const id = await storeImport(ctx, { form, bytes: size, held: true, complete: holdImport });
  return importView(companyOf(ctx), id);
}

const GONE = "The file is no longer kept. Upload it again.";
const RUNNING = "This import is running. Wait until it has finished.";

export async function importColumns(
  companyId: string,
  { id, charset, mapping, header }: { id: string; charset?: string; mapping?: string; header?: boolean },
): Promise<Static<typeof FileColumns>> {
  await requireImport(companyId, id);
  const first = await readPart(companyId, id, 0);
  if (!first) throw wrongState(GONE);
  return inspectFile(
    { companyId, id, first },
    { charset, header, mapping: mappingOf({ ...(mapping === undefined ? {} : { mapping }) }) },
  );
}

/** Converts it to the form of an import that includes its file. */
const storedForm = ({ mapping, ...rest }: StartForm): ImportForm => ({
  ...rest,
  ...(mapping ? { mapping: JSON.stringify(mapping) } : {}),
});

/** Validates the fields; `mapping` is stored and checked as text. */
export const startErrors = (
  companyId: string,
  asked: StartForm,
  isValid: (field: keyof StartForm) => boolean,
): Promise<FieldErrors> => importErrors(companyId, storedForm(asked), (field) => isValid(field as keyof StartForm));

export async function startImport(ctx: Ctx<StartForm & { id: string }>): Promise<State> {
  const { id, ...asked } = ctx.params;
  const companyId = companyOf(ctx);
  if (!(await startHeldImport(companyId, id, { form: storedForm(asked), caller: importerOf(ctx) }))) {
    const { status, held } = await requireImport(companyId, id);
    if (status === "running") throw wrongState(RUNNING);
    throw held ? tooManyImports() : wrongState(GONE);
  }
  return importView(companyId, id);
}

export async function removeImport(companyId: string, id: string): Promise<null> {
  if (await removeRow(companyId, id)) return null;
  await requireImport(companyId, id);
  throw wrongState(RUNNING);
}
