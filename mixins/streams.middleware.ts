/**
 * Broker middleware: a stream that goes to another node with a call (an upload), or comes back from one (a download), is
 * read there piece by piece (nats-pieces.ts) and never sent by Moleculer, which knows no back-pressure. Services see no
 * difference: `ctx.stream` in an action, a readable stream as its result. Within one process nothing is in between.
 */
import { Readable } from "node:stream";
import type { Context, Middleware, ServiceBroker } from "moleculer";
import type { NatsPieces } from "./nats-pieces.ts";
import { NatsTransporter } from "./nats-transporter.ts";

type StreamContext = Context & {
  stream?: Readable | null;
  headers: Record<string, unknown>;
  options: { stream?: Readable };
};
type Handler = (ctx: StreamContext) => Promise<unknown>;

/** Of a request: the stream that goes with it. A header stays with its call; what is in `meta` goes on with nested ones. */
const UPLOAD = "flockmail-stream";
/** In place of a result that is a stream. */
const DOWNLOAD = "$flockmailStream";

export function streams(): Middleware {
  let broker: ServiceBroker;

  const transporter = (): NatsTransporter | undefined => {
    const { transit } = broker as unknown as { transit?: { tx: unknown } };
    return transit?.tx instanceof NatsTransporter ? transit.tx : undefined;
  };
  /** Undefined where the other node is of a version that knows Moleculer's own streams alone. */
  const piecesFor = (nodeId: string): NatsPieces | undefined => {
    const way = transporter();
    return way?.fetchesPieces(nodeId) ? way.pieces : undefined;
  };

  const remoteAction =
    (next: Handler): Handler =>
    async (ctx) => {
      const { stream } = ctx.options;
      const way = piecesFor(ctx.nodeID!);
      if (!way) return next(ctx);
      const id = stream && way.offer(stream, ctx.nodeID!, { keepUnread: true });
      if (id) {
        ctx.options = { ...ctx.options, stream: undefined };
        ctx.headers = { ...ctx.headers, [UPLOAD]: id };
      }
      try {
        const result = await next(ctx);
        const offered = (result as Record<string, unknown> | null | undefined)?.[DOWNLOAD];
        return typeof offered === "string" ? way.read(ctx.nodeID!, offered) : result;
      } finally {
        if (id) way.withdraw(id);
      }
    };

  function localAction(this: ServiceBroker, next: Handler): Handler {
    // No other node, no layer: a promise on the way of each call.
    if (!this.options.transporter) return next;
    return async (ctx) => {
      if (ctx.nodeID === broker.nodeID || !transporter()) return next(ctx);
      // Whoever offers pieces fetches them too, also where its description of itself is not here yet.
      const id = ctx.headers?.[UPLOAD];
      const stream = typeof id === "string" ? transporter()!.pieces.read(ctx.nodeID!, id) : undefined;
      if (stream) ctx.stream = stream;
      const way = stream ? transporter()!.pieces : piecesFor(ctx.nodeID!);
      try {
        const result = await next(ctx);
        return way && result instanceof Readable ? { [DOWNLOAD]: way.offer(result, ctx.nodeID!) } : result;
      } finally {
        stream?.destroy();
      }
    };
  }

  return {
    name: "Streams",
    created: (created: ServiceBroker) => {
      broker = created;
    },
    remoteAction,
    localAction,
  } as unknown as Middleware;
}
