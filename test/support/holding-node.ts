/**
 * A node of the TRANSPORTER cluster that tests kill or stop, with the service HOLDING (default "holding"). `hold` never
 * answers, `held` counts calls of it, `where` returns the node id, and `read` also counts the bytes of a stream. Prints
 * "ready" when it serves.
 */
import type { Readable } from "node:stream";
import { ServiceBroker } from "moleculer";
import { leave } from "../../mixins/leave.middleware.ts";
import { uploads } from "../../mixins/uploads.middleware.ts";
import { openDatabase } from "../../models/database/db.ts";
import { brokerOptions } from "../../moleculer.config.ts";
import { readConfig } from "../../services/lib/config.ts";

const broker = new ServiceBroker({
  ...brokerOptions(readConfig(process.env, { console: true })),
  middlewares: [uploads(), leave()],
  skipProcessEventRegistration: true,
});
if (process.env.DATABASE_URL) openDatabase(process.env.DATABASE_URL, 2);
let held = 0;
broker.createService({
  name: process.env.HOLDING ?? "holding",
  actions: {
    hold: () => {
      held++;
      return new Promise(() => {});
    },
    held: () => held,
    where: ({ broker: { nodeID } }) => nodeID,
    read: async (ctx) => {
      let bytes = 0;
      for await (const piece of (ctx as unknown as { stream: Readable }).stream) bytes += (piece as Buffer).length;
      return { where: ctx.broker.nodeID, bytes };
    },
  },
});
process.once("SIGTERM", () => void broker.stop());
await broker.start();
process.stdout.write(`ready as process ${process.pid}, node ${broker.nodeID}\n`);
