/**
 * Runs the gateway with a test's own routes and tiny services, without a database, for behaviour that does not depend
 * on the actions. Key `fm_good` belongs to company A, `fm_other` to company B; every person owns every company except
 * B.
 */
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { AjvValidator } from "../../mixins/ajv-validator.ts";
import type { ActionContract } from "../../services/define.ts";
import { type Gateway, openGateway } from "../../services/gateway/gateway.ts";
import type { Route } from "../../services/gateway/routes.ts";
import type { Ctx } from "../../services/lib/caller.ts";
import { type Config, readConfig } from "../../services/lib/config.ts";
import { notFound, unauthenticated } from "../../services/lib/errors.ts";
import type { Permission } from "../../services/lib/rights.ts";

export const A = "0190a0a0-0000-7000-8000-00000000000a";
export const B = "0190a0a0-0000-7000-8000-00000000000b";
const KEYS: Record<string, string> = {
  fm_good: A,
  fm_other: B,
  fm_third: "0190a0a0-0000-7000-8000-00000000000d",
};

type CallsPerDay = (companyId: string) => number | null;

export interface Sample {
  route: Omit<Route, "action">;
  contract: ActionContract;
  handler: (ctx: Ctx<Record<string, unknown>>) => unknown;
}

export interface TestGateway extends Gateway {
  broker: ServiceBroker;
  /** Number of key look-ups. */
  asked: { keys: number };
  /** Revoked keys. */
  revoked: Set<string>;
  stop(): Promise<void>;
}

function accounts(asked: { keys: number }, revoked: Set<string>, callsPerDay: CallsPerDay): ServiceSchema {
  return {
    name: "accounts",
    actions: {
      authenticateKey(ctx: Ctx<{ key: string }>) {
        asked.keys++;
        const companyId = KEYS[ctx.params.key];
        if (!companyId || revoked.has(ctx.params.key)) throw unauthenticated("Invalid API key.");
        return { companyId, apiKeyId: companyId, expiresAt: null, scopes: ["full"], allowedIps: [] };
      },
      membershipOf(ctx: Ctx<{ companyId: string }>) {
        if (ctx.params.companyId === B) throw notFound();
        return { role: "owner" };
      },
      planOf(ctx: Ctx) {
        return { plan: "x", features: [], limits: { api_calls_per_day: callsPerDay(ctx.meta.companyId!) } };
      },
    },
  } as ServiceSchema;
}

export async function startGateway(
  samples: Record<string, Sample>,
  options: {
    settings?: Partial<Config>;
    callsPerDay?: CallsPerDay;
    requestTimeoutMs?: number;
  } = {},
): Promise<TestGateway> {
  process.env.SECRET_KEY ??= "test-secret-test-secret-test-secret";
  const settings = {
    ...readConfig({ PORT: "0", BASE_URL: "https://api.example.com", TRUST_PROXY: "1", DRAIN_SECONDS: "3" }),
    ...options.settings,
  };
  const broker = new ServiceBroker({
    nodeID: `gateway-${process.pid}-${Math.random()}`,
    logger: false,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    validator: new AjvValidator(),
  });
  const asked = { keys: 0 };
  const revoked = new Set<string>();
  broker.createService(accounts(asked, revoked, options.callsPerDay ?? (() => null)));
  const actions = Object.entries(samples).map(([name, { contract, handler }]) => [
    name,
    { params: { ...contract.params }, handler },
  ]);
  broker.createService({ name: "sample", actions: Object.fromEntries(actions) } as ServiceSchema);
  await broker.start();
  const routes = Object.entries(samples).map(
    ([name, { route }]) => ({ ...route, action: `sample.${name}` }) as unknown as Route,
  );
  const contractOf = (action: string) => samples[action.slice("sample.".length)]!.contract;
  const personal = new Set(routes.flatMap(({ access, action }) => (access === "user" ? [String(action)] : [])));
  const permissionOf = (action: string): Permission => ({
    role: "viewer",
    scopes: personal.has(action) ? [] : ["read"],
  });
  const gateway = await openGateway(broker, { routes, contractOf, permissionOf, settings });
  return {
    ...gateway,
    broker,
    asked,
    revoked,
    stop: async () => {
      await gateway.drain();
      await broker.stop();
    },
  };
}

/** A route within a company, with JSON in and out unless overridden. */
export const sample = (
  route: Partial<Route> & Pick<Route, "method" | "path">,
  params: ActionContract["params"],
  returns: ActionContract["returns"],
  handler: Sample["handler"],
): Sample => ({
  route: { access: "company", answer: "json", status: 200, ...route },
  contract: { summary: "A sample", params, returns },
  handler,
});
