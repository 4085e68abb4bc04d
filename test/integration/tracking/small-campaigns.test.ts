/** A company that sends receipts has a campaign for each: its list of mails is not that of one large campaign. */
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

test("a page of sent mails reads no subscriber but those of its mails, also beside large campaigns of others", async () => {
  await newWorld(20_000);
  const { companyId } = await newWorld(2_000);
  // From here on every campaign is taken for one of some thousand mails.
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
