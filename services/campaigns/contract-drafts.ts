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
  Time,
  Type,
  UpdatedAt,
} from "../lib/shapes.ts";
import { PreviewResult } from "../renderer/contract-templates.ts";
import { Sent } from "./contract-sending.ts";

/** Keeps a list of a hundred drafts at a few megabytes. */
export const MAX_LISTED_BYTES = 100_000;
export const MAX_DRAFTS = 500;

const Body = Type.Record(Type.String(), Type.Unknown(), {
  description: "Request body of that send, stored as given. It may be incomplete: errors are reported when it is sent.",
  examples: [{ list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d", template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" }],
});
const Kind = Type.Unsafe<DraftKind>({
  type: "string",
  enum: [...DRAFT_KINDS],
  description: "Kind of send that the body is for: `POST /api/emails/send/{kind}/`.",
});

const view = {
  id: Id,
  name: Type.String({ description: "Name of the campaign, if the body has none.", examples: ["November newsletter"] }),
  kind: Kind,
  created_at: CreatedAt,
  updated_at: UpdatedAt,
};
const Draft = Type.Object({ ...view, body: Body });
const ListedDraft = Type.Object({
  ...view,
  body: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Null if it is larger than ${MAX_LISTED_BYTES} bytes; get the draft to read it.`,
      examples: [{ list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d" }],
    }),
  ),
});

const unchanged_since = Type.Optional(
  Type.String({
    ...Time,
    description:
      "Extension. The draft's `updated_at` as last read. If it was changed since, the answer is 409 and nothing happens.",
    examples: ["2026-11-22T10:00:00.000Z"],
  }),
);

const example = {
  name: "November newsletter",
  kind: "to-list",
  body: { list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d", template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" },
};

export const drafts = {
  listDrafts: {
    summary: "List drafts",
    description: "Searches the name. Sortable: created_at, name, updated_at.",
    params: ListQuery,
    returns: Page(ListedDraft),
  },
  createDraft: {
    summary: "Create a draft of a send",
    description: `A company can have ${MAX_DRAFTS} drafts. Without \`name\` the draft takes the name in the body, or "Draft".`,
    params: Type.Object({
      name: Type.Optional(Described(Name, "Name.", "Readers")),
      kind: Kind,
      body: Type.Optional(Body),
    }),
    returns: Draft,
    // Unknown fields of a draft are mistakes: its content is inside `body`.
    unknownFields: "all",
    example,
  },
  getDraft: { summary: "Get a draft", params: ById, returns: Draft },
  updateDraft: {
    summary: "Change a draft",
    description:
      "`body` replaces the whole body. With `unchanged_since`, changes made by others in the meantime are not overwritten.",
    params: Type.Object({
      ...ById.properties,
      name: Type.Optional(Described(Name, "Name.", "Readers")),
      kind: Type.Optional(Kind),
      body: Type.Optional(Body),
      unchanged_since,
    }),
    returns: Draft,
    example: { name: "December newsletter" },
  },
  checkDraft: {
    summary: "Check a draft without sending it",
    description:
      "Returns the errors that sending would return, by field; an empty `errors` means that it can be sent. Nothing is sent. Plan, monthly quota and hourly limit are checked only when it is sent.",
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
    summary: "Preview a draft as a recipient sees it",
    description:
      "Renders the mail with its footer; links are not tracked and built-in addresses do not work. Values come from the draft's receiver, then from the subscriber with the address `email`; without one sample values are shown. `variant` selects a variant of an A/B test (default: the first). 400 if the draft has no template, body or design.",
    params: Type.Object({
      ...ById.properties,
      email: Type.Optional(Described(Email, "An email address.")),
      variant: Type.Optional(Type.Integer({ minimum: 0, examples: [1], description: "Index, starting at 0." })),
    }),
    returns: PreviewResult,
    example: { email: "ann@example.com" },
  },
  removeDraft: { summary: "Delete a draft", params: ById, returns: Nothing },
  sendDraft: {
    summary: "Send a draft",
    description:
      "Answers like the send of its kind; without `name` the campaign takes the draft's name. Sending deletes the draft, and concurrent requests create one campaign: the others get 404, or 409 if the draft was changed in the meantime. With `unchanged_since`, either the content that you read is sent, or nothing. A refused send leaves the draft as it was. The same `Idempotency-Key` returns the first answer again, even after the draft is gone.",
    params: Type.Object({
      ...ById.properties,
      idempotency_key: Type.Optional(
        Type.String({ minLength: 1, maxLength: 256, description: "Set from the header Idempotency-Key." }),
      ),
      unchanged_since,
    }),
    returns: Sent,
  },
  duplicate: {
    summary: "Copy a campaign to a draft",
    description:
      "Copies everything that the request contained, including receivers with their variables and copies as far as they are still kept, without `scheduled_for`. If the template's text was replaced, or the template deleted, the copy has the content that is sent; the draft is `custom` then if the campaign went to receivers. The draft of a resend to non-openers has no list or segment.",
    params: ById,
    returns: Draft,
  },
} as const satisfies ServiceContract;
