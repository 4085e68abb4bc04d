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
      description: "Whether all conditions must match, or any.",
    },
    conditions: {
      type: "array",
      shownAs: {
        type: "array",
        minItems: 1,
        maxItems: MAX_CONDITIONS,
        items: conditionSchema(),
        description:
          "A condition: field, operator and value. `attributes.city` becomes `attributes.City` where subscribers have only that.",
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
    "Internal description; recipients do not see it.",
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
      "Number of values that are not dates; null if counting took too long.",
      6,
    ),
  }),
  {
    description:
      "Attributes that the rules compare with a date, with values that are not dates; people with such values do not match.",
  },
);
const SegmentWithCount = Type.Composite([
  Segment,
  Type.Object({
    subscriber_count: Described(Nullable(Type.Integer()), "Number of subscribers; null if not counted.", 1234),
    subscriber_count_is_estimate: Described(Type.Boolean(), "True if the number is an estimate."),
    not_dates: NotDates,
  }),
]);

export const segments = {
  listSegments: {
    summary: "List segments",
    description: "Searches name and description. Sortable: created_at, name.",
    params: ListQuery,
    returns: Page(Segment),
  },
  createSegment: {
    summary: "Create a segment",
    description:
      "The schema of a condition lists the fields and their operators. Text is compared case-insensitively. A list or campaign in a value must exist. Requires the plan's feature segments.",
    params: Type.Object({
      name: Described(Name, "Name.", "Readers"),
      description: Type.Optional(
        Described(
          Description,
          "Internal description; recipients do not see it.",
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
    summary: "Count the subscribers of unsaved rules",
    description:
      "Returns `subscriber_count` as for a segment with these rules and up to five of the newest subscribers. Requires the plan's feature segments.",
    params: Type.Object({ rules: RulesShape }),
    returns: Type.Object({
      subscriber_count: Described(Type.Integer(), "Number of subscribers.", 1234),
      subscriber_count_is_estimate: Described(Type.Boolean(), "True if the number is an estimate."),
      not_dates: NotDates,
      sample: Type.Array(Subscriber, { description: "Empty if they could not be found in time." }),
    }),
    example: { rules: { conditions: [{ field: "attributes.city", operator: "equals", value: "London" }] } },
  },
  listAttributes: {
    summary: "List attribute names",
    description: "Attributes of the newest 2,000 subscribers, in alphabetical order; at most 500.",
    params: Type.Object({}),
    returns: Type.Object({
      names: Type.Array(Type.String(), { description: "In alphabetical order.", examples: [["city", "plan"]] }),
    }),
  },
  getSegment: {
    summary: "Get a segment with its current size",
    description:
      "`subscriber_count` counts everyone who matches the rules. A send goes to the active ones among them; its `total_emails` counts these. Where counting takes seconds the number is an estimate, and `subscriber_count_is_estimate` is true.",
    params: Type.Object({
      id: Id,
      count: Type.Optional(
        Type.Boolean({ description: "`false`: skip counting; `subscriber_count` is null.", examples: [true] }),
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
          "Internal description; recipients do not see it.",
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
    summary: "List the subscribers of a segment",
    description: `Searches email and names. Sortable: created_at, email, first_name, last_name.`,
    params: Type.Composite([ListQuery, Type.Object({ id: Id })]),
    returns: Page(Subscriber),
  },
} as const satisfies ServiceContract;
