/** Subscribers one by one, in bulk, and by their own doing (public subscribe). */
import type { ErasedKind } from "../../models/statements/erase-steps.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  Described,
  Document,
  DownloadPage,
  Email,
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
  lists: Described(Type.Integer(), "Memberships of lists.", 2),
  subscribers: Described(Type.Integer(), "Rows of the subscriber.", 1),
  sent_emails: Described(Type.Integer(), "Mails that no longer name the person.", 12),
  copies: Described(Type.Integer(), "Copies (cc, bcc) that no longer name the person.", 0),
  events: Described(Type.Integer(), "Events that no longer name the person.", 40),
  inbound: Described(Type.Integer(), "Bounces, complaints and the messages they came in.", 0),
  receivers: Described(Type.Integer(), "Receivers of sends that wait.", 0),
  suppressions: Described(Type.Integer(), "Suppressions, kept as a hash.", 1),
  webhook_deliveries: Described(Type.Integer(), "Deliveries that no longer name the person.", 3),
  idempotency_keys: Described(Type.Integer(), "Answers kept for repeated requests.", 0),
  invitations: Described(Type.Integer(), "Invitations.", 0),
  audit_log: Described(Type.Integer(), "Entries of the audit log that no longer name the person.", 1),
  quotations: Described(Type.Integer(), "Texts of servers that quoted the address.", 2),
} satisfies Record<ErasedKind, TSchema>;

const lists = Type.Optional(
  Type.Array(Uuid, {
    maxItems: 100,
    description: "Lists that the subscriber is added to.",
    examples: [["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]],
  }),
);

/** What one transaction takes without holding its locks for long; more come in several requests. */
const MAX_IDS = 10_000;
const subscriber_ids = Type.Array(Uuid, { minItems: 1, maxItems: MAX_IDS });
const listIds = Type.Optional(Type.Array(Uuid, { maxItems: 100 }));

const None = Type.Object({});
const Done = Type.Object({ done: Type.Integer() });

export const subscribers = {
  list: {
    summary: "List subscribers",
    description: `Search looks into email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Type.Optional(Described(Status, "Only those in this state.")),
        list: Type.Optional(Described(Uuid, "Only those on this list.")),
      }),
    ]),
    returns: SubscriberPage,
  },
  listsOf: {
    summary: "The lists of a subscriber, with their dates",
    description:
      "The newest first. Besides those that the subscriber is on: those left on the preferences page, and those that were asked for by the public form and wait for the confirmation.",
    params: ById,
    returns: Type.Array(
      Type.Object({
        id: Id,
        name: Described(Type.String(), "Name.", "Readers"),
        state: Type.Unsafe<"on" | "left" | "waiting">({
          ...OneOf("on", "left", "waiting"),
          description: "`waiting`: asked for, and not confirmed yet.",
        }),
        joined_at: Nullable(Type.String({ format: "date-time", description: "Null while it waits." })),
        left_at: Nullable(
          Type.String({ format: "date-time", description: "When it was left on the preferences page." }),
        ),
        asked_at: Nullable(
          Type.String({
            format: "date-time",
            description: "When the public form asked for what is not confirmed yet.",
          }),
        ),
      }),
    ),
  },
  create: {
    summary: "Create a subscriber",
    description:
      "An address that exists already (without regard to case) is fine: the existing subscriber is returned; names that are given and not blank are set, attributes merged, lists added. Its status stays.",
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
    description: "Attributes are merged, and one that is null goes; lists are added. Email and status are read-only.",
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
    description: "Permanent. Mails that were sent stay, without their link to the subscriber.",
    params: ById,
    returns: Nothing,
  },
  erase: {
    summary: "Erase a person",
    description:
      "Everything that is kept about the address goes from this company: the subscriber, mails' recipients and variables, events, copies, webhook deliveries, suppressions. Campaigns' counters stay, and so do mails as rows without a recipient. The address is kept as a keyed hash alone: it gets no mail, and making it a subscriber again is refused, until the person subscribes by the public form and confirms. `erased` counts rows (`quotations`: others' rows that had the address in them). What takes longer goes on in the background (`complete` is false), and half an hour later everything is looked through once more. An unknown address: zeros.",
    params: Type.Object({ email: Described(Email, "An email address.") }),
    returns: Type.Object({
      erased: Described(Type.Object(Erased), "What is gone, by kind."),
      complete: Described(Bool, "False: the rest goes in the background."),
    }),
    example: { email: "ada@example.com" },
  },
  exportPerson: {
    summary: "Everything kept about a person",
    description:
      "For a person who asks what is known. Of each kind the newest 10,000 rows; `truncated` names the kinds that have more.",
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
      "Columns: email, first_name, last_name, status, created_at, lists (their names), then every attribute in use. Cells that a spreadsheet would run as a formula begin with an apostrophe. An import takes the file back with everybody's status.",
    params: Type.Object({
      list: Type.Optional(Described(Uuid, "Only those on this list.")),
      status: Type.Optional(Described(Status, "Only those in this state.")),
      segment: Type.Optional(Described(Uuid, "Only those whom this segment holds now.")),
      bom: Type.Optional(Type.Boolean({ description: "Begins with a byte order mark, as Excel wants it." })),
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
    description: "All or none: an id that does not exist is an error, and nothing is deleted.",
    params: Type.Object({
      subscriber_ids: Described(subscriber_ids, "Subscribers.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
    }),
    returns: Type.Object({ deleted: Described(Type.Integer(), "How many were deleted.", 2) }),
    example: { subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"] },
  },
  bulkUpdateLists: {
    summary: "Add subscribers to lists and remove them from lists",
    description:
      "All or nothing. `added` and `removed` count memberships that changed, `updated` the subscribers that they belong to.",
    params: Type.Object({
      subscriber_ids: Described(subscriber_ids, "Subscribers.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
      add_to_lists: Described(listIds, "Lists that they join.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
      remove_from_lists: Described(listIds, "Lists that they leave.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c"]),
    }),
    returns: Type.Object({
      updated: Described(Type.Integer(), "Number changed.", 150),
      added: Described(Type.Integer(), "Memberships that are new.", 2),
      removed: Described(Type.Integer(), "Memberships that ended.", 1),
    }),
    example: {
      subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"],
      add_to_lists: ["0195f7a0-0000-7000-8000-0000000000aa"],
    },
  },

  subscribe: {
    summary: "Subscribe (public)",
    description:
      "The answer is the same, after the same time, whether the address is known or not. With double opt-in (the list's own, else the company's) a new subscriber is unconfirmed until the link in a mail is followed, and an active one is not on the list before; one link confirms all lists that were asked for. Whoever unsubscribed stays so until then, with or without double opt-in; a bounce or a complaint is never lifted. A mailbox gets one such mail in 24 hours. The company's `form_attributes` are fields, too. Names and attributes that are given for a known address change nothing until the link in a mail to it is followed; then they fill in what is blank. A browser's form gets a page, or is led to `redirect_url`.",
    params: Type.Object({
      company_id: Described(Uuid, "The company's id."),
      email: Described(Email, "An email address."),
      first_name: Type.Optional(Described(PersonName, "First name.", "Ann")),
      last_name: Type.Optional(Described(PersonName, "Last name.", "Lee")),
      list_id: Type.Optional(Described(Uuid, "The list that is joined.")),
      redirect_url: Type.Optional(
        Type.String({
          maxLength: 2_048,
          description: "Where a form leads afterwards (303): http or https, on a host of the company's `form_hosts`.",
          examples: ["https://lantern.example/thanks"],
        }),
      ),
      website: Type.Optional(
        Type.Unknown({
          description: "Hidden in the form. Filled in, the answer is the same and nothing happens.",
          examples: [""],
        }),
      ),
      [TRAP_FIELD]: Type.Optional(
        Type.Unknown({
          description: "As `website`, under a name that password managers leave alone.",
          examples: [""],
        }),
      ),
    }),
    returns: Document,
    json: Type.Object({ detail: Described(Type.String(), "The same for everybody.", "Thank you.") }),
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
