/** A node of the cluster of TRANSPORTER with one action, which never answers: to be killed by tests. Says "ready" when it serves. */
import { ServiceBroker } from "moleculer";
import { brokerOptions } from "../../moleculer.config.ts";
import { readConfig } from "../../services/lib/config.ts";

const broker = new ServiceBroker({
  ...brokerOptions(readConfig(process.env, { console: true })),
  middlewares: [],
  skipProcessEventRegistration: true,
});
broker.createService({ name: "holding", actions: { hold: () => new Promise(() => {}) } });
await broker.start();
process.stdout.write(`ready as process ${process.pid}, node ${broker.nodeID}\n`);
