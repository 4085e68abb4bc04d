/** What the gateway would answer to an error that a service threw: its status and body. */
import { problemOf } from "../../services/gateway/http/problems.ts";

export function answerTo(error: unknown): [status: number, body: Record<string, unknown>] {
  const { status, body } = problemOf(error, "test");
  return [status, body];
}

/** Of the error that the work must end with. */
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
