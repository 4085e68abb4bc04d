/** Events in `hits` and in email_events are one list for readers. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { beginErasure, erasedPerson, eraseStep } from "../../../models/statements/erase-person.ts";
import { personData } from "../../../models/statements/person-data.ts";
import { removeStep } from "../../../models/statements/remove-company.ts";
import { call } from "../../../services/call.ts";
import { removeOld } from "../../../services/campaigns/retention.ts";
import type { ParamsOf } from "../../../services/contracts.ts";
import { newIdAt } from "../../../services/lib/ids.ts";
import { CampaignLinks } from "../../../services/tracking/hits/campaign-links.ts";
import type { Hit } from "../../../services/tracking/hits/classify-hits.ts";
import { storeHits } from "../../../services/tracking/hits/store-hits.ts";
import { type App, startApp } from "../../support/app.ts";
import { storedEvents } from "../../support/stored-events.ts";
import { FIREFOX, LINKS, newWorld, type World } from "./world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["renderer", "tracking"] });
});
afterAll(() => app.stop());

type Asked = ParamsOf<"tracking.listEvents">;
const list = ({ companyId }: World, asked: Asked = {}) =>
  call(app.broker, "tracking.listEvents", asked, { meta: { companyId } });
const idsOf = async (world: World, asked: Asked = {}) => (await list(world, asked)).results.map(({ id }) => id);
const analyticsOf = ({ companyId, campaignId }: World) =>
  call(app.broker, "tracking.analytics", { id: campaignId }, { meta: { companyId } });
const counted = async ({ companyId }: World) =>
  (await queryOne<{ n: number }>("select count_of($1, 'events', $1) as n", [companyId]))!.n;

const store = (...hits: Hit[]) => storeHits(hits, new CampaignLinks());
const hit = (mail: World["mails"][number], at: number, link = 0, given: Partial<Hit> = {}): Hit => ({
  sentEmailId: mail.id,
  link,
  at: new Date(at),
  userAgent: FIREFOX,
  ip: "192.0.2.7",
  ...given,
});
const inHits = async ({ companyId }: World) => (await storedEvents(companyId)).filter(({ in_hits }) => in_hits).length;

/** Address that a row of `hits` cannot hold. */
const ZONED_IP = "fe80::7%eth0";

/** Creates two campaigns of one company with hits alternating between both tables, 40 seconds apart, oldest first. */
async function twoForms() {
  const world = await newWorld(3);
  const full = await newWorld(2, { id: world.companyId });
  const mails = [...world.mails, ...full.mails];
  const from = Date.now();
  const hits = Array.from({ length: 30 }, (_, n) => {
    const ip = n % 5 < 3 ? "192.0.2.7" : ZONED_IP;
    return { n, mail: mails[n % 5]!, at: from + n * 40_000, link: n % 4, ip };
  });
  for (const { mail, at, link, ip } of hits) await store(hit(mail, at, link, { ip }));
  expect(await inHits(world)).toBe(18);
  return { world, full, hits };
}

test("are listed with other events in one order, in both directions, and by every filter", async () => {
  const { world, full, hits } = await twoForms();
  const { count, results } = await list(world, { page_size: 100 });
  expect(count).toBe(30);
  expect(results.map(({ timestamp }) => Date.parse(timestamp))).toEqual(hits.map(({ at }) => at).toReversed());
  expect(
    results.map(({ type, recipient, sent_email_id, metadata }) => ({ type, recipient, sent_email_id, metadata })),
  ).toEqual(
    hits.toReversed().map(({ mail, link, ip }) => ({
      type: link === 0 ? "opened" : "clicked",
      recipient: mail.email,
      sent_email_id: mail.id,
      metadata: { user_agent: FIREFOX, ip, machine: false, ...(link > 0 ? { url: LINKS[link - 1] } : {}) },
    })),
  );
  const all = results.map(({ id }) => id);
  const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => idsOf(world, { page, page_size: 7 })));
  expect(pages.flat()).toEqual(all);
  for (const ordering of ["created_at", "timestamp"]) {
    expect(await idsOf(world, { ordering, page_size: 100 })).toEqual(all.toReversed());
  }
  const expected = (which: (one: (typeof hits)[number]) => boolean) =>
    all.filter((_, n) => which(hits.toReversed()[n]!));
  const iso = (n: number) => new Date(hits[n]!.at).toISOString();
  const [address, other] = [world.mails[1]!.email, full.mails[0]!.email];
  for (const [asked, which] of [
    [{ type: "clicked" }, ({ link }) => link > 0],
    [{ type: "bounced" }, () => false],
    [{ campaign: world.campaignId }, ({ mail }) => world.mails.includes(mail)],
    [{ campaign: full.campaignId, type: "opened" }, ({ mail, link }) => full.mails.includes(mail) && link === 0],
    [{ recipient: address.toUpperCase() }, ({ mail }) => mail.email === address],
    [{ recipient: other }, ({ mail }) => mail.email === other],
    [{ search: address.slice(0, 6) }, ({ mail }) => mail.email === address],
    [{ since: iso(4), until: iso(20) }, ({ n }) => n >= 4 && n < 20],
    [{ since: iso(11), campaign: world.campaignId }, ({ n, mail }) => n >= 11 && world.mails.includes(mail)],
  ] as [Asked, (one: (typeof hits)[number]) => boolean][]) {
    const found = await list(world, { ...asked, page_size: 100 });
    expect([asked, found.count, found.results.map(({ id }) => id)]).toEqual([
      asked,
      expected(which).length,
      expected(which),
    ]);
  }
  const stranger = await newWorld(1);
  for (const asked of [{}, { campaign: world.campaignId }, { recipient: address }]) {
    expect((await list(stranger, asked)).count).toBe(0);
  }
});

/** Inserts many hits quickly, one every 20 seconds, each of another message. */
const insertMany = ({ companyId, campaignId }: World, many: number) =>
  query(
    `insert into hits (id, company_no, campaign_no, seq, link, flags, ip, agent)
     select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint + n * 20000), 12, '0') || '7' || right(replace(gen_random_uuid()::text, '-', ''), 19))::uuid,
       o.no, c.no, (n * 7919) % $3 + 1, 0, 0, '198.51.100.77', $4
     from companies o join campaigns c on c.company_id = o.id and c.id = $2, generate_series(1, $3::int) n
     where o.id = $1 order by n`,
    [companyId, campaignId, many, FIREFOX],
  );

test("a row with its indexes takes less than 200 bytes, and a far page has the same order", async () => {
  const world = await newWorld(1);
  const size = async () =>
    (await queryOne<{ bytes: number }>(
      "select sum(pg_total_relation_size(inhrelid))::float8 as bytes from pg_inherits where inhparent = 'hits'::regclass",
    ))!.bytes;
  const before = await size();
  const many = 20_000;
  await insertMany(world, many);
  const bytes = ((await size()) - before) / many;
  // The row has 72 bytes plus the user agent, and each of the three indexes at most 40.
  expect(bytes).toBeGreaterThan(72 + FIREFOX.length);
  expect(bytes).toBeLessThan(200);
  const { count } = await list(world, { page_size: 1 });
  expect(count).toBe(many);
  await query(
    `insert into sent_emails (campaign_no, seq, email, status)
     select no, n, 'p' || n || '@example.com', 2 from campaigns, generate_series(2, $2::int) n where id = $1`,
    [world.campaignId, many],
  );
  for (const page of [1, 30, 199]) {
    const { results } = await list(world, { page, page_size: 100 });
    expect(results).toHaveLength(100);
    const times = results.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
  }
}, 120_000);

describe("a month without a table", () => {
  const parts = () =>
    query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'hits'::regclass order by 1",
    );

  test("gets one with its first hit", async () => {
    const world = await newWorld(1);
    const last = (await parts()).at(-1)!.name;
    const month = `${last.slice(5).replace("_", "-")}-01`;
    await query(`drop table ${last}`);
    await query("delete from hit_parts where month = $1", [month]);
    await store(hit(world.mails[0]!, Date.parse(month) + DAY_MS));
    expect((await parts()).at(-1)!.name).toBe(last);
    expect(await inHits(world)).toBe(1);
  });

  test("whose table cannot be created loses no hit: it is stored in email_events", async () => {
    const world = await newWorld(2);
    const at = Date.now() + 200 * DAY_MS;
    await store(hit(world.mails[0]!, at), hit(world.mails[1]!, at, 1));
    expect(await inHits(world)).toBe(0);
    expect(await list(world)).toMatchObject({ count: 2 });
    expect((await analyticsOf(world)).opens.total).toBe(1);
  });
});

test("links with their own address, and IP addresses with a zone, go to email_events, also in one batch with others", async () => {
  const world = await newWorld(3);
  const at = Date.now();
  await store(
    hit(world.mails[0]!, at, 2, { url: "https://example.org/own" }),
    hit(world.mails[1]!, at, 0, { ip: "fe80::1%eth0" }),
    hit(world.mails[2]!, at, 0, { ip: "2001:db8::7", userAgent: "" }),
  );
  expect(await inHits(world)).toBe(1);
  const { results } = await list(world, { page_size: 10 });
  expect(results.map(({ metadata }) => metadata)).toEqual(
    expect.arrayContaining([
      { user_agent: FIREFOX, ip: "192.0.2.7", machine: false, url: "https://example.org/own" },
      { user_agent: FIREFOX, ip: "fe80::1%eth0", machine: false },
      { user_agent: "", ip: "2001:db8::7", machine: true },
    ]),
  );
  expect(await counted(world)).toBe(3);
});

test("are exported and erased with the person; others' hits and counts stay", async () => {
  const { world } = await twoForms();
  const [ann, bob] = world.mails as [World["mails"][number], World["mails"][number]];
  await store(hit(bob, Date.now(), 0, { userAgent: `Reader of ${ann.email}` }));
  const { rows } = await personData(world.companyId, { id: ann.subscriberId, email: ann.email });
  expect(rows.events).toHaveLength(6);
  expect(rows.events[0]).toMatchObject({ recipient: ann.email, sent_email_id: ann.id, campaign_id: world.campaignId });
  const before = await analyticsOf(world);
  const person = await erasedPerson(world.companyId, ann.email);
  await transaction((on) => beginErasure(on, person, ann.email));
  let step = await eraseStep(person);
  while (!step.over) step = await eraseStep(person);
  expect(step.counts).toMatchObject({ events: 6, sent_emails: 1 });
  expect(await counted(world)).toBe(25);
  expect((await list(world)).count).toBe(25);
  expect(await analyticsOf(world)).toEqual(before);
  expect(await query("select agent from hits where agent like 'Reader%'")).toEqual([{ agent: "Reader of [address]" }]);
  await store(hit(ann, Date.now()));
  expect((await list(world)).count).toBe(25);
});

test("a hit stored while its message is being emptied is deleted with it", async () => {
  const world = await newWorld(1);
  const [ann] = world.mails as [World["mails"][number]];
  const person = await erasedPerson(world.companyId, ann.email);
  await transaction((on) => beginErasure(on, person, ann.email));
  await eraseStep(person);
  let emptying: Promise<unknown> | undefined;
  await transaction(async (on) => {
    // Like the statement that stores a hit: updates the message's row and inserts the hit.
    await query(
      "update sent_emails set opens = 1 where campaign_no = (select no from campaigns where id = $1)",
      [world.campaignId],
      on,
    );
    emptying = eraseStep(person);
    const waits = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while ((await query(waits)).length === 0) await new Promise(setImmediate);
    await query(
      `insert into hits select $1, o.no, c.no, 1, 0, 0, null, '' from companies o join campaigns c on c.company_id = o.id where c.id = $2`,
      [newIdAt(Date.now()), world.campaignId],
      on,
    );
  });
  await emptying;
  expect(
    await query("select from hits h join companies o on o.no = h.company_no where o.id = $1", [world.companyId]),
  ).toEqual([]);
});

const keepDays = (world: World, days: object) =>
  query("update companies set retention_days = $2, retention_done_at = null where id = $1", [world.companyId, days]);

test("become rows of email_events when their recipients are deleted, with the same list and counts", async () => {
  const { world } = await twoForms();
  const before = [await list(world, { page_size: 100 }), await analyticsOf(world), await counted(world)];
  const days = await query(
    "select day, sum(opens) as opens, sum(clicks) as clicks from company_days where company_id = $1 group by 1",
    [world.companyId],
  );
  await query("update campaigns set updated_at = now() - interval '61 days' where id = $1", [world.campaignId]);
  await keepDays(world, { sent_emails: 60 });
  await removeOld(app.broker);
  expect(
    await query("select from sent_emails s join campaigns c on c.no = s.campaign_no where c.id = $1", [
      world.campaignId,
    ]),
  ).toEqual([]);
  expect(await inHits(world)).toBe(0);
  expect([await list(world, { page_size: 100 }), await analyticsOf(world), await counted(world)]).toEqual(before);
  expect(
    await query(
      "select day, sum(opens) as opens, sum(clicks) as clicks from company_days where company_id = $1 group by 1",
      [world.companyId],
    ),
  ).toEqual(days);
  expect((await storedEvents(world.companyId)).filter(({ is_first }) => is_first).length).toBeGreaterThan(3);
});

/** An open a number of months ago, in its own partition. */
async function oldOpen(world: World, months: number): Promise<string> {
  const at = new Date();
  at.setUTCDate(15);
  at.setUTCMonth(at.getUTCMonth() - months);
  const month = `${at.toISOString().slice(0, 7)}-01`;
  await query("select add_hit_part($1)", [month]);
  await query("update campaigns set created_at = now() - interval '2 years' where id = $1", [world.campaignId]);
  await query("update sent_emails set sent_at = $2 where campaign_no = (select no from campaigns where id = $1)", [
    world.campaignId,
    new Date(at.getTime() - DAY_MS),
  ]);
  await store(hit(world.mails[0]!, at.getTime()));
  return `hits_${month.slice(0, 7).replace("-", "_")}`;
}
const isThere = async (table: string) =>
  (await queryOne<{ name: string | null }>("select to_regclass($1)::text as name", [table]))!.name !== null;

test("a month is dropped once no company keeps any of it, and before that is deleted by company", async () => {
  const [short, long] = [await newWorld(1), await newWorld(1)];
  const table = await oldOpen(short, 14);
  expect(await oldOpen(long, 14)).toBe(table);
  await store(hit(short.mails[0]!, Date.now()), hit(long.mails[0]!, Date.now()));
  const before = await analyticsOf(short);
  expect([(await list(short)).count, await inHits(short)]).toEqual([2, 2]);
  await keepDays(short, { events: 90 });
  await removeOld(app.broker);
  expect([await isThere(table), (await list(short)).count, (await list(long)).count]).toEqual([true, 1, 2]);
  // State of a run that was interrupted after the first company.
  await oldOpen(short, 14);
  await keepDays(long, { events: 90 });
  expect(await query("select detach_hit_part($1, null) as done", [`${table.slice(5).replace("_", "-")}-01`])).toEqual([
    { done: true },
  ]);
  await query("select drop_hit_part($1)", [`${table.slice(5).replace("_", "-")}-01`]);
  expect(await isThere(table)).toBe(true);
  await removeOld(app.broker);
  expect(await isThere(table)).toBe(false);
  expect([(await list(short)).count, await counted(short), (await list(long)).count, await counted(long)]).toEqual([
    1, 1, 1, 1,
  ]);
  expect((await analyticsOf(short)).opens.unique).toBe(before.opens.unique);
});

test("the current month, and one that a company keeps completely, are never dropped", async () => {
  const world = await newWorld(1);
  const table = await oldOpen(world, 3);
  const month = `${table.slice(5).replace("_", "-")}-01`;
  const now = `${new Date().toISOString().slice(0, 7)}-01`;
  expect(await query("select detach_hit_part($1, null) as a, detach_hit_part($2, 1) as b", [month, now])).toEqual([
    { a: false, b: false },
  ]);
  expect(await query("select drop_hit_part($1) as a", [month])).toEqual([{ a: false }]);
  expect((await list(world)).count).toBe(1);
});

test("hits of a deleted campaign are hidden at once and removed in the background, and those of a deleted company are removed", async () => {
  const { world } = await twoForms();
  await query("update campaigns set deleted_at = now(), recipients_state = 'hidden' where id = $1", [world.campaignId]);
  expect((await list(world)).count).toBe(12);
  await removeOld(app.broker);
  expect([await inHits(world), await counted(world)]).toEqual([0, 12]);
  const other = await newWorld(1, { id: world.companyId });
  await store(hit(other.mails[0]!, Date.now()));
  const { no } = (await queryOne<{ no: number }>("select no from companies where id = $1", [world.companyId]))!;
  await query("update companies set deleted_at = now() where id = $1", [world.companyId]);
  while (!(await removeStep(world.companyId)).over);
  expect(await query("select from hits where company_no = $1", [no])).toEqual([]);
});
