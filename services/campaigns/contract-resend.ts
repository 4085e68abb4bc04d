import type { ServiceContract } from "../define.ts";
import { ById, Line, Name, Type } from "../lib/shapes.ts";
import { MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { Sent } from "./contract-sending.ts";

export const resending = {
  resend: {
    summary: "Resend a campaign to people who did not open it",
    description:
      "Creates a campaign from the snapshot of this one, with each receiver's variables, for people who got it and neither opened nor clicked. Machine opens do not count as people's, and mails in doubt not as delivered. People who left the list, unsubscribed or are suppressed are excluded; copies are not sent. The audience is decided when it starts, so `total_emails` of the answer is an estimate; without recipients it ends `completed` with 0. Allowed in the status `completed`, `partial` and `failed`, for tracked campaigns.",
    params: Type.Object({
      ...ById.properties,
      to: Type.Literal("non_openers", { description: "People who got it and neither opened nor clicked." }),
      subject: Type.Optional(
        Type.String({
          ...Line(MAX_SUBJECT_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "Overrides the first campaign's value.",
          examples: ["Six books for [[first_name]]"],
        }),
      ),
      name: Type.Optional(
        Type.String({
          ...Name,
          description: "Name of the new campaign. Default: `Again: ` and the first one's name.",
          examples: ["Readers"],
        }),
      ),
      idempotency_key: Type.Optional(
        Type.String({ minLength: 1, maxLength: 256, description: "Set from the header Idempotency-Key." }),
      ),
    }),
    returns: Sent,
    example: { to: "non_openers", subject: "Did you miss it? Six books for evenings" },
  },
} as const satisfies ServiceContract;
