import { ServiceBroker, type ServiceSchema } from "moleculer";
import { AjvValidator } from "../../../mixins/ajv-validator.ts";
import { events } from "../../../services/events.ts";

const CAMPAIGN = "0190a0a0-0000-7000-8000-00000000000a";

describe("events", () => {
  const received: unknown[] = [];
  const errors: unknown[][] = [];
  const broker = new ServiceBroker({
    logger: false,
    validator: new AjvValidator(events),
    skipProcessEventRegistration: true,
  });
  jest.spyOn(broker.logger, "error").mockImplementation((...args: unknown[]) => void errors.push(args));
  broker.createService({
    name: "listener",
    events: {
      "campaign.pending": (ctx: { params: unknown }) => void received.push(ctx.params),
      "other.event": (ctx: { params: unknown }) => void received.push(ctx.params),
    },
  } as unknown as ServiceSchema);
  beforeAll(() => broker.start());
  afterAll(() => broker.stop());
  beforeEach(() => {
    received.length = 0;
    errors.length = 0;
  });

  test.each(["emit", "broadcast"] as const)("%s delivers a valid payload", async (send) => {
    await broker[send]("campaign.pending", { campaignId: CAMPAIGN });
    expect(received).toEqual([{ campaignId: CAMPAIGN }]);
    expect(errors).toEqual([]);
  });

  test.each(["emit", "broadcast"] as const)("%s refuses an invalid payload with a logged error", async (send) => {
    await broker[send]("campaign.pending", { campaignId: "17" });
    expect(received).toEqual([]);
    expect(errors).toEqual([
      [
        { event: "campaign.pending", errors: { campaignId: ["Must be a valid UUID."] } },
        "Not sent: the payload of campaign.pending is invalid",
      ],
    ]);
  });

  test("a listener refuses an invalid payload of another node with a logged error", async () => {
    // Emits like the transit: bypasses the sender's check.
    const ctx = broker.ContextFactory.create(broker as never, null as never, {}, {});
    Object.assign(ctx, { eventName: "campaign.pending", eventType: "emit", eventGroups: ["listener"] });
    await (broker as unknown as { emitLocalServices(ctx: unknown): Promise<unknown> }).emitLocalServices(ctx);
    expect(received).toEqual([]);
    expect(errors).toEqual([
      [
        { event: "campaign.pending", errors: { campaignId: ["This field is required."] } },
        "Not handled: the payload of campaign.pending is invalid",
      ],
    ]);
  });

  test("an event without a schema passes", async () => {
    await broker.emit("other.event", { anything: 1 });
    expect(received).toEqual([{ anything: 1 }]);
  });
});
