/** Import of subscribers: upload, mapping of columns, dry run and import, which runs in the background. */
import type { ReturnsOf } from "../../contracts.ts";
import { invalid, isServiceError, wrongState } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { sizeText } from "../../lib/size-text.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { sniffed } from "../head-of-file.ts";
import { guessedAddress, mappingOf, shownColumns } from "../import-mapping.ts";
import { messages } from "../messages.ts";
import { PAGE_SIZE } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, download, may, type Outcome } from "../request.ts";

type Import = ReturnsOf<"subscribers.getImport">;
type State = keyof typeof messages.imports.states;

const t = messages.imports;
const MAX_LISTS = 100;
const SHOWN_ERRORS = 25;
const NEW_LIST = "new";

const stateOf = ({ status, dry_run }: Import): State => (status === "done" && dry_run ? "tried" : status);
const nameOf = ({ filename }: Import): string => filename || t.unnamed;
const pathOf = (visit: CompanyVisit, id: string, rest = "") => companyPath(visit, `import/${id}${rest && `/${rest}`}`);

async function showUpload(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { results } = await callIn(visit, "subscribers.listImports", { page_size: PAGE_SIZE });
  return {
    view: "import",
    title: t.title,
    values: {
      imports: results.map((one) => ({
        ...one,
        name: nameOf(one),
        state: stateOf(one),
        href: pathOf(visit, one.id),
      })),
      here: companyPath(visit, "import"),
      errors,
      mayWrite: may(visit, "subscribers.uploadImport"),
    },
  };
}

export const importPage = (visit: CompanyVisit): Promise<Answer> => showUpload(visit);

export const uploadImport = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      requirePermission("subscribers.uploadImport", { role: visit.company.role });
      const { filename = "", content_type = "", size = 0 } = visit.file ?? {};
      const file = { filename, content_type, size };
      const { type, stream } = visit.file ? await sniffed(visit.file.stream, filename) : {};
      if (type?.startsWith("image/") || type === "application/pdf") throw invalid({ file: [t.notCsv] });
      const { id } = await callIn(visit, "subscribers.uploadImport", file, stream ? { stream } : {});
      return { goTo: pathOf(visit, id) };
    },
    (errors) => showUpload(visit, errors),
  );

const allLists = async (visit: CompanyVisit) =>
  (await callIn(visit, "subscribers.listLists", { page_size: MAX_LISTS, ordering: "name" })).results;

interface LookedAt {
  charset: string | null;
  header?: boolean | undefined;
  mapping?: Import["mapping"];
}

const columnsAs = (visit: CompanyVisit, { id }: Import, { charset, header, mapping }: LookedAt) =>
  callIn(visit, "subscribers.importColumns", {
    id,
    ...(header === undefined ? {} : { header }),
    ...(charset === null ? {} : { charset }),
    ...(mapping && Object.keys(mapping).length > 0 ? { mapping: JSON.stringify(mapping) } : {}),
  });

/** Form values of the last dry run, so that its choices are shown again. */
const askedBefore = ({ charset, list_id, on_conflict, header, date_order }: Import): Record<string, string> => ({
  ...(charset === null ? {} : { charset }),
  list: list_id ?? "",
  on_conflict,
  header: header ? "yes" : "no",
  date_order: date_order ?? "",
});

/** Undefined until chosen; then the API decides by the file's first line. */
const hasHeader = ({ header }: Record<string, string>): boolean | undefined =>
  header === undefined ? undefined : header !== "no";

interface Choosing {
  form: Record<string, string>;
  errors?: Errors;
}

/** Shows the mapping screen: the file's columns and what to import them as. */
async function showColumns(visit: CompanyVisit, state: Import, { form, errors = {} }: Choosing): Promise<Answer> {
  const charset = form.charset || null;
  const [look, lists] = await Promise.all([
    columnsAs(visit, state, { charset, header: hasHeader(form) }),
    allLists(visit),
  ]);
  const { header } = look;
  // Drops the mapping by column names if the choice of a header line has changed.
  const mapping = header === state.header ? state.mapping : {};
  const mapped = await columnsAs(visit, state, { charset, header, mapping });
  const named = { list: NEW_LIST, on_conflict: "update", new_list: nameOf(state).replace(/\.\w+$/, ""), ...form };
  return {
    view: "import-columns",
    title: nameOf(state),
    values: {
      state,
      bytes: sizeText(state.bytes),
      look,
      // Choices that were not tried yet have no known problem.
      problem: form === visit.form || guessedAddress(mapped) !== -1 ? undefined : mapped.problem,
      columns: shownColumns(look, mapped, form),
      separator: t.separators[look.delimiter as keyof typeof t.separators] ?? look.delimiter,
      charsets: Object.entries({ [look.charset]: look.charset, ...t.charsets }),
      firstLine: header ? "yes" : "no",
      firstLines: Object.entries(t.firstLines),
      dateOrders: Object.entries(t.dateOrders),
      lists,
      form: named,
      conflicts: Object.entries(t.conflicts),
      errors,
      here: pathOf(visit, state.id),
      back: companyPath(visit, "import"),
    },
  };
}

/** Ignores a list that was deleted: starting the import reports it. */
function ifGone(error: unknown): undefined {
  if (!isServiceError(error, "NOT_FOUND")) throw error;
}

/** Sentence of the API without the name of its field. */
const reasonOf = (error: string): string =>
  error === "email: This field may not be blank." ? t.noAddress : error.replace(/^email: /, "");

async function showState(visit: CompanyVisit, state: Import, errors: Errors = {}): Promise<Answer> {
  const mayWrite = may(visit, "subscribers.startImport");
  const here = pathOf(visit, state.id);
  const isTried = stateOf(state) === "tried" && state.startable;
  const isDone = stateOf(state) === "done";
  const [look, list] = await Promise.all([
    isTried ? columnsAs(visit, state, state) : undefined,
    (isTried || isDone) && state.list_id
      ? callIn(visit, "subscribers.getList", { id: state.list_id }).catch(ifGone)
      : undefined,
  ]);
  return {
    view: "import-state",
    title: nameOf(state),
    values: {
      state,
      name: stateOf(state),
      bytes: sizeText(state.bytes),
      bytesRead: sizeText(state.bytes_read),
      columns: look ? shownColumns(look, look, {}) : [],
      list,
      newList: visit.query.new_list,
      search: visit.query.new_list ? `?${new URLSearchParams({ new_list: visit.query.new_list })}` : "",
      shownErrors: state.errors.slice(0, SHOWN_ERRORS).map((one) => ({ ...one, error: reasonOf(one.error) })),
      // The API counts these rows by what happens to their person.
      updated: state.on_conflict === "skip" ? state.updated : state.updated - state.repeated,
      leftAlone: state.skipped - state.errors_count - (state.on_conflict === "skip" ? state.repeated : 0),
      errors,
      here,
      back: companyPath(visit, "import"),
      root: companyPath(visit),
      mayWrite,
      mayCompose: isDone && may(visit, "campaigns.createDraft"),
      mayUndo: isDone && state.created > 0 && may(visit, "subscribers.undoImport"),
    },
  };
}

const readImport = (visit: CompanyVisit): Promise<Import> =>
  callIn(visit, "subscribers.getImport", { id: visit.params.id! });

const mayChoose = (visit: CompanyVisit, state: Import): boolean =>
  state.startable && may(visit, "subscribers.startImport");

export async function importStatePage(visit: CompanyVisit): Promise<Answer> {
  const state = await readImport(visit);
  const isChoosing = state.status === "waiting" || visit.query.columns !== undefined;
  return isChoosing && mayChoose(visit, state)
    ? showColumns(visit, state, { form: state.status === "waiting" ? {} : askedBefore(state) })
    : showState(visit, state);
}

interface ImportSettings {
  mapping: Import["mapping"];
  charset: string;
  on_conflict: "update" | "skip";
  header: boolean;
  date_order?: "dmy" | "mdy";
}

async function settingsIn(visit: CompanyVisit, state: Import): Promise<ImportSettings> {
  const { form } = visit;
  const recognised = await columnsAs(visit, state, { charset: form.charset || null, header: hasHeader(form) });
  const { charset, header } = recognised;
  return {
    mapping: mappingOf(recognised, form),
    charset,
    header,
    on_conflict: form.on_conflict === "skip" ? "skip" : "update",
    ...(form.date_order === "dmy" || form.date_order === "mdy" ? { date_order: form.date_order } : {}),
  };
}

/** Handles the mapping form: shows it again, or starts a dry run. */
export async function tryImport(visit: CompanyVisit): Promise<Outcome | Answer> {
  // Checked also if the form is only shown again.
  requirePermission("subscribers.startImport", { role: visit.company.role });
  const state = await readImport(visit);
  const showAgain = (errors: Errors = {}) => showColumns(visit, state, { form: visit.form, errors });
  if (visit.form.do === "look") return showAgain();
  return orAgain(async () => {
    const settings = await settingsIn(visit, state);
    const { list = "", new_list = "" } = visit.form;
    if (list === NEW_LIST && new_list.trim() === "") throw invalid({ new_list: [t.nameNeeded] });
    const list_id = isUuid(list) ? { list_id: list } : {};
    await callIn(visit, "subscribers.startImport", { id: state.id, ...settings, ...list_id, dry_run: true });
    // The new list is created only when the import starts, so that a dry run leaves nothing behind.
    const search = list === NEW_LIST ? `?${new URLSearchParams({ new_list })}` : "";
    return { goTo: `${pathOf(visit, state.id)}${search}` };
  }, showAgain);
}

/** Starts the import with the settings of the dry run. */
export async function startImport(visit: CompanyVisit): Promise<Outcome | Answer> {
  requirePermission("subscribers.startImport", { role: visit.company.role });
  const state = await readImport(visit);
  const { id, mapping, charset, on_conflict, header, date_order } = state;
  const name = visit.form.new_list ?? "";
  return orAgain(
    async () => {
      if (!state.startable) throw wrongState(t.fileGone);
      const newList = name === "" ? undefined : await callIn(visit, "subscribers.createList", { name });
      const list_id = newList?.id ?? state.list_id;
      await callIn(visit, "subscribers.startImport", {
        id,
        mapping,
        on_conflict,
        header,
        ...(date_order === null ? {} : { date_order }),
        ...(charset === null ? {} : { charset }),
        ...(list_id === null ? {} : { list_id }),
        dry_run: false,
      });
      return { goTo: pathOf(visit, id) };
    },
    async (errors) => showState(visit, await readImport(visit), errors),
  );
}

export async function undoImport(visit: CompanyVisit): Promise<Answer> {
  const id = visit.params.id!;
  const undo = () => callIn(visit, "subscribers.undoImport", { id });
  while ((await undo()).remaining > 0);
  return { goTo: pathOf(visit, id), notice: "importUndone" };
}

export async function discardImport(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "subscribers.removeImport", { id: visit.params.id! });
  return { goTo: companyPath(visit, "import"), notice: "discarded" };
}

export async function refusedRows(visit: CompanyVisit): Promise<Answer> {
  const { id } = await readImport(visit);
  return download(visit, "subscribers.importErrors", { id }, "refused-rows.csv");
}
