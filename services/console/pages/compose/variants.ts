/** An A/B test as the form has it, five rows of which empty ones do not count, and as a draft keeps it. Pure. */
import { numberOf } from "../../form-fields.ts";
import { type Body, isObject, textIn } from "./draft.ts";

export const ROWS = 5;

type Form = Record<string, string>;

/** The changes to a draft's body: no test where it is not asked for. Numbers that are none are kept for the API to refuse. */
export function variantsOf(form: Form): Body {
  if (form.ab !== "on") return { variants: undefined, winner: undefined };
  const rows = Array.from({ length: ROWS }, (_, n) => ({
    subject: (form[`variant.${n}.subject`] ?? "").trim(),
    template_id: form[`variant.${n}.template_id`] ?? "",
    percent: (form[`variant.${n}.percent`] ?? "").trim(),
  })).filter(({ subject, template_id, percent }) => subject !== "" || template_id !== "" || percent !== "");
  const variants = rows.map(({ subject, template_id, percent }) => ({
    ...(subject === "" ? {} : { subject }),
    ...(template_id === "" ? {} : { template_id }),
    ...(percent === "" ? {} : { percent: numberOf(percent) }),
  }));
  const hours = numberOf(form.after_hours ?? "");
  const winner =
    form.winner === "opens" || form.winner === "clicks"
      ? { metric: form.winner, after_minutes: Number.isFinite(hours) ? Math.round(hours * 60) : hours }
      : undefined;
  return { variants, winner };
}

interface VariantRow {
  letter: string;
  subject: string;
  templateId: string;
  percent: string;
}

const letterOf = (n: number) => String.fromCharCode(65 + n);

const rowOf = (given: unknown, n: number): VariantRow => {
  const variant = isObject(given) ? given : {};
  return {
    letter: letterOf(n),
    subject: textIn(variant, "subject"),
    templateId: textIn(variant, "template_id"),
    percent: variant.percent === undefined ? "" : `${variant.percent}`,
  };
};

/** Those of the draft. */
export const variantsIn = ({ variants }: Body): VariantRow[] => (Array.isArray(variants) ? variants.map(rowOf) : []);

/** As the form shows them: with rows that are still empty. */
export const rowsIn = ({ variants }: Body): VariantRow[] =>
  Array.from({ length: ROWS }, (_, n) => rowOf(Array.isArray(variants) ? variants[n] : undefined, n));

export function winnerIn({ winner }: Body): { metric: string; hours: string } {
  const given = isObject(winner) ? winner : {};
  const { after_minutes: minutes } = given;
  const hours = typeof minutes === "number" ? `${minutes / 60}` : minutes === undefined ? "" : `${minutes}`;
  return { metric: textIn(given, "metric"), hours };
}
