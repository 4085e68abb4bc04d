import type { SuppressionKind } from "../../models/suppression.ts";
import type { ServiceContract } from "../define.ts";
import {
  ById,
  Described,
  DownloadPage,
  Email,
  Filter,
  Id,
  Line,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  Page,
  Text,
  Type,
} from "../lib/shapes.ts";
import { Charset, imports } from "./contract-import.ts";
import { segments } from "./contract-segments.ts";
import {
  Archive,
  Description,
  DoubleOptIn,
  Kind,
  List,
  Status,
  SubscriberPage,
  Suppression,
  Visibility,
} from "./contract-shapes.ts";
import { subscribers } from "./contract-subscribers.ts";

/** A single line, because List-Id contains the name. */
const ListName = Type.String({ ...Name, format: "line" });

const ListSettings = {
  description: Type.Optional(
    Described(Description, "Internal description; recipients do not see it.", "Everyone who asked for the newsletter"),
  ),
  visibility: Type.Optional(Described(Visibility, "`public` lists appear on subscribers' preferences page.")),
  public_name: Type.Optional(
    Type.String({
      ...Line(255),
      description: "Name shown to subscribers of a public list; empty: the list's name.",
      examples: ["Our monthly letter"],
    }),
  ),
  public_description: Type.Optional(
    Described(Description, "Description shown to subscribers of a public list.", "Once a month, what is new"),
  ),
  archive: Type.Optional(Archive),
  double_opt_in: Type.Optional(DoubleOptIn),
};

const lists = {
  listLists: {
    summary: "List subscriber lists",
    description: "Searches name and description. Sortable: created_at, name.",
    params: ListQuery,
    returns: Page(List),
  },
  createList: {
    summary: "Create a subscriber list",
    description: "`double_opt_in: true` requires an SMTP configuration for confirmation mails.",
    params: Type.Object({ name: Described(ListName, "Name.", "Readers"), ...ListSettings }),
    returns: List,
    example: { name: "Newsletter", description: "Everyone who asked for it" },
  },
  getList: { summary: "Get a subscriber list", params: ById, returns: List },
  updateList: {
    summary: "Update a subscriber list",
    params: Type.Object({
      id: Id,
      name: Type.Optional(Described(ListName, "Name.", "Readers")),
      ...ListSettings,
    }),
    returns: List,
    example: { name: "Monthly newsletter" },
  },
  removeList: {
    summary: "Delete a subscriber list",
    description: "The subscribers themselves stay.",
    params: ById,
    returns: Nothing,
  },
  listMembers: {
    summary: "List the subscribers of a list",
    description: `Searches email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({ id: Id, status: Filter(Status, "Only entries with this status.") }),
    ]),
    returns: SubscriberPage,
  },
} as const satisfies ServiceContract;

const NullableText = Type.Optional(Nullable(Type.String()));
const BlockItem = Type.Object({
  email: Described(NullableText, "An email address.", "ann@example.com"),
  domain: Described(NullableText, "A domain.", "example.org"),
  reason: Described(NullableText, "Reason.", "Asked us to stop"),
  kind: Described(NullableText, "Reason for the suppression; the stronger kind wins.", "unsubscribed"),
});

const suppressions = {
  listSuppressions: {
    summary: "List suppressions",
    description: `Searches email and domain. Sortable: created_at, email, domain.`,
    params: Type.Composite([ListQuery, Type.Object({ kind: Filter(Kind, "Only suppressions of this kind.") })]),
    returns: Page(Suppression),
  },
  createSuppression: {
    summary: "Suppress an address or domain",
    description:
      "Requires exactly one of email and domain; a domain covers its subdomains. If it exists, the existing suppression is returned, with the stronger kind: manual, bounced and complained replace unsubscribed and also block transactional mail. A subscriber's status follows the kind. Addresses of erased people already get no mail and are refused, because they would be stored again.",
    params: Type.Object({
      email: Type.Optional(Described(Nullable(Email), "Address to suppress.")),
      domain: Type.Optional(Described(Nullable(Type.String({ maxLength: 253 })), "Domain to suppress.", "example.org")),
      reason: Type.Optional(Described(Text(1_000), "Reason.", "Asked us to stop")),
      kind: Type.Optional(Type.Unsafe<SuppressionKind>({ ...Kind, description: "Default: manual." })),
    }),
    returns: Suppression,
    exactlyOne: [["email", "domain"]],
    example: { domain: "example.org", reason: "Asked us to stop" },
  },
  importSuppressions: {
    summary: "Suppress many addresses and domains",
    description:
      "JSON, or a CSV file with the columns email or domain (one per row), reason and kind; exports of other products and our own can be uploaded unchanged. Invalid entries are reported (row is the line of the file or the item's index; the first 10,000). `existing` counts entries that were already suppressed, whose kind becomes the stronger one, and erased people, of whom nothing is stored. All valid entries are saved, or none.",
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
      charset: Charset,
      items: Type.Optional(Described(Type.Array(BlockItem, { maxItems: 10_000 }), "Entries to suppress.")),
    }),
    returns: Type.Object({
      total: Described(Type.Integer(), "Number of rows.", 1200),
      created: Described(Type.Integer(), "Number created.", 1000),
      existing: Described(Type.Integer(), "Number of entries that were already suppressed.", 7),
      errors: Described(
        Type.Array(
          Type.Object({
            row: Described(Type.Integer(), "Line of the file, or position in the array from 1.", 17),
            email: Described(Type.String(), "Address as given.", "ann@"),
            domain: Described(Type.String(), "Domain as given in the request.", "example"),
            error: Described(Type.String(), "Error message.", "Enter a valid email address."),
          }),
        ),
        "The first 100 errors.",
      ),
    }),
    example: { items: [{ email: "ada@example.com", kind: "unsubscribed" }, { domain: "example.org" }] },
  },
  exportSuppressions: {
    summary: "Download all suppressions as CSV",
    description: "Columns: email, domain, kind, reason, created_at.",
    params: Type.Object({}),
    returns: DownloadPage,
  },
  getSuppression: { summary: "Get a suppression", params: ById, returns: Suppression },
  removeSuppression: {
    summary: "Delete a suppression",
    description:
      "Allows mail to the address again: a subscriber who unsubscribed, bounced or complained becomes active.",
    params: ById,
    returns: Nothing,
  },
} as const satisfies ServiceContract;

export const contract = {
  ...subscribers,
  ...imports,
  ...lists,
  ...suppressions,
  ...segments,
} as const satisfies ServiceContract;
