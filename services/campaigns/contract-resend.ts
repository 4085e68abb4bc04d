import type { ServiceContract } from "../define.ts";
import { ById, Line, Name, Type } from "../lib/shapes.ts";
import { MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { Sent } from "./contract-sending.ts";

export const resending = {
  resend: {
    summary: "Send a campaign again to those who did not open it",
    description:
      "A new campaign with the snapshot of this one, and each receiver's variables, to those who got it and neither opened it nor clicked; machines do not count as people, and mails in doubt not as delivered. Of a campaign to a list those who left it are out; suppressed and unsubscribed people are as always; copies go to nobody. Who is meant is seen when it starts, so that `total_emails` of the answer is an estimate; with nobody left it ends `completed` with 0. Allowed in the status `completed`, `partial` and `failed`, and where the campaign was tracked.",
    params: Type.Object({
      ...ById.properties,
      to: Type.Literal("non_openers", { description: "Who got it and neither opened nor clicked." }),
      subject: Type.Optional(
        Type.String({
          ...Line(MAX_SUBJECT_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "In place of the first campaign's.",
          examples: ["Six books for [[first_name]]"],
        }),
      ),
      name: Type.Optional(
        Type.String({
          ...Name,
          description: "Of the new campaign; else `Again: ` and the first one's.",
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
