/** Content that is written in a request instead of a saved template. */
import { DesignTree } from "../lib/design/shape.ts";
import { Described, Line, type Static, Text, Type } from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { ContentFields } from "../lib/template/content-shapes.ts";

export const WrittenFields = {
  subject: Described(
    Type.String({ ...Line(MAX_SUBJECT_LENGTH), minLength: 1, pattern: "\\S" }),
    "Subject of the mail. Templates may contain variables.",
    "Six books for [[first_name]]",
  ),
  body: Type.Optional(
    Described(
      Type.String({ ...Text(MAX_BODY_LENGTH), minLength: 1, pattern: "\\S" }),
      "The mail in HTML, with variables. Required without `design`.",
      "<p>Hello [[first_name]].</p>",
    ),
  ),
  design: Type.Optional(
    Described(
      DesignTree,
      "Extension. Design, in place of `body`: HTML and text part are made from it, as in a template. `text_body` replaces the text part.",
    ),
  ),
  ...ContentFields,
};

export const Content = (description: string) =>
  Type.Object(WrittenFields, { additionalProperties: false, description });
export type Content = Static<ReturnType<typeof Content>>;
