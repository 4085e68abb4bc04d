/** Requests of the editor to the console. A refusal says why, whether the console refuses or something before it. */
import { visual as t } from "../messages/visual.ts";
import type { Boot } from "./boot.ts";

export interface Problem {
  problem: string;
  status: number;
  answer: unknown;
}

export const isProblem = (value: object): value is Problem => "problem" in value;

const { away, busy, ended, tooLarge } = t.problems;
/** Refusals of the gateway, whose sentences are for developers. */
const PROBLEMS: Record<number, string> = { 401: ended, 413: tooLarge, 429: busy, 503: busy };

function problemIn(status: number, answer: { sentences?: string[] }): string {
  if (answer.sentences) return answer.sentences.join(" ");
  const ofFields = Object.values(answer)
    .flat()
    .filter((one) => typeof one === "string");
  return PROBLEMS[status] ?? (status === 400 && ofFields.length > 0 ? ofFields.join(" ") : away);
}

export async function ask<T extends object>(
  { formToken }: Boot,
  path: string,
  body?: FormData | URLSearchParams,
): Promise<T | Problem> {
  const headers = { accept: "application/json", "x-csrf-token": formToken };
  try {
    const response = await fetch(path, body ? { method: "POST", body, headers } : { headers });
    const { status } = response;
    const answer = (await response.json()) as T & { sentences?: string[] };
    return response.ok ? answer : { problem: problemIn(status, answer), status, answer };
  } catch {
    return { problem: away, status: 0, answer: undefined };
  }
}
