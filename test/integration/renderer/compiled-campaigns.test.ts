/** What a node keeps of the campaigns that it sent a while ago. */
import { CompiledCampaigns } from "../../../services/renderer/compiled-campaign.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign } from "../../support/campaign-rows.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "renderer"] });
  company = await newCompany(app);
});
afterAll(() => app?.stop());

const newCampaign = () => campaign({ companyId: company.id, body: "<p>[[email]]</p>" });

test("a campaign is kept for five minutes, and with many small ones memory does not grow beyond those of that time", async () => {
  const kept = new CompiledCampaigns();
  const old = await Promise.all(Array.from({ length: 20 }, newCampaign));
  const compiled = await Promise.all(old.map((id) => kept.get(id)));
  expect(await kept.get(old[0]!)).toBe(compiled[0]);
  const now = performance.now.bind(performance);
  const later = jest.spyOn(performance, "now").mockImplementation(() => now() + 6 * 60_000);
  try {
    // Its clock is read once in a millisecond.
    await new Promise((done) => setTimeout(done, 5));
    await kept.get(await newCampaign());
    expect(kept.size).toBe(1);
  } finally {
    later.mockRestore();
  }
});
