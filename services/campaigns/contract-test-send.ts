/** Test send: a few emails that show what a campaign would look like. */
import type { ServiceContract } from "../define.ts";
import { DesignTree } from "../lib/design/shape.ts";
import { Described, Email, Line, Nullable, type Static, Text, Type, Uuid } from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { ContentFields } from "../lib/template/content-shapes.ts";
import { MAX_ATTACHMENTS } from "./contract-campaigns.ts";

const MAX_TEST_RECEIVERS = 5;

const Result = Type.Object({
  email: Type.String({ description: "Address as given in the request.", examples: ["editor@example.com"] }),
  status: Type.Unsafe<"sent" | "failed" | "bounced" | "unknown" | "suppressed">({
    type: "string",
    enum: ["sent", "failed", "bounced", "unknown", "suppressed"],
    description:
      "`sent`: the server accepted it; `bounced`: the mailbox does not exist; `failed`: it was not accepted for another reason; `unknown`: the server did not confirm; `suppressed`: the address is suppressed and nothing was sent.",
  }),
  smtp_response: Nullable(
    Type.String({
      description: "Reply of the SMTP server; null if it was not asked or did not answer.",
      examples: ["250 2.0.0 Ok: queued as 4F1C2"],
    }),
  ),
  error: Nullable(
    Type.String({ description: "Reason in one sentence; null for `sent`.", examples: ["550 5.1.1 User unknown"] }),
  ),
});
export type TestResult = Static<typeof Result>;

export const testSend = {
  sendTest: {
    summary: "Send a test to a few addresses",
    description:
      "Sends the mail as a campaign would, through this SMTP configuration, signed and with attachments, to each address separately, and returns the server's reply. Requires `template_id`, or `subject` with `body` or `design`; the other content fields go with these. The subject starts with `[Test] `. Nothing is tracked or retried, no campaign or sent email is created, and a refusal suppresses nobody; the unsubscribe and view-in-browser links do not work. Counts towards the hourly and monthly limits and warm-up. Values come from `variables`, then from the subscriber with the address. Suppressed addresses are skipped (`suppressed`), including those suppressed only for newsletters. Answers within 30 seconds; what the server has not confirmed by then is `unknown`. At most 20 requests a minute.",
    params: Type.Object({
      company: Type.Optional(Described(Uuid, "Company that owns it.")),
      smtp_config_id: Type.String({ ...Uuid, description: "The SMTP configuration to send through." }),
      to: Type.Array(Email, {
        minItems: 1,
        maxItems: MAX_TEST_RECEIVERS,
        description: "Each address gets its own mail; a repeated address gets one.",
        examples: [["editor@example.com"]],
      }),
      template_id: Type.Optional(
        Type.String({ ...Uuid, description: "Used instead of `subject` and the other content." }),
      ),
      subject: Type.Optional(
        Type.String({
          ...Line(MAX_SUBJECT_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "Used with `body` instead of a template.",
          examples: ["Six books for [[first_name]]"],
        }),
      ),
      body: Type.Optional(
        Type.String({
          ...Text(MAX_BODY_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "HTML with template tags.",
          examples: ["<p>Hello [[first_name]].</p>"],
        }),
      ),
      design: Type.Optional(Described(DesignTree, "Extension. Design, in place of `body`.")),
      ...ContentFields,
      variables: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "Values for all addresses.",
          examples: [{ first_name: "Ann" }],
        }),
      ),
      attachment_ids: Type.Optional(
        Type.Array(Uuid, {
          maxItems: MAX_ATTACHMENTS,
          description: "Media files to attach.",
          examples: [["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]],
        }),
      ),
    }),
    returns: Type.Object({
      results: Type.Array(Result, { description: "In the order of `to`, each address once." }),
      warnings: Type.Array(Type.String(), {
        description:
          "Warnings about variables that are neither built in nor known for any subscriber, HTML over 102 KB, a missing visible unsubscribe link, and those of a send.",
        examples: [["`fist_name` is no variable that any subscriber has."]],
      }),
    }),
    unknownFields: "all",
    example: {
      smtp_config_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      to: ["editor@example.com"],
      template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
      variables: { first_name: "Ann" },
    },
  },
} as const satisfies ServiceContract;
