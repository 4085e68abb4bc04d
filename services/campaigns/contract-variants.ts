/** A/B tests in requests and responses. */
import { WINNER_METRICS } from "../../models/campaign-variant.ts";
import { Described, Line, Nullable, OneOf, Time, Type, Uuid } from "../lib/shapes.ts";
import { MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { Content } from "./contract-content.ts";

const MIN_VARIANTS = 2;
const MAX_VARIANTS = 5;
/** Maximum minutes before the winner is chosen: 30 days. */
const MAX_AFTER_MINUTES = 43_200;

const Percent = Type.Number({
  minimum: 0.01,
  maximum: 100,
  examples: [20],
  description:
    "The variant's share of the recipients, at most two decimals. The number of its recipients differs from the exact share by less than one.",
});

const Metric = Type.Unsafe<(typeof WINNER_METRICS)[number]>({
  ...OneOf(...WINNER_METRICS),
  examples: ["opens"],
  description:
    "Criterion: people who opened or clicked, per sent mail. Machines are not counted. The first variant wins a tie.",
});

const AfterMinutes = Type.Number({
  exclusiveMinimum: 0,
  maximum: MAX_AFTER_MINUTES,
  examples: [240],
  description: "Waiting time for opens and clicks, from when every test recipient has been tried once.",
});

export const VariantsAsked = {
  variants: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object({
          subject: Type.Optional(
            Type.String({
              ...Line(MAX_SUBJECT_LENGTH),
              minLength: 1,
              pattern: "\\S",
              examples: ["Six books for long evenings"],
              description: "Overrides the subject of the template or content.",
            }),
          ),
          template_id: Type.Optional(
            Type.Unsafe<string>({
              ...Uuid,
              examples: ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5e"],
              description: "Overrides the campaign's template or content.",
            }),
          ),
          content: Type.Optional(Content("Overrides the campaign's template or content, in place of a `template_id`.")),
          percent: Percent,
        }),
        {
          minItems: MIN_VARIANTS,
          maxItems: MAX_VARIANTS,
          description:
            "Extension. An A/B test: each variant goes to its share of the recipients, chosen at random. Values that a variant omits come from the campaign. Without a `winner` the shares must add up to 100 percent; with one the other recipients wait for it.",
        },
      ),
    ),
  ),
  winner: Type.Optional(
    Nullable(
      Type.Object(
        { metric: Metric, after_minutes: AfterMinutes },
        {
          description:
            "Extension. Recipients outside all shares get the winning variant as soon as it is decided. The campaign is `sending` until then.",
        },
      ),
    ),
  ),
};

export const VariantsShown = {
  variants: Type.Array(
    Type.Object({
      index: Type.Integer({ examples: [0], description: "From 0, in the order of the request." }),
      subject: Type.String({ examples: ["Six books for long evenings"], description: "As written, with variables." }),
      template_id: Described(Nullable(Uuid), "Template to use; null for content of its own."),
      percent: Percent,
    }),
    { description: "Extension. Variants of an A/B test; empty without a test." },
  ),
  winner: Nullable(
    Type.Object(
      {
        metric: Metric,
        after_minutes: AfterMinutes,
        index: Nullable(Type.Integer({ examples: [1], description: "Winning variant; null until decided." })),
        due_at: Nullable(
          Type.Unsafe<string>({
            ...Time,
            description: "Time of the decision; null until every test recipient has been tried.",
          }),
        ),
        decided_at: Nullable(
          Type.Unsafe<string>({ ...Time, description: "Time when it was decided; null until then." }),
        ),
      },
      { description: "Extension. Decision on the winning variant for the other recipients; null without a winner." },
    ),
  ),
};
