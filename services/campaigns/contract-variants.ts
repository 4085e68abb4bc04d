/** A/B tests as requests give them and answers show them. */
import { WINNER_METRICS } from "../../models/campaign-variant.ts";
import { Described, Line, Nullable, OneOf, Time, Type, Uuid } from "../lib/shapes.ts";
import { MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";

const MIN_VARIANTS = 2;
const MAX_VARIANTS = 5;
/** A month; who waits longer has forgotten it. */
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
    "What is compared: people who opened, or clicked, for each mail that was sent. Machines are not counted. Of two alike the first variant wins.",
});

const AfterMinutes = Type.Number({
  exclusiveMinimum: 0,
  maximum: MAX_AFTER_MINUTES,
  examples: [240],
  description: "How long opens and clicks are waited for, from when each recipient of the test has been tried once.",
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
              description: "In place of the template's.",
            }),
          ),
          template_id: Type.Optional(
            Type.Unsafe<string>({
              ...Uuid,
              examples: ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5e"],
              description: "In place of the campaign's template.",
            }),
          ),
          percent: Percent,
        }),
        {
          minItems: MIN_VARIANTS,
          maxItems: MAX_VARIANTS,
          description:
            "Extension. An A/B test: each variant goes to its share of the recipients, chosen at random. What a variant does not give is the campaign's. Without a `winner` the shares make 100 percent; with one the others wait for it.",
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
            "Extension. Who is in no variant's share gets the one that won, as soon as it is decided. The campaign is `sending` until then.",
        },
      ),
    ),
  ),
};

export const VariantsShown = {
  variants: Type.Array(
    Type.Object({
      index: Type.Integer({ examples: [0], description: "From 0, in the order of the request." }),
      subject: Type.String({ examples: ["Six books for long evenings"], description: "With its variables." }),
      template_id: Described(Nullable(Uuid), "The template that it is made from."),
      percent: Percent,
    }),
    { description: "Extension. Of an A/B test; empty where there is none." },
  ),
  winner: Nullable(
    Type.Object(
      {
        metric: Metric,
        after_minutes: AfterMinutes,
        index: Nullable(
          Type.Integer({ examples: [1], description: "The variant that won; null while that is not decided." }),
        ),
        due_at: Nullable(
          Type.Unsafe<string>({
            ...Time,
            description: "When it is decided; null until each recipient of the test has been tried.",
          }),
        ),
        decided_at: Nullable(Type.Unsafe<string>({ ...Time, description: "When it was decided; null until then." })),
      },
      { description: "Extension. What the other recipients wait for, or got; null without a winner." },
    ),
  ),
};
