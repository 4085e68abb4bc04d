import { emit } from "../call.ts";
import type { EventName, EventPayload } from "../events.ts";

/**
 * Rings and goes on. Not awaited: in one process the listener's whole work would be awaited with it. A ring that gets
 * lost costs one poll.
 */
export function knock<E extends EventName>(from: Parameters<typeof emit>[0], event: E, payload: EventPayload<E>): void {
  emit(from, event, payload).catch(() => {});
}
