/** What an import takes and answers. */
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

export const IMPORT_DESCRIPTION = `A CSV file with a header row, separated by comma, semicolon, tab or bar (a first line \`sep=;\` is skipped). The columns email, first_name, last_name, name (both in one) and status are found by these names and by those that Mailchimp, Brevo, listmonk, Sendy, Keila and Excel write; \`attributes\` or \`data\` in JSON is unpacked, any other column becomes an attribute: a boolean, a number or a date (\`YYYY-MM-DD\`) where more than half of its filled cells are, else text. \`mapping\` says otherwise. Existing subscribers are updated with what is not blank.

\`status\` counts in the careful direction only: unsubscribed, bounced and complained (also cleaned, blocklisted, disabled, unreachable … and columns such as \`UNSUB_TIME\`) become that status and a suppression, unconfirmed is the status of those who are new, and nobody's is lifted. A row with another word is reported.

Rows that cannot be used are skipped and reported (row is the line, the header is line 1; the first 100, all of them at \`errors_url\` for 24 hours). Of an address that comes twice the last row counts, once as created, then as updated, and the most careful status. A file whose bytes are not in its charset is refused, and over the plan's subscriber limit nothing is imported.`;

export const Charset = Type.Optional(
  Type.String({
    maxLength: 100,
    description: "Default utf-8; a byte order mark wins. Any label of the Encoding Standard, such as windows-1252.",
    examples: ["windows-1252"],
  }),
);

const OnConflict = Type.Unsafe<"update" | "skip">({
  ...OneOf("update", "skip"),
  description:
    "`skip`: known subscribers stay as they are, also on their lists, and count as skipped; a more careful status holds all the same, and counts as updated.",
});

const DateOrderField = Type.Unsafe<"dmy" | "mdy">({
  ...OneOf("dmy", "mdy"),
  description:
    "How days such as 03/04/2000 are read. Without it a column decides by its own cells (31/12 can only be one); else they stay text.",
});

const HasHeader = Type.Boolean({
  ...Bool,
  description:
    'False: the first line is a person, and `mapping` names columns by their numbers, `{"1": "email"}`; those that it does not name are left out. Default true.',
});

/** The fields of the form, besides the file. */
export const IMPORT_FIELDS = {
  list_id: Type.Optional(Type.String({ ...Uuid, description: "All of them are added to this list." })),
  mapping: Type.Optional(
    Type.String({
      maxLength: 64 * 1024,
      description:
        'JSON: column → email, first_name, last_name, name, status, attributes, or the name of an attribute; null leaves it out. `{"Ort": "city"}`',
      examples: ['{"Ort": "city"}'],
    }),
  ),
  charset: Charset,
  dry_run: Type.Optional(Type.Boolean({ ...Bool, description: "Counts and reports (200), and writes nothing." })),
  background: Type.Optional(
    Type.Boolean({
      description:
        "Answers (202) once the file is here, and goes on: `GET /api/emails/imports/{id}/` says how far it is.",
    }),
  ),
  on_conflict: Type.Optional(OnConflict),
  date_order: Type.Optional(DateOrderField),
  header: Type.Optional(HasHeader),
};

const REPORT = {
  import_id: Described(Uuid, "Names the import, for `POST /api/emails/imports/{id}/undo/`."),
  total: Described(Type.Integer(), "Rows of the file.", 1200),
  created: Described(Type.Integer(), "Number created.", 1000),
  updated: Described(Type.Integer(), "Number changed.", 150),
  skipped: Described(Type.Integer(), "Rows that were left out.", 50),
  errors: Described(
    Type.Array(
      Type.Object({
        row: Described(Type.Integer(), "Line of the file, or place in the array from 1.", 17),
        email: Described(Type.String(), "The address as it was given.", "ann@"),
        error: Described(Type.String(), "Error message.", "Enter a valid email address."),
      }),
    ),
    "The first 100 errors.",
  ),
  errors_count: Described(Type.Integer(), "Number of errors.", 3),
  errors_url: Nullable(
    Type.String({
      format: "uri",
      description: "All errors as CSV, for 24 hours; null without any.",
      examples: ["https://mail.lantern.example/api/emails/imports/0199f0a2/errors/"],
    }),
  ),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "The attribute.", examples: ["birthday"] }),
      type: Type.Unsafe<CellType>({
        ...OneOf("boolean", "number", "date"),
        description: "What more than half of the filled cells are. Columns of text are not listed.",
      }),
      read: Type.Integer({ description: "Cells that are stored as this type.", examples: [1180] }),
      unread: Type.Integer({ description: "Cells that stay text.", examples: [20] }),
      date_order: Type.Optional(
        Type.Unsafe<DateOrder | null>({
          type: ["string", "null"],
          enum: ["dmy", "mdy", null],
          description:
            "Where cells such as 03/04/2000 occur: the order in which they were read; null if nothing decided it and they stay text (give `date_order`).",
        }),
      ),
    }),
    { description: "Attribute columns that are not text." },
  ),
  decoded_cells: Type.Integer({
    description: "Cells in which HTML entities such as `&amp;` were decoded.",
    examples: [0],
  }),
};

export const ImportReport = Type.Object(REPORT);

export const ImportStarted = Type.Object({ import_id: Described(Uuid, "Id of the import; poll it for progress.") });

/** What the action returns: one of them by the form's `background`; `returnsBy` documents it. */
export const ImportAnswer = Type.Unsafe<Static<typeof ImportReport> | Static<typeof ImportStarted>>(ImportReport);

const Mapping = Type.Unsafe<Record<string, string | null>>({
  type: "object",
  additionalProperties: { type: ["string", "null"], maxLength: MAX_TEXT },
  maxProperties: 2_000,
  examples: [{ Ort: "city", Notes: null }],
});

export const ImportState = Type.Object({
  id: Id,
  status: Described(OneOf(...IMPORT_STATUSES), "State."),
  bytes: Type.Integer({ description: "Of the file.", examples: [1048576] }),
  bytes_read: Described(Type.Integer(), "How much of it is read.", 524288),
  ...REPORT,
  error: Nullable(
    Type.String({ description: "Why it failed; nothing was imported.", examples: ["550 5.1.1 User unknown"] }),
  ),
  filename: Type.String({ description: "As the upload called the file.", examples: ["contacts.csv"] }),
  list_id: Described(Nullable(Uuid), "The list that it goes to."),
  mapping: Type.Unsafe<Record<string, string | null>>({ ...Mapping, description: "As it was asked for." }),
  charset: Described(Nullable(Type.String()), "How the file's characters are written.", "windows-1252"),
  on_conflict: Type.Unsafe<"update" | "skip">({
    ...OneOf("update", "skip"),
    description: "What becomes of known subscribers.",
  }),
  date_order: Nullable(DateOrderField),
  header: HasHeader,
  dry_run: Type.Boolean({ description: "It counts and reports, and writes nothing." }),
  startable: Type.Boolean({
    description: "Its file is kept: it can be started, also after a dry run or a failure.",
    examples: [true],
  }),
  created_at: CreatedAt,
  kept_until: Type.String({ format: "date-time", description: "Then it is gone, with its file and its errors." }),
});

/** What a column becomes: a field, an attribute, a status where it says so, nothing. */
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
    description: "That the file was read in: the one asked for, else the one that its bytes look like.",
    examples: ["utf-8"],
  }),
  header: Type.Boolean({
    description: "Whether the first line names the columns. False: they are named by their numbers.",
    examples: [true],
  }),
  delimiter: Nullable(Type.String({ description: "What separates its cells.", examples: [";"] })),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "In the header.", examples: ["Ort"] }),
      values: Type.Array(Type.String(), { description: "In the first rows.", examples: [["Berlin", "Bonn"]] }),
      as: Type.Unsafe<ColumnMeaning>({
        ...OneOf(...COLUMN_MEANINGS),
        description: "What it is read as. `unsubscribed`, `bounced`, `complained`: whoever has a value there is.",
      }),
      attribute: Nullable(Type.String({ description: "The attribute's name.", examples: ["city"] })),
    }),
    { description: "In the file's order." },
  ),
  problem: Nullable(
    Type.String({
      description: "Why it cannot be imported like this.",
      examples: ['The header has no column "email". It has: "Kontakt", "Ort".'],
    }),
  ),
});

/** Imports by their id. */
export const imports = {
  uploadImport: {
    summary: "Upload a file to import later",
    unknownFields: "all",
    description:
      "The CSV file waits: `columns/` says what it holds, `start/` tries it (`dry_run`) and imports it. It is kept for 24 hours after it was uploaded or last started, or until it is imported. Of a company five files wait at most; a sixth takes the place of the one that has waited longest.",
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
    }),
    returns: ImportState,
  },
  listImports: {
    summary: "List background imports",
    description: "Of the last 24 hours, with those that wait for their start. Sortable: created_at.",
    params: ListQuery,
    returns: Page(ImportState),
  },
  getImport: {
    summary: "Get a background import",
    description:
      "For 24 hours. `running` until its rows are there, then `done` with the answer that an import in the foreground gets, or `failed` with `error` and nothing imported. A file that was uploaded to be imported later is `waiting` until it is started.",
    params: ById,
    returns: ImportState,
  },
  importColumns: {
    summary: "Look into a file that waits for its import",
    description:
      "Its columns (the first 500) with the first values of each, and what they would be read as: by their names, and by `mapping` where that is given (JSON, as in the import's form).",
    params: Type.Object({
      id: Id,
      charset: Charset,
      mapping: Type.Optional(
        Described(Type.String({ maxLength: 64 * 1024 }), "Which column is what.", '{"Ort": "city"}'),
      ),
      header: Type.Optional(
        Type.Boolean({
          description: "Whether the first line names the columns; unset: false where it has an address.",
        }),
      ),
    }),
    returns: FileColumns,
  },
  startImport: {
    summary: "Import a file that waits",
    description:
      "Goes on in the background (202). With `dry_run` the file is kept, and can be started again; so it is after a failure. One that is running, or whose file is gone, is a 400.",
    unknownFields: "all",
    params: Type.Object({
      id: Id,
      list_id: IMPORT_FIELDS.list_id,
      mapping: Type.Optional(
        Type.Unsafe<Record<string, string | null>>({
          ...Mapping,
          description:
            "Column → email, first_name, last_name, name, status, attributes, or the name of an attribute; null leaves it out.",
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
    summary: "Delete a background import",
    description: "With its file and its errors. What it has imported stays. One that is running is a 400.",
    params: ById,
    returns: Nothing,
  },
  undoImport: {
    summary: "Undo an import",
    description:
      "For 7 days: deletes the people whom the import created and who were not edited, got no mail, and are on no other list. Known people whom it changed stay as they are now.",
    params: ById,
    returns: Type.Object({
      deleted: Type.Integer({ description: "People who were deleted.", examples: [1190] }),
      kept: Type.Integer({ description: "People of the import who stay.", examples: [10] }),
      remaining: Type.Integer({
        description: "People who can still be deleted: a very large import takes several requests.",
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
