import { DRAFT_KINDS, type DraftKind } from "../../models/draft.ts";
import type { ServiceContract } from "../define.ts";
import {
  ById,
  CreatedAt,
  Described,
  Email,
  Id,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  Page,
  Type,
  UpdatedAt,
} from "../lib/shapes.ts";
import { Shown } from "../renderer/contract-templates.ts";
import { Sent } from "./contract-sending.ts";

/** A list of a hundred drafts must not be a gigabyte. */
export const MAX_LISTED_BYTES = 100_000;
export const MAX_DRAFTS = 500;

const Body = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "The request of that send, kept as given. It may be incomplete: what is wrong with it is reported when it is sent.",
  examples: [{ list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d", template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" }],
});
const Kind = Type.Unsafe<DraftKind>({
  type: "string",
  enum: [...DRAFT_KINDS],
  description: "The send whose request the body is: `POST /api/emails/send/{kind}/`.",
});

const view = {
  id: Id,
  name: Type.String({ description: "The campaign's, where the body has none.", examples: ["November newsletter"] }),
  kind: Kind,
  created_at: CreatedAt,
  updated_at: UpdatedAt,
};
const Draft = Type.Object({ ...view, body: Body });
const ListedDraft = Type.Object({
  ...view,
  body: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Null where it has more than ${MAX_LISTED_BYTES} bytes; the draft by itself has it.`,
      examples: [{ list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d" }],
    }),
  ),
});

const example = {
  name: "November newsletter",
  kind: "to-list",
  body: { list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d", template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" },
};

export const drafts = {
  listDrafts: {
    summary: "List drafts",
    description: "Search looks into the name. Sortable: created_at, name, updated_at.",
    params: ListQuery,
    returns: Page(ListedDraft),
  },
  createDraft: {
    summary: "Create a draft of a send",
    description: `A company has at most ${MAX_DRAFTS} of them. Without \`name\` it is the name in the body, or "Draft".`,
    params: Type.Object({
      name: Type.Optional(Described(Name, "Name.", "Readers")),
      kind: Kind,
      body: Type.Optional(Body),
    }),
    returns: Draft,
    // Whatever stands in the body, a draft has few fields of its own, and a mistyped one is in it by mistake.
    unknownFields: "all",
    example,
  },
  getDraft: { summary: "Get a draft", params: ById, returns: Draft },
  updateDraft: {
    summary: "Change a draft",
    description: "`body` takes the place of the whole body.",
    params: Type.Object({
      ...ById.properties,
      name: Type.Optional(Described(Name, "Name.", "Readers")),
      kind: Type.Optional(Kind),
      body: Type.Optional(Body),
    }),
    returns: Draft,
    example: { name: "December newsletter" },
  },
  checkDraft: {
    summary: "What sending a draft now would be refused for",
    description:
      "The errors of the send of its kind, by field, and nothing is sent; none where `errors` is empty. The plan, the quota and the hourly limit are looked at by the send alone.",
    params: ById,
    returns: Type.Object({
      errors: Described(
        Type.Record(Type.String(), Type.Array(Type.String()), {
          examples: [{ smtp_config_id: ["This field is required."] }],
        }),
        "The first 100 errors.",
      ),
    }),
  },
  previewDraft: {
    summary: "What a draft would send to somebody",
    description:
      "As a recipient sees it, footer included; links are not tracked, and built-in addresses lead nowhere. Values are those that a receiver of the draft brings, then those of the subscriber with the address `email`; without one a sample is shown. Of an A/B test `variant` is shown, else the first. 400 where there is neither a template nor a body yet.",
    params: Type.Object({
      ...ById.properties,
      email: Type.Optional(Described(Email, "An email address.")),
      variant: Type.Optional(Type.Integer({ minimum: 0, examples: [1], description: "Its index, from 0." })),
    }),
    returns: Shown,
    example: { email: "ann@example.com" },
  },
  removeDraft: { summary: "Delete a draft", params: ById, returns: Nothing },
  sendDraft: {
    summary: "Send a draft",
    description:
      "Answers as the send of its kind does; a body without `name` takes the draft's. A draft that is sent is gone, and one campaign comes of it however many ask at the same time: the others get 404, or 409 where the draft was changed at that moment. A send that is refused leaves it as it was. The same `Idempotency-Key` gives the first answer again, also when the draft is gone.",
    params: Type.Object({
      ...ById.properties,
      idempotency_key: Type.Optional(
        Type.String({ minLength: 1, maxLength: 256, description: "Set from the header Idempotency-Key." }),
      ),
    }),
    returns: Sent,
  },
  duplicate: {
    summary: "Make a draft of a campaign",
    description:
      "With all that its request had, receivers with their variables and copies too, as far as they are still kept; without `scheduled_for`. The draft of a campaign to those who did not open another one has no list or segment.",
    params: ById,
    returns: Draft,
  },
} as const satisfies ServiceContract;
