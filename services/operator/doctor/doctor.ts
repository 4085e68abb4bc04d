/** Runs all checks of a running service in parallel. Checks change nothing and never show a secret. */
import type { ParamsOf } from "../../contracts.ts";
import type { Ctx } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { nodes } from "../nodes.ts";
import { unreadableSecrets } from "../reseal.ts";
import { companyChecks } from "./company-checks.ts";
import { databaseChecks } from "./database-checks.ts";
import { type Finding, runChecks } from "./finding.ts";
import { machineChecks } from "./machine-checks.ts";
import { nodeChecks } from "./node-checks.ts";
import { natsChecks, redisChecks } from "./server-checks.ts";
import { settingsChecks } from "./settings-checks.ts";

export function examine(ctx: Ctx<ParamsOf<"operator.doctor">>): Promise<Finding[]> {
  const settings = config();
  const asked = nodes(ctx, { vitals: true });
  const poolSizes = asked.then((all) => all.flatMap(({ report }) => report?.database_pool ?? []));
  // A check awaits each of these later; without a handler an early failure would be an unhandled rejection.
  for (const one of [asked, poolSizes]) one.catch(() => {});
  return runChecks([
    ...databaseChecks(settings, poolSizes),
    ...redisChecks(),
    ...natsChecks(ctx.broker),
    ...nodeChecks(asked, ctx.params.version),
    ...settingsChecks(settings, unreadableSecrets),
    ...machineChecks(settings),
    ...companyChecks(),
  ]);
}
