/** A test send: some mails to people of the company, to see what a campaign would look like. */
import type { ServiceContract } from "../define.ts";
import { Described, Email, Line, Nullable, type Static, Text, Type, Uuid } from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { MAX_ATTACHMENTS } from "./contract-campaigns.ts";

const MAX_TEST_RECEIVERS = 5;

const Result = Type.Object({
  email: Type.String({ description: "As it was given.", examples: ["editor@example.com"] }),
  status: Type.Unsafe<"sent" | "failed" | "bounced" | "unknown" | "suppressed">({
    type: "string",
    enum: ["sent", "failed", "bounced", "unknown", "suppressed"],
    description:
      "`sent`: the server took it; `bounced`: it says that there is no such mailbox; `failed`: it did not take it, for whatever other reason; `unknown`: it did not confirm it; `suppressed`: it was not asked.",
  }),
  smtp_response: Nullable(
    Type.String({
      description: "What the SMTP server answered; null where it was not asked, or did not answer.",
      examples: ["250 2.0.0 Ok: queued as 4F1C2"],
    }),
  ),
  error: Nullable(Type.String({ description: "A sentence; null for `sent`.", examples: ["550 5.1.1 User unknown"] })),
});
export type TestResult = Static<typeof Result>;

export const testSend = {
  sendTest: {
    summary: "Send a test to a few addresses",
    description:
      "The mail as a campaign would send it through this SMTP configuration, signed and with attachments, to each address by itself, and what the server said. Needs `template_id`, or `subject` and `body`. The subject begins with `[Test] `. Nothing is tracked, no campaign and no sent email is made, nothing is tried again, and a refusal suppresses nobody; the links to unsubscribe and to the view in the browser lead nowhere. Counts in the hour, the month and a warm-up. Values come from `variables`, then from the subscriber who has the address. Suppressed addresses get none (`suppressed`), also when they are suppressed only for newsletters. Answers within 30 seconds whatever the server does: what it did not confirm by then is `unknown`. At most 20 requests a minute.",
    params: Type.Object({
      company: Type.Optional(Described(Uuid, "The company that it belongs to.")),
      smtp_config_id: Type.String({ ...Uuid, description: "The SMTP configuration to send through." }),
      to: Type.Array(Email, {
        minItems: 1,
        maxItems: MAX_TEST_RECEIVERS,
        description: "Each gets a mail of its own; an address that comes twice gets one.",
        examples: [["editor@example.com"]],
      }),
      template_id: Type.Optional(Type.String({ ...Uuid, description: "In place of `subject` and `body`." })),
      subject: Type.Optional(
        Type.String({
          ...Line(MAX_SUBJECT_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "With `body`, in place of a template.",
          examples: ["Six books for [[first_name]]"],
        }),
      ),
      body: Type.Optional(
        Type.String({
          ...Text(MAX_BODY_LENGTH),
          minLength: 1,
          pattern: "\\S",
          description: "HTML, in the language of templates.",
          examples: ["<p>Hello [[first_name]].</p>"],
        }),
      ),
      variables: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "The same for all addresses.",
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
          "Sentences on variables that neither are built in nor any subscriber has, on HTML over 102 KB, on a missing visible way to unsubscribe, and those of a send.",
        examples: [["`fist_name` is no variable that any subscriber has."]],
      }),
    }),
    example: {
      smtp_config_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      to: ["editor@example.com"],
      template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
      variables: { first_name: "Ann" },
    },
  },
} as const satisfies ServiceContract;
