/**
 * Contract of the part of a test send that talks to the SMTP server; clients use the campaigns service's `sendTest`.
 */
import type { ServiceContract } from "../define.ts";
import { Nullable, OneOf, type Static, Type } from "../lib/shapes.ts";
import { TestContent } from "../renderer/contract.ts";

const Params = Type.Composite([TestContent, Type.Object({ within_ms: Type.Number() })]);
export type TestParams = Static<typeof Params>;

const Result = Type.Object({
  status: OneOf("sent", "failed", "bounced", "unknown"),
  smtp_response: Nullable(Type.String()),
  error: Nullable(Type.String()),
});
export type TestResult = Static<typeof Result>;

export const testSend = {
  sendTests: {
    summary: "Hand the mails of a test to the SMTP server",
    visibility: "public",
    description: "One result for each of `to`, within so many milliseconds. 429 where hour or warm-up have no room.",
    params: Params,
    returns: Type.Object({ results: Type.Array(Result), warnings: Type.Array(Type.String()) }),
  },
} as const satisfies ServiceContract;
