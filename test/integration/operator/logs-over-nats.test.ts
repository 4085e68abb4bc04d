import { ServiceBroker } from "moleculer";
import { callIds, logger } from "../../../mixins/logging.middleware.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { type Server, startNats } from "../../support/servers.ts";

const settings = readConfig({ DATABASE_URL: "postgres://x/y", SECRET_KEY: "0123456789abcdef" });

describe("a request over two nodes", () => {
  const lines: Record<string, unknown>[] = [];
  let nats: Server;
  let nodes: ServiceBroker[];

  beforeAll(async () => {
    nats = await startNats();
    const write = (line: string) => lines.push(JSON.parse(line));
    const base = logger(settings) as unknown as { options: { pino: object } };
    const options = { ...base.options, pino: { ...base.options.pino, destination: { write } } };
    nodes = ["first", "second"].map(
      (nodeID) =>
        new ServiceBroker({
          nodeID,
          namespace: `logs-${process.pid}`,
          transporter: nats.url as never,
          logger: { type: "Pino", options } as never,
          middlewares: [callIds],
        }),
    );
    const [first, second] = nodes as [ServiceBroker, ServiceBroker];
    second.createService({
      name: "inner",
      actions: { work: (ctx) => void ctx.broker.logger.info("on the other node") },
      events: { "campaign.queued": (ctx) => void ctx.broker.logger.info("heard of it") },
    });
    first.createService({
      name: "outer",
      actions: {
        async work(ctx) {
          await ctx.call("inner.work", { campaign_id: "c1" });
          await ctx.emit("campaign.queued", { campaignId: "c1", companyId: "k1" });
          ctx.broker.logger.info("and back");
        },
      },
    });
    await Promise.all(nodes.map((node) => node.start()));
    await first.waitForServices("inner");
    await first.call("outer.work", {}, { meta: { requestId: "r1", companyId: "k1" } });
    while (!lines.some(({ msg }) => msg === "heard of it")) await new Promise((done) => setTimeout(done, 5));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await nats.stop();
  });

  test.each([
    ["an action", "on the other node", { nodeID: "second", requestId: "r1", companyId: "k1", campaignId: "c1" }],
    ["an event", "heard of it", { nodeID: "second", requestId: "r1", companyId: "k1", campaignId: "c1" }],
    ["the caller", "and back", { nodeID: "first", requestId: "r1", companyId: "k1" }],
  ])("%s logs the same ids", (_, text, ids) => {
    expect(lines.find(({ msg }) => msg === text)).toMatchObject(ids);
  });
});
