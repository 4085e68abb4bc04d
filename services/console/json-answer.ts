/** Answers for the editors' scripts. */
import type { RawResponse } from "./contract.ts";
import { messages } from "./messages.ts";
import type { Answer } from "./request.ts";

export const asJson = (value: unknown, status = 200): RawResponse => ({
  status,
  content_type: "application/json; charset=utf-8",
  body: JSON.stringify(value),
  headers: { "cache-control": "no-store" },
});

/** Says what a page says that a script would get in place of its answer: the sign-in, or a problem. */
export function pageAsJson(page: Answer): Answer {
  if ("content_type" in page) return page;
  const { busy, ended, gone } = messages.visual.problems;
  if ("goTo" in page || page.view === "sign-in") return asJson({ sentences: [ended] }, 401);
  const { status, values } = page;
  return asJson({ sentences: status === 429 ? [busy] : (values?.sentences ?? [gone]) }, status);
}
