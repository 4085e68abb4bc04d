/** What an import takes and answers. */
import { IMPORT_STATUSES } from "../../models/import.ts";
import { Bool, Nullable, OneOf, type Static, Time, Type, Uuid } from "../lib/shapes.ts";

export const IMPORT_DESCRIPTION = `A CSV file with a header row, separated by comma, semicolon, tab or bar (a first line \`sep=;\` is skipped). The columns email, first_name, last_name, name (both in one) and status are found by these names and by those that Mailchimp, Brevo, listmonk, Sendy, Keila and Excel write; \`attributes\` or \`data\` in JSON is unpacked, any other column becomes an attribute. \`mapping\` says otherwise. Existing subscribers are updated with what is not blank.

\`status\` counts in the careful direction only: unsubscribed, bounced and complained (also cleaned, blocklisted, disabled, unreachable … and columns such as \`UNSUB_TIME\`) become that status and a suppression, unconfirmed is the status of those who are new, and nobody's is lifted. A row with another word is reported.

Rows that cannot be used are skipped and reported (row is the line, the header is line 1; the first 100, all of them at \`errors_url\` for 24 hours). Of an address that comes twice the last row counts, once as created, then as updated, and the most careful status. A file whose bytes are not in its charset is refused, and over the plan's subscriber limit nothing is imported.`;

export const Charset = Type.Optional(
  Type.String({
    maxLength: 100,
    description: "Default utf-8; a byte order mark wins. Any label of the Encoding Standard, such as windows-1252.",
  }),
);

/** The fields of the form, besides the file. */
export const IMPORT_FIELDS = {
  list_id: Type.Optional(Type.String({ ...Uuid, description: "All of them are added to this list." })),
  mapping: Type.Optional(
    Type.String({
      maxLength: 64 * 1024,
      description:
        'JSON: column → email, first_name, last_name, name, status, attributes, or the name of an attribute; null leaves it out. `{"Ort": "city"}`',
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
  on_conflict: Type.Optional(
    Type.Unsafe<"update" | "skip">({
      ...OneOf("update", "skip"),
      description:
        "`skip`: known subscribers stay as they are, also on their lists, and count as skipped; a more careful status holds all the same, and counts as updated.",
    }),
  ),
};

const REPORT = {
  total: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  skipped: Type.Integer(),
  errors: Type.Array(Type.Object({ row: Type.Integer(), email: Type.String(), error: Type.String() })),
  errors_count: Type.Integer(),
  errors_url: Nullable(
    Type.String({ format: "uri", description: "All errors as CSV, for 24 hours; null without any." }),
  ),
};

export const ImportReport = Type.Object(REPORT);

export const ImportStarted = Type.Object({ import_id: Uuid });

/** What the action returns: one of them by the form's `background`; `returnsBy` documents it. */
export const ImportAnswer = Type.Unsafe<Static<typeof ImportReport> | Static<typeof ImportStarted>>(ImportReport);

export const ImportState = Type.Object({
  id: Uuid,
  status: OneOf(...IMPORT_STATUSES),
  bytes: Type.Integer({ description: "Of the file." }),
  bytes_read: Type.Integer(),
  ...REPORT,
  error: Nullable(Type.String({ description: "Why it failed; nothing was imported." })),
  created_at: Time,
});
