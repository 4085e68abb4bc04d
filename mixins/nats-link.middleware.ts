/**
 * Broker middleware: while NATS is away, a call to another node fails at once and not after its time-out: what is
 * published then is lost, and a client is better served by "503, try again" at once.
 */
import type { Context, Middleware, ServiceBroker } from "moleculer";
import type { NatsConnection } from "nats";
import { unavailable } from "../services/lib/errors.ts";

type Handler = (ctx: Context) => Promise<unknown>;

export function natsLink(): Middleware {
  let away = false;

  async function watch(client: NatsConnection): Promise<void> {
    for await (const { type } of client.status()) {
      if (type === "disconnect") away = true;
      if (type === "reconnect") away = false;
    }
  }

  return {
    name: "NatsLink",
    remoteAction:
      (next: Handler): Handler =>
      (ctx) =>
        away ? Promise.reject(unavailable()) : next(ctx),
    started(broker: ServiceBroker) {
      const { client } = (broker.transit as unknown as { tx: { client?: NatsConnection } } | undefined)?.tx ?? {};
      // Ends with the connection.
      if (client) void watch(client).catch(() => {});
    },
  } as unknown as Middleware;
}
