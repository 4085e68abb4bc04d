/** Lists of messages of a company that sends receipts, one campaign each. */
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { capturePlans, nodesOf, rowsOf } from "../../support/captured-plans.ts";
import { newWorld } from "./world.ts";

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["renderer", "tracking"] });
});
afterAll(() => app.stop());

test("a page of sent emails reads only its own subscribers, also beside large campaigns of others", async () => {
  await newWorld(20_000);
  const { companyId } = await newWorld(2_000);
  // The planner now expects about a thousand messages per campaign.
  await query("analyze campaigns, subscribers, sent_emails");
  for (let n = 0; n < 25; n++) await newWorld(1, { id: companyId });
  const plans = capturePlans();
  const read = await plans
    .of(() => call(app.broker, "tracking.listSentEmails", {}, { meta: { companyId } }))
    .finally(plans.stop);
  const ofSubscribers = read
    .flatMap(({ root }) => nodesOf(root))
    .filter((node) => node["Relation Name"] === "subscribers");
  const rows = ofSubscribers.reduce((sum, node) => sum + rowsOf(node), 0);
  // Twenty for the page, and as many for its subjects.
  expect(rows).toBeGreaterThan(19);
  expect(rows).toBeLessThan(100);
});
