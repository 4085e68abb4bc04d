/** What every node answers beside its services: an operator's console asks each one how it is (`health`). */
import type { BrokerOptions, Context, Service } from "moleculer";
import { type Report, report } from "./health.middleware.ts";

export interface NodeReport extends Report {
  services: string[];
  pid: number;
  uptime_seconds: number;
  memory_bytes: number;
}

async function ready(this: Service, _ctx: Context): Promise<NodeReport> {
  const { broker } = this;
  return {
    ...(await report(broker)),
    services: broker.services.map(({ name }) => name).filter((name) => !name.startsWith("$")),
    pid: process.pid,
    uptime_seconds: Math.round(process.uptime()),
    memory_bytes: process.memoryUsage.rss(),
  };
}

export const nodeActions = (): BrokerOptions["internalServices"] =>
  ({ $node: { name: "$node", actions: { ready } } }) as BrokerOptions["internalServices"];
