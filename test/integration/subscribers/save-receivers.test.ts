/** Receivers of sends become subscribers by rows: whatever happens to a process, they are saved later, and once. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { linkMails } from "../../../models/statements/save-receivers.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { lockBulkWrites } from "../../../services/subscribers/company-locks.ts";
import { saveWaiting } from "../../../services/subscribers/save-receivers.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["accounts", "gateway"] });
});
beforeEach(async () => {
  company = await newCompany(app);
});
afterEach(() => query("delete from unsaved_receivers"));
afterAll(() => app?.stop());

interface Given {
  email: string;
  first_name?: string;
  last_name?: string;
}

/** As a campaign leaves them whose recipients are written. */
async function keep(receivers: Given[], of = company): Promise<string> {
  const campaign = newId();
  for (const [n, { email, first_name = "", last_name = "" }] of receivers.entries()) {
    await query("insert into unsaved_receivers values ($1, $2, $3, $4, $5, $6)", [
      of.id,
      campaign,
      n + 1,
      email,
      first_name,
      last_name,
    ]);
  }
  return campaign;
}

/** A mail of a campaign, which is there from its first mail on. */
async function mail(campaign: string, seq: number, email: string): Promise<void> {
  await query(
    `insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id)
     values ($1, $2, 'N', 'sending', 'custom', uuid_v7(), uuid_v7()) on conflict do nothing`,
    [campaign, company.id],
  );
  await query(
    `insert into sent_emails (company_id, campaign_id, campaign_no, seq, email)
     select company_id, id, no, $2, $3 from campaigns where id = $1`,
    [campaign, seq, email],
  );
}

const saved = (of = company) =>
  query<{ id: string; email: string; first_name: string; last_name: string }>(
    "select id, email, first_name, last_name from subscribers where company_id = $1 order by email_key",
    [of.id],
  );
const waiting = async () => (await queryOne<{ n: number }>("select count(*) n from unsaved_receivers"))!.n;

test("fills in blank names, changes nothing else, and cleans what a line of text cannot hold", async () => {
  await query("insert into subscribers (company_id, email, first_name) values ($1, 'ann@x.org', 'Ann')", [company.id]);
  await keep([
    { email: " ANN@x.org", first_name: "Other", last_name: "Lee" },
    { email: "New@x.org", first_name: "N\r\nB" },
    { email: "nonsense" },
  ]);
  expect(await saveWaiting(app.broker)).toBe(3);
  expect(await saved()).toMatchObject([
    { email: "ann@x.org", first_name: "Ann", last_name: "Lee" },
    { email: "New@x.org", first_name: "N B", last_name: "" },
  ]);
  expect(await waiting()).toBe(0);
});

test("links the mails that are on their way: those of their own campaign, to whatever number", async () => {
  const campaign = await keep([{ email: "A@x.org" }, { email: "b@x.org" }]);
  const other = await keep([{ email: "b@x.org" }]);
  await mail(campaign, 1, "a@x.org");
  await mail(campaign, 2, "b@x.org");
  await mail(other, 1, "B@x.org");
  await mail(newId(), 1, "stranger@x.org");
  await saveWaiting(app.broker);
  const ids = Object.fromEntries((await saved()).map(({ email, id }) => [email, id]));
  const linked = "select lower(email) as email, subscriber_id from sent_emails where company_id = $1 order by 1, id";
  expect(await query(linked, [company.id])).toEqual([
    { email: "a@x.org", subscriber_id: ids["A@x.org"] },
    { email: "b@x.org", subscriber_id: ids["b@x.org"] },
    { email: "b@x.org", subscriber_id: ids["b@x.org"] },
    { email: "stranger@x.org", subscriber_id: null },
  ]);
});

test("links the mails behind receivers who were left out, however many are saved at once", async () => {
  const people = Array.from({ length: 2_500 }, (_, n) => ({ email: `p${n}@x.org` }));
  const campaign = newId();
  const LEFT_OUT = 3;
  await mail(campaign, 1, people[0]!.email);
  await query("update campaigns set suppressed_count = $2 where id = $1", [campaign, LEFT_OUT]);
  // The first has its number; who was left out stands behind it, so that the others' numbers are lower by three.
  await query(
    `insert into sent_emails (company_id, campaign_id, campaign_no, seq, email)
     select c.company_id, c.id, c.no, n + 1, 'p' || (n + $2) || '@x.org' from campaigns c, generate_series(1, $3::int) n where c.id = $1`,
    [campaign, LEFT_OUT, people.length - 1 - LEFT_OUT],
  );
  await query(
    `insert into unsaved_receivers select $1, $2, n + 1, 'p' || n || '@x.org', '', ''
     from generate_series(0, $3::int - 1) n where n not between 1 and $4`,
    [company.id, campaign, people.length, LEFT_OUT],
  );
  await saveWaiting(app.broker);
  expect(await query("select from sent_emails where company_id = $1 and subscriber_id is null", [company.id])).toEqual(
    [],
  );
  // Where they cannot be subscribers (the plan's limit, say) they stay as they are, and are not read again for the next.
  await query("update sent_emails set subscriber_id = null where company_id = $1", [company.id]);
  const batch = { campaign_id: campaign, first_name: "", last_name: "" };
  const last = [2_499, 2_500].map((no) => ({ ...batch, no, email: `p${no - 1}@x.org` }));
  const READ =
    "select sum(seq_tup_read + idx_tup_fetch)::int as n from pg_stat_xact_user_tables where relname like 'sent_emails%'";
  const LINKED = "select from sent_emails where company_id = $1 and subscriber_id is not null";
  const { read, linked } = await transaction(async (client) => {
    const readYet = async () => (await queryOne<{ n: number }>(READ, [], client))!.n;
    const before = await readYet();
    await linkMails(client, company.id, last);
    return { read: (await readYet()) - before, linked: (await query(LINKED, [company.id], client)).length };
  });
  expect(linked).toBe(last.length);
  expect(read).toBeLessThan(50);
});

test("up to the plan's limit, in order; the rest is not kept for ever", async () => {
  await query("update plans set subscribers = 2 where name = 'starter'");
  await call(app.broker, "accounts.setPlan", { company_id: company.id, plan: "starter" });
  await keep(["c", "a", "d", "C"].map((name) => ({ email: `${name}@x.org` })));
  await saveWaiting(app.broker);
  expect((await saved()).map(({ email }) => email)).toEqual(["a@x.org", "c@x.org"]);
  expect(await waiting()).toBe(0);
});

test("a company that is being written to waits, without a connection, and the others do not", async () => {
  const other = await newCompany(app);
  await keep([{ email: "a@x.org" }]);
  await keep([{ email: "b@x.org" }], other);
  await transaction(async (client) => {
    await lockBulkWrites(client, company.id);
    expect(await saveWaiting(app.broker)).toBe(1);
    expect([await saved(), (await saved(other)).length, await waiting()]).toEqual([[], 1, 1]);
  });
  expect(await saveWaiting(app.broker)).toBe(1);
  expect(await saved()).toHaveLength(1);
});

const END_WAITING =
  "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

test("a save that fails halfway leaves all of it to the next, and the other companies' goes through", async () => {
  const other = await newCompany(app);
  const campaign = await keep([{ email: "a@x.org" }]);
  await keep([{ email: "b@x.org" }], other);
  await mail(campaign, 1, "a@x.org");
  // The last statement of the transaction waits for this row, and loses its connection there.
  await transaction(async (client) => {
    await query("select from sent_emails where campaign_id = $1 for update", [campaign], client);
    let over = false;
    const saving = saveWaiting(app.broker).finally(() => (over = true));
    while (!over) await query(END_WAITING);
    await saving;
    expect([await saved(), (await saved(other)).length, await waiting()]).toEqual([[], 1, 1]);
  });
  await saveWaiting(app.broker);
  expect([(await saved()).length, (await saved(other)).length, await waiting()]).toEqual([1, 1, 0]);
});

test("five thousand receivers of one send are all saved by one run", async () => {
  await query(
    "insert into unsaved_receivers select $1, $2, n, 'r' || n || '@x.org', '', '' from generate_series(1, 5000) n",
    [company.id, newId()],
  );
  expect(await saveWaiting(app.broker)).toBe(5_000);
  expect(await saved()).toHaveLength(5_000);
});
