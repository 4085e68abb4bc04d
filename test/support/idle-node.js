// A process with all services that reports, once it has started, which packages it has loaded and what keeps it alive.
import { existsSync, readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";

const packages = new Set();
registerHooks({
  load(url, context, next) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name) packages.add(name);
    return next(url, context);
  },
});

const SERVICES = join(import.meta.dirname, "../../services");
// After the hook: it sees what is loaded from then on.
const { ServiceBroker } = await import("moleculer");
const { brokerOptions } = await import("../../moleculer.config.ts");
const { config } = await import("../../services/lib/config.ts");
const broker = new ServiceBroker(brokerOptions(config()));
for (const name of readdirSync(SERVICES)) {
  const file = join(SERVICES, name, `${name}.service.ts`);
  if (existsSync(file)) broker.createService((await import(file)).default);
}
await broker.start();
process.send({
  packages: [...packages].toSorted(),
  // Of Node itself.
  builtins: process.moduleLoadList,
  resources: process.getActiveResourcesInfo(),
});
process.once("message", async () => {
  await broker.stop();
  process.exit();
});
