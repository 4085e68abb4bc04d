import { as, deliverAll, expanded, toReceivers, useWorld } from "./world.ts";

const world = useWorld();

test("the log has one entry when a campaign starts and one when it has ended", async () => {
  const info = jest.spyOn(world.app.broker.logger, "info").mockImplementation(() => {});
  try {
    const ask = as(world);
    const { id } = await ask("campaigns.sendToReceivers", toReceivers(world.company, [{ email: "ann@example.com" }]));
    await expanded(id);
    await deliverAll(id);
    await ask("campaigns.settle", { campaign_id: id });
    await ask("campaigns.settle", { campaign_id: id });
    const entries = info.mock.calls.filter(([, text]) => /^Campaign /.test(String(text)));
    expect(entries).toEqual([
      [{ campaignId: id, companyId: world.company.id, emails: 1 }, "Campaign started"],
      [{ campaignId: id, companyId: world.company.id, status: "completed", sent: 1, failed: 0 }, "Campaign ended"],
    ]);
  } finally {
    info.mockRestore();
  }
});
