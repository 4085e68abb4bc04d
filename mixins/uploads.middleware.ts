/**
 * Broker middleware: an upload whose action runs on another node is stored by the caller and read by the other node
 * from PostgreSQL (models/statements/transfers.ts). Moleculer's own streams know no back-pressure, and would take the
 * memory of both nodes. Services see no difference: `ctx.stream` in an action. Within one process nothing is stored.
 */
import { Readable } from "node:stream";
import { type CallingOptions, type Context, Errors, type Middleware, type ServiceBroker } from "moleculer";
import { dropTransfer, readTransfer, storeTransfer, type Transfer } from "../models/statements/transfers.ts";

type UploadContext = Context<unknown, { companyId?: string }> & {
  stream?: Readable | null;
  headers: Record<string, unknown>;
  options: { stream?: Readable | undefined };
};
type Handler = (ctx: UploadContext) => Promise<unknown>;
type Options = CallingOptions & { stream?: Readable };
type CallFunction = (name: string, params: unknown, options?: Options) => Promise<unknown>;

/** Header of a call: the name of its stored upload. A header stays with its call; `meta` goes on with nested ones. */
const UPLOAD = "flockmail-upload";

const stored = new WeakMap<Readable, Transfer>();

/** True if another node can read the upload again. */
export const isStored = (stream: Readable): boolean => stored.has(stream);

interface Registry {
  nodes: { get(id: string): { available: boolean } | undefined };
}

/** A node may leave while the upload is stored. */
const isAvailable = ({ broker, nodeID }: UploadContext): boolean =>
  (broker as unknown as { registry: Registry }).registry.nodes.get(nodeID!)?.available === true;

const storedAsHeader =
  (next: Handler): Handler =>
  async (ctx) => {
    const { stream } = ctx.options;
    if (!stream) return next(ctx);
    const transfer = stored.get(stream) ?? (await storeTransfer(stream, ctx.meta.companyId));
    stored.set(stream, transfer);
    // Otherwise no node would answer, and the caller would wait for its time-out.
    if (!isAvailable(ctx)) throw new Errors.RequestRejectedError({ action: ctx.action?.name, nodeID: ctx.nodeID });
    ctx.options = { ...ctx.options, stream: undefined };
    ctx.headers = { ...ctx.headers, [UPLOAD]: JSON.stringify(transfer) };
    return next(ctx);
  };

const readFromHeader =
  (next: Handler): Handler =>
  async (ctx) => {
    const header = ctx.headers?.[UPLOAD];
    // A call may come back to this node after another one has refused it.
    const transfer =
      typeof header === "string" ? (JSON.parse(header) as Transfer) : ctx.stream && stored.get(ctx.stream);
    if (!transfer) return next(ctx);
    const stream = Readable.from(readTransfer(transfer), { objectMode: false });
    // There may be no listener yet, or none any more.
    stream.on("error", () => {});
    ctx.stream = stream;
    return next(ctx).finally(() => stream.destroy());
  };

/** The call with all its repetitions is over; the sweep removes what cannot be removed now. */
const removedAfterUse =
  (next: CallFunction): CallFunction =>
  (name, params, options) => {
    const stream = options?.stream;
    if (!stream) return next(name, params, options);
    return next(name, params, options).finally(async () => {
      const transfer = stored.get(stream);
      if (transfer) await dropTransfer(transfer).catch(() => {});
    });
  };

export const uploads = (): Middleware =>
  ({
    name: "Uploads",
    call: removedAfterUse,
    remoteAction: storedAsHeader,
    localAction(this: ServiceBroker, next: Handler): Handler {
      // A single node adds no layer, which would cost a promise per call.
      return this.options.transporter ? readFromHeader(next) : next;
    },
  }) as unknown as Middleware;
