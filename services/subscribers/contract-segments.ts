import { conditionSchema } from "../../models/segment-rules/condition-schema.ts";
import { MAX_CONDITIONS, type Rules } from "../../models/segment-rules/segment-sql.ts";
import type { ServiceContract } from "../define.ts";
import { ById, CreatedAt, Described, Id, ListQuery, Name, Nothing, Nullable, Page, Type } from "../lib/shapes.ts";
import { Description, Subscriber } from "./contract-shapes.ts";

/** Loose on purpose: models/segment-rules/segment-sql.ts reports errors by the condition's index. */
const RulesShape = Type.Unsafe<Rules>({
  type: "object",
  properties: {
    match: {
      type: "string",
      enum: ["all", "any"],
      default: "all",
      description: "Whether all conditions must hold, or any.",
    },
    conditions: {
      type: "array",
      shownAs: {
        type: "array",
        minItems: 1,
        maxItems: MAX_CONDITIONS,
        items: conditionSchema(),
        description: "What is asked of each subscriber: a field, how it is compared, and with what.",
        examples: [[{ field: "attributes.city", operator: "equals", value: "London" }]],
      },
    },
  },
  required: ["conditions"],
});

const Segment = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name.", "Londoners who read"),
  description: Described(
    Type.String(),
    "For those who work with it; recipients do not see it.",
    "Everyone who asked for the newsletter",
  ),
  rules: RulesShape,
  created_at: CreatedAt,
});
const NotDates = Type.Array(
  Type.Object({
    field: Described(Type.String(), "The attribute.", "attributes.birthday"),
    count: Described(
      Nullable(Type.Integer()),
      "Filled values that are no dates; null where counting took too long.",
      6,
    ),
  }),
  { description: "For each attribute that the rules compare with a date. Nobody with such a value fits." },
);
const SegmentWithCount = Type.Composite([
  Segment,
  Type.Object({
    subscriber_count: Described(
      Nullable(Type.Integer()),
      "Number of subscribers; null where nobody was counted.",
      1234,
    ),
    subscriber_count_is_estimate: Described(
      Type.Boolean(),
      "The number is an estimate from a part of the subscribers.",
    ),
    not_dates: NotDates,
  }),
]);

export const segments = {
  listSegments: {
    summary: "List segments",
    description: "Search looks into name and description. Sortable: created_at, name.",
    params: ListQuery,
    returns: Page(Segment),
  },
  createSegment: {
    summary: "Create a segment",
    description:
      "What each field can be asked is in the schema of a condition. Text is compared without regard to case. A list or campaign in a value must exist. Needs the plan's feature segments.",
    params: Type.Object({
      name: Described(Name, "Name.", "Readers"),
      description: Type.Optional(
        Described(
          Description,
          "For those who work with it; recipients do not see it.",
          "Everyone who asked for the newsletter",
        ),
      ),
      rules: RulesShape,
    }),
    returns: SegmentWithCount,
    example: {
      name: "Londoners who read",
      rules: {
        match: "all",
        conditions: [
          { field: "attributes.city", operator: "equals", value: "London" },
          { field: "last_opened_at", operator: "in_last_days", value: 30 },
        ],
      },
    },
  },
  previewSegment: {
    summary: "Count whom rules hold for, without saving them",
    description:
      "`subscriber_count` as of a segment with these rules, and up to five of them, the newest. Needs the plan's feature segments.",
    params: Type.Object({ rules: RulesShape }),
    returns: Type.Object({
      subscriber_count: Described(Type.Integer(), "Number of subscribers.", 1234),
      subscriber_count_is_estimate: Described(
        Type.Boolean(),
        "The number is an estimate from a part of the subscribers.",
      ),
      not_dates: NotDates,
      sample: Type.Array(Subscriber, { description: "Empty also where they could not be found in time." }),
    }),
    example: { rules: { conditions: [{ field: "attributes.city", operator: "equals", value: "London" }] } },
  },
  listAttributes: {
    summary: "List the names of attributes",
    description: "Those that the newest 2,000 subscribers have, in alphabetical order; at most 500.",
    params: Type.Object({}),
    returns: Type.Object({
      names: Type.Array(Type.String(), { description: "In alphabetical order.", examples: [["city", "plan"]] }),
    }),
  },
  getSegment: {
    summary: "Get a segment, with its size now",
    description:
      "`subscriber_count` is everyone the rules hold for. A send goes to the active ones among them; its `total_emails` says how many these are. Where counting takes seconds the number is an estimate from a part of the subscribers, and `subscriber_count_is_estimate` says so.",
    params: Type.Object({
      id: Id,
      count: Type.Optional(
        Type.Boolean({ description: "`false`: nobody is counted, and `subscriber_count` is null.", examples: [true] }),
      ),
    }),
    returns: SegmentWithCount,
  },
  updateSegment: {
    summary: "Update a segment",
    params: Type.Object({
      id: Id,
      name: Type.Optional(Described(Name, "Name.", "Readers")),
      description: Type.Optional(
        Described(
          Description,
          "For those who work with it; recipients do not see it.",
          "Everyone who asked for the newsletter",
        ),
      ),
      rules: Type.Optional(RulesShape),
    }),
    returns: SegmentWithCount,
    example: { name: "Readers in London" },
  },
  removeSegment: { summary: "Delete a segment", params: ById, returns: Nothing },
  listSegmentSubscribers: {
    summary: "List the subscribers that a segment holds now",
    description: `Search looks into email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([ListQuery, Type.Object({ id: Id })]),
    returns: Page(Subscriber),
  },
} as const satisfies ServiceContract;
