/** Tests which compiled campaigns a node keeps. */
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
afterEach(() => jest.useRealTimers());
afterAll(() => app?.stop());

const newCampaign = () => campaign({ companyId: company.id, body: "<p>[[email]]</p>" });

test("a compiled campaign is cached for five minutes, and many small ones use no more memory than those of that time", async () => {
  jest.useFakeTimers({
    doNotFake: ["performance", "nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "Date"],
  });
  const kept = new CompiledCampaigns();
  const old = await Promise.all(Array.from({ length: 20 }, newCampaign));
  const compiled = await Promise.all(old.map((id) => kept.get(id)));
  expect(await kept.get(old[0]!)).toBe(compiled[0]);
  expect(kept.size).toBe(20);
  const now = performance.now();
  const later = jest.spyOn(performance, "now").mockReturnValue(now + 6 * 60_000);
  jest.advanceTimersByTime(6 * 60_000);
  later.mockRestore();
  expect(kept.size).toBe(0);
});
