/** Rows of messages omit computed and duplicate values; readers see complete messages. */
import { query, queryOne } from "../../../models/database/db.ts";
import { mailIds } from "../../../models/statements/mail-key.ts";
import { removeSubscribers } from "../../../models/statements/remove-subscribers.ts";
import { call } from "../../../services/call.ts";
import type { ParamsOf } from "../../../services/contracts.ts";
import { type App, startApp } from "../../support/app.ts";
import { storedEvents } from "../../support/stored-events.ts";
import { http, newWorld, token, type World } from "./world.ts";

let app: App;
let world: World;
let campaignNo: number;
let ids: string[];

/** Second campaign: one message to each subscriber, and one to an address without a subscriber. */
beforeEach(async () => {
  world = await newWorld(3);
  const campaign = await queryOne<{ no: number }>(
    `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id,
       worker_task_id, next_seq, expanded_at, expansion_began_at, no)
     select gen_random_uuid(), company_id, 'Second', 'to_list', 'completed', 4, 4, smtp_config_id, worker_task_id, 5, now(), now(),
       next_campaign_no()
     from campaigns where id = $1 returning no`,
    [world.campaignId],
  );
  campaignNo = campaign!.no;
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, tracking_enabled, links)
     select c.id, t.company_id, t.subject, t.body, t.sender_name, t.sender_email, t.list_id_name, t.list_id_ref, t.company_name,
       true, t.links
     from campaign_contents t, campaigns c where t.campaign_id = $1 and c.no = $2`,
    [world.campaignId, campaignNo],
  );
  await query(
    `insert into sent_emails (campaign_no, seq, subscriber_id, email, status, attempts, sent_at, smtp_response)
     select $1, n, s.id, s.email, 2, 1, now() - interval '1 hour', '2.0.0 Ok: queued as 4Zk3Wd1'
     from (select id, null as email, row_number() over (order by id) as n from unnest($2::uuid[]) id
       union all select null, 'Nobody@x.example', 4) s`,
    [campaignNo, world.mails.map(({ subscriberId }) => subscriberId)],
  );
  ids = (await mailIds()).of([1, 2, 3, 4].map((seq) => ({ campaign_no: campaignNo, seq })));
});
beforeAll(async () => {
  app = await startApp({ services: ["renderer", "tracking"] });
});
afterAll(() => app.stop());

const sent = (params: ParamsOf<"tracking.listSentEmails"> = {}) =>
  call(app.broker, "tracking.listSentEmails", params, { meta: { companyId: world.companyId } });
const idsOf = async (params: ParamsOf<"tracking.listSentEmails">) => (await sent(params)).results.map(({ id }) => id);

/** Ids in the order of the rows' subscribers. */
const emails = () =>
  world.mails.toSorted((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1)).map(({ email }) => email);

test("are listed newest first, page by page in both directions, with address, reply and subject", async () => {
  const all = await idsOf({});
  expect(all).toEqual([...ids.toReversed(), ...world.mails.map(({ id }) => id).toReversed()]);
  expect(await idsOf({ ordering: "created_at" })).toEqual(all.toReversed());
  const pages = await Promise.all([1, 2, 3, 4].map((page) => idsOf({ page, page_size: 2 })));
  expect(pages.flat()).toEqual(all);
  const { results } = await sent({ page_size: 2 });
  expect(results).toMatchObject([
    { recipient: "Nobody@x.example", subscriber_id: null, smtp_response: "2.0.0 Ok: queued as 4Zk3Wd1" },
    { recipient: emails()[2], smtp_response: "2.0.0 Ok: queued as 4Zk3Wd1", status: "sent" },
  ]);
  expect(results[0]!.subject).toContain("Hello");
  expect(results[0]!.message_id).toMatch(/^<[\w-]{22}@acme\.example>$/);
});

test("are found by campaign, status and recipient, with and without a subscriber, in any case", async () => {
  const campaign = (await queryOne<{ id: string }>("select id from campaigns where no = $1", [campaignNo]))!.id;
  expect(await idsOf({ campaign })).toEqual(ids.toReversed());
  await query("update sent_emails set status = 3, error = 'Refused' where campaign_no = $1 and seq = 2", [campaignNo]);
  await query("update campaigns set failed_count = 1, status = 'partial' where no = $1", [campaignNo]);
  expect(await idsOf({ status: "failed" })).toEqual([ids[1]]);
  expect(await idsOf({ recipient: "nobody@X.example" })).toEqual([ids[3]]);
  const [first] = emails();
  const ofFirstCampaign = world.mails.find(({ email }) => email === first)!.id;
  expect(await idsOf({ recipient: first!.toUpperCase() })).toEqual([ids[0], ofFirstCampaign]);
  expect(await idsOf({ search: first!.slice(0, 9) })).toEqual([ids[0], ofFirstCampaign]);
});

test("keep the address when their subscriber changes it or is deleted", async () => {
  const [first, second] = emails() as [string, string];
  await query("update subscribers set email = 'new@x.example' where company_id = $1 and email = $2", [
    world.companyId,
    first,
  ]);
  expect((await idsOf({ recipient: first })).slice(0, 1)).toEqual([ids[0]]);
  expect(await idsOf({ recipient: "new@x.example" })).not.toContain(ids[0]);
  const gone = world.mails.find(({ email }) => email === second)!;
  await removeSubscribers(world.companyId, [gone.subscriberId]);
  expect(await idsOf({ recipient: second })).toEqual(expect.arrayContaining([ids[1], gone.id]));
});

test("count opens and clicks from zero, with the subscriber's address in the event", async () => {
  const meta = http();
  await call(app.broker, "tracking.open", { token: token(ids[0]!, 0) }, { meta });
  const { headers } = await call(app.broker, "tracking.click", { token: token(ids[0]!, 1) }, { meta });
  expect(headers).toMatchObject({ location: "https://example.com/one" });
  expect(
    await queryOne("select opens, clicks from sent_emails where campaign_no = $1 and seq = 1", [campaignNo]),
  ).toEqual({ opens: 1, clicks: 1 });
  const of = { sent_email_id: ids[0], recipient: emails()[0] };
  expect(await storedEvents(world.companyId)).toMatchObject([
    { ...of, type: "opened" },
    { ...of, type: "clicked" },
  ]);
});

test("have pages at the computed id only, not at a changed one", async () => {
  const meta = http();
  const page = await call(app.broker, "tracking.unsubscribePage", { sent_email_id: ids[2]! }, { meta });
  expect(page.body).toContain(emails()[2]);
  const view = await call(app.broker, "tracking.view", { sent_email_id: ids[3]! }, { meta });
  expect(view.body).toContain("Hi");
  await call(app.broker, "tracking.unsubscribe", { sent_email_id: ids[3]!, "List-Unsubscribe": "One-Click" }, { meta });
  expect(await query("select email from suppressions where company_id = $1", [world.companyId])).toEqual([
    { email: "Nobody@x.example" },
  ]);
  const forged = ids[2]!.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
  const nobody = await call(app.broker, "tracking.unsubscribePage", { sent_email_id: forged }, { meta });
  expect(nobody.body).toContain("This page does not exist");
});
