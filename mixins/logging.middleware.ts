/**
 * Writes one JSON line per log entry. Entries of an action or event contain its request, company and campaign, on any
 * node, and the ids of a recorded trace. Secrets and personal content (credentials, bodies of emails) are redacted here
 * for every entry.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { BrokerOptions, Middleware } from "moleculer";
import type { Config } from "../services/lib/config.ts";
import { redact, redactText } from "../services/lib/redact.ts";
import { activeIds } from "../services/lib/tracing/span.ts";

interface Ids {
  requestId?: string;
  companyId?: string;
  campaignId?: string;
}

interface Running {
  ids: Ids;
  /** Timers and loops started by a call outlive it: what they log later is not part of its request. */
  over: boolean;
}

interface CtxLike {
  requestID?: string | null;
  meta: { requestId?: string; companyId?: string };
  params?: { campaignId?: unknown; campaign_id?: unknown; company_id?: unknown; companyId?: unknown };
}

const running = new AsyncLocalStorage<Running>();

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function idsOf({ meta, params, requestID }: CtxLike): Ids {
  return {
    requestId: meta.requestId ?? requestID ?? undefined,
    companyId: meta.companyId ?? textOf(params?.company_id) ?? textOf(params?.companyId),
    campaignId: textOf(params?.campaignId) ?? textOf(params?.campaign_id),
  };
}

/** The ids of the call that runs now, and nothing where none does. */
const currentIds = (): Ids => {
  const now = running.getStore();
  return now && !now.over ? now.ids : {};
};

type Handler = (ctx: CtxLike) => Promise<unknown>;

const identified =
  (next: Handler): Handler =>
  (ctx) => {
    const run: Running = { ids: idsOf(ctx), over: false };
    return running.run(run, async () => {
      try {
        return await next(ctx);
      } finally {
        run.over = true;
      }
    });
  };

/** Broker middleware: which call a log entry belongs to. */
export const callIds = {
  name: "CallIds",
  localAction: identified,
  localEvent: identified,
} as unknown as Middleware;

type Log = (...args: unknown[]) => void;

/** Moleculer's own entry, with a stack. services/lib/processes/lifetime.ts prints the reason in a readable line. */
const PRINTED_ELSEWHERE = "Unable to start all services.";

/** Moleculer logs an error behind its sentence; pino would drop it there. */
function logMethod(this: unknown, args: unknown[], method: Log): void {
  if (args[0] === PRINTED_ELSEWHERE) return;
  const texts = args.filter((arg) => typeof arg === "string" || typeof arg === "number");
  const objects = args.filter((arg) => typeof arg === "object" && arg !== null);
  const fields = Object.assign({}, ...objects.map((one) => (one instanceof Error ? { error: one } : one)));
  const text = texts.length > 0 ? texts.join(" ") : fields.error instanceof Error ? fields.error.message : undefined;
  method.call(this, redact(fields), text === undefined ? undefined : redactText(text));
}

export function logger(settings: Config): BrokerOptions["logger"] {
  const options = {
    mixin: () => ({ ...currentIds(), ...activeIds() }),
    hooks: { logMethod },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    base: { pid: process.pid },
  };
  return { type: "Pino", options: { level: settings.LOGLEVEL, pino: { options } } } as BrokerOptions["logger"];
}
