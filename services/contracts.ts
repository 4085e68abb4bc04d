/** All contracts: service name → action → contract. */
import { contract as accounts } from "./accounts/contract.ts";
import { contract as bounces } from "./bounces/contract.ts";
import { contract as campaigns } from "./campaigns/contract.ts";
import { contract as console } from "./console/contract.ts";
import type { ActionContract } from "./define.ts";
import type { Static } from "./lib/shapes.ts";
import { contract as operator } from "./operator/contract.ts";
import { contract as renderer } from "./renderer/contract.ts";
import { contract as smtpSender } from "./smtp-sender/contract.ts";
import { contract as subscribers } from "./subscribers/contract.ts";
import { contract as tracking } from "./tracking/contract.ts";
import { contract as webhooks } from "./webhooks/contract.ts";

export const contracts = {
  accounts,
  subscribers,
  campaigns,
  renderer,
  "smtp-sender": smtpSender,
  tracking,
  webhooks,
  bounces,
  console,
  operator,
} as const;

type Contracts = typeof contracts;
type ServiceName = keyof Contracts;

/** "subscribers.get" and the like: every action that exists. */
export type ActionOf = { [S in ServiceName]: `${S}.${keyof Contracts[S] & string}` }[ServiceName];

type ContractOf<A extends ActionOf> = A extends `${infer S extends ServiceName}.${infer K}`
  ? K extends keyof Contracts[S]
    ? Contracts[S][K] extends ActionContract
      ? Contracts[S][K]
      : never
    : never
  : never;

export type ParamsOf<A extends ActionOf> = Static<ContractOf<A>["params"]>;
export type ReturnsOf<A extends ActionOf> = Static<ContractOf<A>["returns"]>;

export function contractOf(action: string): ActionContract {
  const [service, name] = action.split(".") as [ServiceName, string];
  const found = (contracts[service] as Record<string, ActionContract> | undefined)?.[name];
  if (!found) throw new Error(`No contract for ${action}`);
  return found;
}
