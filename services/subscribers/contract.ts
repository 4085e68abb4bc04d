import type { SuppressionKind } from "../../models/suppression.ts";
import type { ServiceContract } from "../define.ts";
import {
  ById,
  Described,
  DownloadPage,
  Email,
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

/** One line: it stands in the List-Id of mails to the list. */
const ListName = Type.String({ ...Name, format: "line" });

const ListSettings = {
  description: Type.Optional(
    Described(
      Description,
      "For those who work with it; recipients do not see it.",
      "Everyone who asked for the newsletter",
    ),
  ),
  visibility: Type.Optional(Described(Visibility, "`public` lists are shown to subscribers on the preferences page.")),
  public_name: Type.Optional(
    Type.String({
      ...Line(255),
      description: "What subscribers see of a public list; empty: its name.",
      examples: ["Our monthly letter"],
    }),
  ),
  public_description: Type.Optional(
    Described(Description, "What subscribers read about a public list.", "Once a month, what is new"),
  ),
  archive: Type.Optional(Archive),
  double_opt_in: Type.Optional(DoubleOptIn),
};

const lists = {
  listLists: {
    summary: "List subscriber lists",
    description: "Search looks into name and description. Sortable: created_at, name.",
    params: ListQuery,
    returns: Page(List),
  },
  createList: {
    summary: "Create a subscriber list",
    description: "`double_opt_in: true` needs an SMTP configuration to mail the confirmations through.",
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
    description: "Its subscribers stay.",
    params: ById,
    returns: Nothing,
  },
  listMembers: {
    summary: "List the subscribers of a list",
    description: `Search looks into email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({ id: Id, status: Type.Optional(Described(Status, "Only those in this state.")) }),
    ]),
    returns: SubscriberPage,
  },
} as const satisfies ServiceContract;

const NullableText = Type.Optional(Nullable(Type.String()));
const BlockItem = Type.Object({
  email: Described(NullableText, "An email address.", "ann@example.com"),
  domain: Described(NullableText, "A domain.", "example.org"),
  reason: Described(NullableText, "Reason.", "Asked us to stop"),
  kind: Described(NullableText, "Why it gets no mail; the stronger kind stays.", "unsubscribed"),
});

const suppressions = {
  listSuppressions: {
    summary: "List suppressions",
    description: `Search looks into email and domain. Sortable: created_at, email, domain.`,
    params: Type.Composite([ListQuery, Type.Object({ kind: Type.Optional(Described(Kind, "Only of this kind.")) })]),
    returns: Page(Suppression),
  },
  createSuppression: {
    summary: "Block an address or a domain",
    description:
      "Exactly one of email and domain; a domain covers its subdomains. The same one again returns the existing suppression, which a stronger kind replaces: one that was made by an unsubscribe becomes manual, bounced or complained, and then blocks transactional mail too. Of an address the subscriber's status follows the kind. The address of an erased person gets no mail already, and is refused: it would be stored again.",
    params: Type.Object({
      email: Type.Optional(Described(Nullable(Email), "The address that is to get no mail.")),
      domain: Type.Optional(
        Described(Nullable(Type.String({ maxLength: 253 })), "The domain that is to get no mail.", "example.org"),
      ),
      reason: Type.Optional(Described(Text(1_000), "Reason.", "Asked us to stop")),
      kind: Type.Optional(Type.Unsafe<SuppressionKind>({ ...Kind, description: "Default manual." })),
    }),
    returns: Suppression,
    exactlyOne: ["email", "domain"],
    example: { domain: "example.org", reason: "Asked us to stop" },
  },
  importSuppressions: {
    summary: "Block many addresses and domains",
    description:
      "As JSON, or as a CSV file with the columns email or domain (one of them in each row), reason and kind: what another product exports, and our own export, can be given as it is. What cannot be used is reported (row is the line of the file, or the item's index; the first 10,000). `existing` were blocked before, and become stronger where the given kind is; so are addresses of erased persons, of which nothing is stored. All of it stands, or none.",
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
      charset: Charset,
      items: Type.Optional(Described(Type.Array(BlockItem, { maxItems: 10_000 }), "Addresses and domains.")),
    }),
    returns: Type.Object({
      total: Described(Type.Integer(), "Rows of the file.", 1200),
      created: Described(Type.Integer(), "Number created.", 1000),
      existing: Described(Type.Integer(), "How many were there before.", 7),
      errors: Described(
        Type.Array(
          Type.Object({
            row: Described(Type.Integer(), "Line of the file, or place in the array from 1.", 17),
            email: Described(Type.String(), "The address as it was given.", "ann@"),
            domain: Described(Type.String(), "The domain as it was given.", "example"),
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
      "Sending to the address is possible again: a subscriber who had unsubscribed, bounced or complained becomes active.",
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
