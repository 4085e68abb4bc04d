/** Parameters and results of imports. */
import { IMPORT_STATUSES } from "../../models/import.ts";
import type { ServiceContract } from "../define.ts";
import { MAX_TEXT } from "../lib/attributes.ts";
import {
  Bool,
  ById,
  CreatedAt,
  Described,
  DownloadPage,
  Id,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  Page,
  type Static,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import type { CellType, DateOrder } from "./import/cell-types.ts";

export const IMPORT_DESCRIPTION = `A CSV file with a header row, separated by comma, semicolon, tab or bar (a first line \`sep=;\` is skipped). The columns email, first_name, last_name, name (full name) and status are recognized under these names and those written by Mailchimp, Brevo, listmonk, Sendy, Keila and Excel; JSON in \`attributes\` or \`data\` is unpacked. Any other column becomes an attribute: boolean, number or date (\`YYYY-MM-DD\`) if more than half of its filled cells are, otherwise text. A name in another case is the attribute that subscribers already have. \`mapping\` overrides this. Existing subscribers are updated with values that are not blank.

An import never resubscribes anyone. The statuses unsubscribed, bounced and complained (also cleaned, blocklisted, disabled, unreachable … and columns such as \`UNSUB_TIME\`) are applied and suppress the address; unconfirmed applies to new subscribers only. Rows with any other status are reported.

Invalid rows are skipped and reported (row is the line, the header is line 1; the first 100, all of them at \`errors_url\` for 24 hours). If an address occurs twice, the last row counts, once as created and then as updated, with the strictest status. A file that does not match its character set is refused, and nothing is imported if the plan's subscriber limit would be exceeded.`;

export const Charset = Type.Optional(
  Type.String({
    maxLength: 100,
    description:
      "Default utf-8; a byte order mark overrides it. Any label of the Encoding Standard, such as windows-1252.",
    examples: ["windows-1252"],
  }),
);

const OnConflict = Type.Unsafe<"update" | "skip">({
  ...OneOf("update", "skip"),
  description:
    "`skip`: existing subscribers and their lists do not change and count as skipped; a stricter status still applies and counts as updated.",
});

const DateOrderField = Type.Unsafe<"dmy" | "mdy">({
  ...OneOf("dmy", "mdy"),
  description:
    "Order of dates such as 03/04/2000. Without it each column's own cells decide (31/12 is unambiguous); otherwise they stay text.",
});

const HasHeader = Type.Boolean({
  ...Bool,
  description:
    'False: the first line is a person, and `mapping` names columns by number, `{"1": "email"}`; columns it omits are ignored. Default: true.',
});

/** Form fields besides the file. */
export const IMPORT_FIELDS = {
  list_id: Type.Optional(Type.String({ ...Uuid, description: "List to add all imported people to." })),
  mapping: Type.Optional(
    Type.String({
      maxLength: 64 * 1024,
      description:
        'JSON object: the target of each column (email, first_name, last_name, name, status, attributes, or the name of an attribute); null skips the column. `{"Ort": "city"}`',
      examples: ['{"Ort": "city"}'],
    }),
  ),
  charset: Charset,
  dry_run: Type.Optional(
    Type.Boolean({ ...Bool, description: "Check only: counts and reports (200) without importing." }),
  ),
  background: Type.Optional(
    Type.Boolean({
      description:
        "Answers 202 when the file is stored and imports in the background; poll `GET /api/emails/imports/{id}/` for progress.",
    }),
  ),
  on_conflict: Type.Optional(OnConflict),
  date_order: Type.Optional(DateOrderField),
  header: Type.Optional(HasHeader),
};

const REPORT = {
  import_id: Described(Uuid, "Id of the import, for `POST /api/emails/imports/{id}/undo/`."),
  total: Described(Type.Integer(), "Number of rows.", 1200),
  created: Described(Type.Integer(), "Number created.", 1000),
  updated: Described(Type.Integer(), "Number updated.", 150),
  skipped: Described(Type.Integer(), "Skipped rows.", 50),
  repeated: Described(
    Type.Integer(),
    "Extension. Rows with the address of an earlier row; `updated` or, with `on_conflict: skip`, `skipped` counts them too.",
    2,
  ),
  suppressed: Described(
    Type.Integer(),
    "Number of people in the file whose address or domain is suppressed; they get no mail.",
    4,
  ),
  errors: Described(
    Type.Array(
      Type.Object({
        row: Described(Type.Integer(), "Line of the file, or position in the array from 1.", 17),
        email: Described(Type.String(), "Address as given.", "ann@"),
        error: Described(Type.String(), "Error message.", "Enter a valid email address."),
      }),
    ),
    "The first 100 errors.",
  ),
  errors_count: Described(Type.Integer(), "Number of errors.", 3),
  errors_url: Nullable(
    Type.String({
      format: "uri",
      description: "URL of all errors as CSV, for 24 hours; null without errors.",
      examples: ["https://mail.lantern.example/api/emails/imports/0199f0a2/errors/"],
    }),
  ),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "The attribute.", examples: ["birthday"] }),
      type: Type.Unsafe<CellType>({
        ...OneOf("boolean", "number", "date"),
        description: "Type of more than half of the filled cells. Text columns are not listed.",
      }),
      read: Type.Integer({ description: "Cells stored with this type.", examples: [1180] }),
      unread: Type.Integer({ description: "Cells stored as text.", examples: [20] }),
      date_order: Type.Optional(
        Type.Unsafe<DateOrder | null>({
          type: ["string", "null"],
          enum: ["dmy", "mdy", null],
          description:
            "For cells such as 03/04/2000: the order in which they were read; null if it was unclear and they stay text (set `date_order`).",
        }),
      ),
    }),
    { description: "Attribute columns that were not read as text." },
  ),
  decoded_cells: Type.Integer({
    description: "Cells in which HTML entities such as `&amp;` were decoded.",
    examples: [0],
  }),
};

export const ImportReport = Type.Object(REPORT);

export const ImportStarted = Type.Object({ import_id: Described(Uuid, "Id of the import; poll it for progress.") });

/** Result of the action, depending on the form's `background`; `returnsBy` documents it. */
export const ImportAnswer = Type.Unsafe<Static<typeof ImportReport> | Static<typeof ImportStarted>>(ImportReport);

const Mapping = Type.Unsafe<Record<string, string | null>>({
  type: "object",
  additionalProperties: { type: ["string", "null"], maxLength: MAX_TEXT },
  maxProperties: 2_000,
  examples: [{ Ort: "city", Notes: null }],
});

export const ImportState = Type.Object({
  id: Id,
  status: Described(OneOf(...IMPORT_STATUSES), "Current state."),
  bytes: Type.Integer({ description: "Size of the file in bytes.", examples: [1048576] }),
  bytes_read: Described(Type.Integer(), "Bytes read so far.", 524288),
  ...REPORT,
  error: Nullable(
    Type.String({ description: "Reason for the failure; nothing was imported.", examples: ["550 5.1.1 User unknown"] }),
  ),
  filename: Type.String({ description: "File name of the upload.", examples: ["contacts.csv"] }),
  list_id: Described(Nullable(Uuid), "List that the people are added to."),
  mapping: Type.Unsafe<Record<string, string | null>>({ ...Mapping, description: "Column mapping, as requested." }),
  charset: Described(Nullable(Type.String()), "Character encoding of the file.", "windows-1252"),
  on_conflict: Type.Unsafe<"update" | "skip">({
    ...OneOf("update", "skip"),
    description: "Treatment of existing subscribers.",
  }),
  date_order: Nullable(DateOrderField),
  header: HasHeader,
  dry_run: Type.Boolean({ description: "True if it only checks the file." }),
  startable: Type.Boolean({
    description: "True while the file is kept and can be started, also after a dry run or a failure.",
    examples: [true],
  }),
  created_at: CreatedAt,
  kept_until: Type.String({
    format: "date-time",
    description: "Time when the import, its file and its errors are deleted.",
  }),
});

/** Meaning of a column: a field, an attribute, a status (if it names one), or nothing. */
const COLUMN_MEANINGS = [
  "email",
  "first_name",
  "last_name",
  "name",
  "status",
  "unsubscribed",
  "bounced",
  "complained",
  "attributes",
  "attribute",
  "ignored",
] as const;
export type ColumnMeaning = (typeof COLUMN_MEANINGS)[number] | "active" | "unconfirmed";

export const FileColumns = Type.Object({
  charset: Type.String({
    description: "Character encoding used: the one requested, or the one detected.",
    examples: ["utf-8"],
  }),
  header: Type.Boolean({
    description: "Whether the first line is a header. Without one, columns are identified by number.",
    examples: [true],
  }),
  delimiter: Nullable(Type.String({ description: "Delimiter between cells.", examples: [";"] })),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "Display name in the header.", examples: ["Ort"] }),
      values: Type.Array(Type.String(), { description: "Values in the first rows.", examples: [["Berlin", "Bonn"]] }),
      as: Type.Unsafe<ColumnMeaning>({
        ...OneOf(...COLUMN_MEANINGS),
        description:
          "Field that it is imported as. `unsubscribed`, `bounced`, `complained`: people with a value in this column get that status.",
      }),
      attribute: Nullable(Type.String({ description: "The attribute's name.", examples: ["city"] })),
    }),
    { description: "Columns in the order of the file." },
  ),
  problem: Nullable(
    Type.String({
      description: "Why it cannot be imported with this mapping.",
      examples: ['The header has no column "email". It has: "Kontakt", "Ort".'],
    }),
  ),
});

/** Actions on an import by id. */
export const imports = {
  uploadImport: {
    summary: "Upload a file to import later",
    unknownFields: "all",
    description:
      "Stores the CSV file: `columns/` shows its contents, `start/` checks (`dry_run`) and imports it. It is kept until it is imported, at most 24 hours after it was uploaded or last started. A company can have five waiting files; a sixth replaces the oldest.",
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
    }),
    returns: ImportState,
  },
  listImports: {
    summary: "List background imports",
    description: "Imports of the last 24 hours, including files that wait to be started. Sortable: created_at.",
    params: ListQuery,
    returns: Page(ImportState),
  },
  getImport: {
    summary: "Get an import",
    description:
      "Kept for 24 hours. A foreground import is `done`. A background import is `running` while rows are imported, then `done` with its result, or `failed` with `error` and nothing imported. An uploaded file is `waiting` until it is started.",
    params: ById,
    returns: ImportState,
  },
  importColumns: {
    summary: "Inspect an uploaded file",
    description:
      "Returns the columns (the first 500) with their first values and what each would be imported as: by name, and by `mapping` where given (JSON, as in the import form).",
    params: Type.Object({
      id: Id,
      charset: Charset,
      mapping: Type.Optional(
        Described(Type.String({ maxLength: 64 * 1024 }), "What each column is imported as.", '{"Ort": "city"}'),
      ),
      header: Type.Optional(
        Type.Boolean({
          description: "Whether the first line is a header. Default: true unless it contains an address.",
        }),
      ),
    }),
    returns: FileColumns,
  },
  startImport: {
    summary: "Import an uploaded file",
    description:
      "Imports in the background (202). After a `dry_run` or a failure the file is kept and can be started again. 400 while it is running or if its file is gone.",
    unknownFields: "all",
    params: Type.Object({
      id: Id,
      list_id: IMPORT_FIELDS.list_id,
      mapping: Type.Optional(
        Type.Unsafe<Record<string, string | null>>({
          ...Mapping,
          description:
            "For each column: email, first_name, last_name, name, status, attributes, or an attribute's name; null skips the column.",
        }),
      ),
      charset: Charset,
      dry_run: IMPORT_FIELDS.dry_run,
      on_conflict: Type.Optional(OnConflict),
      date_order: Type.Optional(DateOrderField),
      header: Type.Optional(HasHeader),
    }),
    returns: ImportState,
    example: { mapping: { Ort: "city", Notes: null }, dry_run: true },
  },
  removeImport: {
    summary: "Delete an import",
    description: "Deletes its file and errors; imported subscribers stay. 400 while it is running.",
    params: ById,
    returns: Nothing,
  },
  undoImport: {
    summary: "Undo an import",
    description:
      "Possible for 7 days. Deletes the people whom the import created, except those who were edited, got mail, or are on another list. People who existed before the import stay as they are.",
    params: ById,
    returns: Type.Object({
      deleted: Type.Integer({ description: "Number of people deleted.", examples: [1190] }),
      kept: Type.Integer({ description: "Number of people of the import who stay.", examples: [10] }),
      remaining: Type.Integer({
        description: "Number of people who can still be deleted; repeat the request for very large imports.",
        examples: [0],
      }),
    }),
  },
  importErrors: {
    summary: "Download the errors of an import as CSV",
    description: "Columns: row, email, error. Kept for 24 hours.",
    params: ById,
    returns: DownloadPage,
  },
} as const satisfies ServiceContract;
