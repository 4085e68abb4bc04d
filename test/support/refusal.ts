/** The gateway's status and body for an error thrown by a service. */
import { problemOf } from "../../services/gateway/http/problems.ts";

export function answerTo(error: unknown): [status: number, body: Record<string, unknown>] {
  const { status, body } = problemOf(error, "test");
  return [status, body];
}

/** Returns the error with which the work must fail. */
export async function refusal(work: Promise<unknown>): Promise<[status: number, body: Record<string, unknown>]> {
  try {
    await work;
  } catch (error) {
    const [status, body] = answerTo(error);
    if (status === 500) throw error;
    return [status, body];
  }
  throw new Error("It was not refused");
}
