/** Subscribers: single, bulk and public subscribe. */
import type { ErasedKind } from "../../models/statements/erase-steps.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  Described,
  Document,
  DownloadPage,
  Email,
  Filter,
  Id,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  type TSchema,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { TRAP_FIELD } from "../lib/trap-field.ts";
import { IMPORT_DESCRIPTION, IMPORT_FIELDS, ImportAnswer, ImportStarted } from "./contract-import.ts";
import {
  AttributeChanges,
  Attributes,
  PersonData,
  PersonName,
  Status,
  Subscriber,
  SubscriberPage,
} from "./contract-shapes.ts";

const Erased = {
  lists: Described(Type.Integer(), "List memberships.", 2),
  subscribers: Described(Type.Integer(), "Subscriber rows.", 1),
  sent_emails: Described(Type.Integer(), "Mails from which the person's data was removed.", 12),
  copies: Described(Type.Integer(), "Copies (cc, bcc) from which the person's data was removed.", 0),
  events: Described(Type.Integer(), "Events from which the person's data was removed.", 40),
  inbound: Described(Type.Integer(), "Bounces, complaints and their messages.", 0),
  receivers: Described(Type.Integer(), "Receivers of pending sends.", 0),
  suppressions: Described(Type.Integer(), "Suppressions of the address, now stored as a keyed hash.", 1),
  webhook_deliveries: Described(Type.Integer(), "Deliveries from which the person's data was removed.", 3),
  idempotency_keys: Described(Type.Integer(), "Stored answers for `Idempotency-Key`.", 0),
  invitations: Described(Type.Integer(), "Invitations.", 0),
  audit_log: Described(Type.Integer(), "Entries of the audit log from which the person's data was removed.", 1),
  quotations: Described(Type.Integer(), "Server replies that quoted the address.", 2),
} satisfies Record<ErasedKind, TSchema>;

const lists = Type.Optional(
  Type.Array(Uuid, {
    maxItems: 100,
    description: "Lists to add the subscriber to.",
    examples: [["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]],
  }),
);

/** Limit of one transaction, so that it does not hold its locks for long. */
const MAX_IDS = 10_000;
const subscriber_ids = Type.Array(Uuid, { minItems: 1, maxItems: MAX_IDS });

const Chosen = {
  subscriber_ids: Type.Optional(
    Described(subscriber_ids, "Subscribers, all or nothing.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
  ),
  filter: Type.Optional(
    Type.Object(
      {
        search: Type.Optional(
          Type.String({
            maxLength: 255,
            description: "Text in email or names, case-insensitive.",
            examples: ["lantern"],
          }),
        ),
        status: Filter(Status, "Only subscribers with this status."),
        list: Filter(Uuid, "Only subscribers of this list.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      },
      {
        additionalProperties: false,
        description:
          "Extension. In place of `subscriber_ids`: all subscribers that `GET /api/emails/subscribers/` lists with these parameters; `{}` is everybody. They are changed in slices, each in a transaction of its own.",
      },
    ),
  ),
};
const complete = Type.Optional(
  Type.Unsafe<false>({
    type: "boolean",
    description:
      "Extension. Present and false only if the time ran out with a `filter`: repeat the request to continue.",
  }),
);
const listIds = Type.Optional(Type.Array(Uuid, { maxItems: 100 }));

const None = Type.Object({});
const Done = Type.Object({ done: Type.Integer() });

export const subscribers = {
  list: {
    summary: "List subscribers",
    description: `Searches email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Filter(Status, "Only entries with this status."),
        list: Filter(Uuid, "Only subscribers of this list.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      }),
    ]),
    returns: SubscriberPage,
  },
  listsOf: {
    summary: "List the memberships of a subscriber",
    description:
      "Newest first. Includes lists left on the preferences page, and lists requested by the public form that wait for confirmation.",
    params: ById,
    returns: Type.Array(
      Type.Object({
        id: Id,
        name: Described(Type.String(), "Name.", "Readers"),
        state: Type.Unsafe<"on" | "left" | "waiting">({
          ...OneOf("on", "left", "waiting"),
          description: "`waiting`: requested, not confirmed yet.",
        }),
        joined_at: Nullable(Type.String({ format: "date-time", description: "Null while it waits for confirmation." })),
        left_at: Nullable(
          Type.String({ format: "date-time", description: "Time when it was left on the preferences page." }),
        ),
        asked_at: Nullable(
          Type.String({
            format: "date-time",
            description: "Time when the public form requested it, while it is not confirmed.",
          }),
        ),
      }),
    ),
  },
  create: {
    summary: "Create a subscriber",
    description:
      "Idempotent by address (case-insensitive): for an existing subscriber, non-blank names are updated, attributes merged and lists added. The status does not change.",
    params: Type.Object({
      email: Described(Email, "An email address."),
      first_name: Type.Optional(Described(PersonName, "First name.", "Ann")),
      last_name: Type.Optional(Described(PersonName, "Last name.", "Lee")),
      attributes: Type.Optional(Attributes),
      lists,
    }),
    returns: Subscriber,
    example: { email: "ada@example.com", first_name: "Ada", last_name: "Lovelace", attributes: { city: "London" } },
  },
  get: { summary: "Get a subscriber", params: ById, returns: Subscriber },
  update: {
    summary: "Update a subscriber",
    description: "Attributes are merged; null deletes one. Lists are added. Email and status are read-only.",
    params: Type.Object({
      id: Id,
      first_name: Type.Optional(Described(PersonName, "First name.", "Ann")),
      last_name: Type.Optional(Described(PersonName, "Last name.", "Lee")),
      attributes: Type.Optional(AttributeChanges),
      lists,
    }),
    returns: Subscriber,
    example: { first_name: "Augusta Ada", attributes: { city: "Marylebone" } },
  },
  remove: {
    summary: "Delete a subscriber",
    description: "Permanent. Sent mails stay, without their link to the subscriber.",
    params: ById,
    returns: Nothing,
  },
  erase: {
    summary: "Erase a person",
    description:
      "Removes everything that this company stores about the address: the subscriber, recipients and variables of mails, events, copies, webhook deliveries and suppressions. Campaign counters stay, and mails stay as rows without a recipient. Only a keyed hash of the address is kept: it gets no mail and cannot become a subscriber again until the person subscribes by the public form and confirms. `erased` counts rows (`quotations`: other rows that contained the address). Longer work continues in the background (`complete` is false), and everything is checked once more after half an hour. An unknown address returns zeros.",
    params: Type.Object({ email: Described(Email, "An email address.") }),
    returns: Type.Object({
      erased: Described(Type.Object(Erased), "Number of erased rows by kind."),
      complete: Described(Bool, "False: erasing continues in the background."),
    }),
    example: { email: "ada@example.com" },
  },
  exportPerson: {
    summary: "Export everything stored about a person",
    description:
      "Answers a person's request for access. Returns the newest 10,000 rows of each kind; `truncated` names the kinds that have more.",
    params: ById,
    returns: PersonData,
  },
  finishErasures: {
    summary: "Go on with erasures",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  export: {
    summary: "Download subscribers as CSV",
    description:
      "Columns: email, first_name, last_name, status, created_at, lists (names), then every attribute in use. Cells that a spreadsheet would run as a formula start with an apostrophe. The file can be imported again, with everybody's status.",
    params: Type.Object({
      search: Type.Optional(
        Type.String({
          maxLength: 255,
          description: "Text in email or names, case-insensitive.",
          examples: ["lantern"],
        }),
      ),
      list: Filter(Uuid, "Only subscribers of this list.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      status: Filter(Status, "Only entries with this status."),
      segment: Filter(Uuid, "Only subscribers in this segment.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      id: Filter(Uuid, "Extension. Only this subscriber.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b", 100),
      bom: Type.Optional(Type.Boolean({ description: "Starts with a byte order mark, for Excel." })),
    }),
    returns: DownloadPage,
  },

  import: {
    summary: "Import subscribers from a CSV file",
    unknownFields: "all",
    description: IMPORT_DESCRIPTION,
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
      ...IMPORT_FIELDS,
    }),
    returns: ImportAnswer,
    returnsBy: { background: ImportStarted },
  },
  bulkDelete: {
    summary: "Delete subscribers",
    description: "By id all or nothing: an unknown id is an error, and nobody is deleted. Or by `filter`.",
    params: Type.Object(Chosen),
    returns: Type.Object({ deleted: Described(Type.Integer(), "Number of subscribers deleted.", 2), complete }),
    example: { subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"] },
  },
  bulkSuppress: {
    summary: "Suppress subscribers",
    description:
      "Blocks all mail to their addresses (kind `manual`). An existing suppression keeps a stronger kind. By id all or nothing, or by `filter`.",
    params: Type.Object({
      ...Chosen,
      reason: Type.Optional(
        Type.String({ maxLength: 1_000, description: "Why they get no mail.", examples: ["Asked by phone"] }),
      ),
    }),
    returns: Type.Object({
      suppressed: Described(Type.Integer(), "Number of new suppressions.", 2),
      existing: Described(Type.Integer(), "Number of addresses that were suppressed before.", 1),
      complete,
    }),
    example: { subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"], reason: "Asked by phone" },
  },
  bulkUpdateLists: {
    summary: "Add subscribers to lists or remove them",
    description:
      "By id all or nothing, or by `filter`. `added` and `removed` count changed memberships, `updated` the subscribers concerned.",
    params: Type.Object({
      ...Chosen,
      add_to_lists: Described(listIds, "Lists to add the subscribers to.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
      remove_from_lists: Described(listIds, "Lists to remove the subscribers from.", [
        "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      ]),
    }),
    returns: Type.Object({
      updated: Described(Type.Integer(), "Number updated.", 150),
      added: Described(Type.Integer(), "Number of new memberships.", 2),
      removed: Described(Type.Integer(), "Number of ended memberships.", 1),
      complete,
    }),
    example: {
      subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"],
      add_to_lists: ["0195f7a0-0000-7000-8000-0000000000aa"],
    },
  },

  subscribe: {
    summary: "Subscribe (public)",
    description:
      "The answer and its timing are the same for known and unknown addresses. With double opt-in (the list's, else the company's) a new subscriber is unconfirmed until the link in a mail is followed, and an active one joins the list only then; one link confirms all requested lists. People who unsubscribed stay unsubscribed until they confirm, with or without double opt-in; a bounce or a complaint is never lifted. A mailbox gets at most one such mail in 24 hours. The company's `form_attributes` are accepted as fields. Names and attributes given for a known address change nothing until the link in a mail to it is followed; then they fill blank fields. A browser's form gets a page, or is redirected to `redirect_url`.",
    params: Type.Object({
      company_id: Described(Uuid, "The company's id."),
      email: Described(Email, "An email address."),
      first_name: Type.Optional(Described(PersonName, "First name.", "Ann")),
      last_name: Type.Optional(Described(PersonName, "Last name.", "Lee")),
      list_id: Type.Optional(Described(Uuid, "List to join.")),
      redirect_url: Type.Optional(
        Type.String({
          maxLength: 2_048,
          description: "Redirect after a form (303): http or https, on a host of the company's `form_hosts`.",
          examples: ["https://lantern.example/thanks"],
        }),
      ),
      website: Type.Optional(
        Type.Unknown({
          description:
            "Trap field, hidden in the form. If it is filled in, the answer is the same and nothing happens.",
          examples: [""],
        }),
      ),
      [TRAP_FIELD]: Type.Optional(
        Type.Unknown({
          description: "Trap field like `website`, under a name that password managers ignore.",
          examples: [""],
        }),
      ),
    }),
    returns: Document,
    json: Type.Object({
      detail: Described(Type.String(), "The answer is the same for known and unknown addresses.", "Thank you."),
    }),
    unknownFields: "read",
    example: { email: "ada@example.com", first_name: "Ada" },
  },
  droppedSignUps: {
    summary: "Sign-ups that the hidden field of a form dropped",
    visibility: "public",
    params: None,
    returns: Type.Object({ count: Type.Integer(), last_at: Nullable(Type.String()) }),
  },
  confirm: {
    summary: "Confirm a subscription from its mailbox",
    visibility: "public",
    description: "Unknown token: 404; expired, or unsubscribed since: 410. A second time changes nothing.",
    params: Type.Object({ token: Type.String() }),
    returns: Type.Object({ company_id: Uuid, subscriber_id: Uuid, email: Type.String() }),
  },
  runImports: {
    summary: "Carry out the imports that wait",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  purgeImports: {
    summary: "Delete imports and their errors of more than a day ago",
    visibility: "protected",
    params: None,
    returns: Nothing,
  },
} as const satisfies ServiceContract;
