import { ServiceBroker } from "moleculer";
import { callIds, logger } from "../../../mixins/logging.middleware.ts";
import { readConfig } from "../../../services/lib/config.ts";

const lines: Record<string, unknown>[] = [];
const settings = readConfig({ DATABASE_URL: "postgres://x/y", SECRET_KEY: "0123456789abcdef" });
const base = logger(settings) as { type: "Pino"; options: { pino: object } };
const destination = { write: (line: string) => lines.push(JSON.parse(line)) };

const broker = new ServiceBroker({
  logger: { ...base, options: { ...base.options, pino: { ...base.options.pino, destination } } } as never,
  middlewares: [callIds],
});
let later: () => void = () => {};

broker.createService({
  name: "outer",
  actions: {
    send: (ctx) => ctx.call("inner.deliver", { campaign_id: "c1" }),
    begin(this: { logger: { info(text: string): void } }) {
      later = () => this.logger.info("a loop that goes on");
    },
  },
});
broker.createService({
  name: "inner",
  actions: {
    deliver(this: { logger: { info(text: string): void; error(text: string, error: Error): void } }) {
      this.logger.info("delivering");
      this.logger.error("cannot connect:", Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
    },
  },
});

beforeAll(async () => {
  await broker.start();
  await broker.call("outer.send", {}, { meta: { requestId: "r1", companyId: "k1" } });
});
afterAll(() => broker.stop());

const lineOf = (text: string) => lines.find(({ msg }) => msg === text);

describe("logging", () => {
  test("each entry is one JSON line with time, level, node and service", () => {
    expect(lineOf("delivering")).toMatchObject({ level: "info", nodeID: broker.nodeID, svc: "inner" });
    expect(Date.parse(lineOf("delivering")!.time as string)).toBeGreaterThan(0);
  });

  test("a line written in a nested call carries the ids of the request, the company and the campaign", () => {
    expect(lineOf("delivering")).toMatchObject({ requestId: "r1", companyId: "k1", campaignId: "c1" });
  });

  test("an error behind a sentence is not lost", () => {
    expect(lineOf("cannot connect:")).toMatchObject({ error: { message: "refused", code: "ECONNREFUSED" } });
  });

  test("work that continues after its call logs without the call's ids", async () => {
    await broker.call("outer.begin", {}, { meta: { requestId: "r2", companyId: "k2" } });
    later();
    expect(lineOf("a loop that goes on")).not.toHaveProperty("requestId");
  });
});
