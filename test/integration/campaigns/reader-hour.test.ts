/** Campaigns at each recipient's local hour. Tests move due times instead of waiting. */
import { query } from "../../../models/database/db.ts";
import { releaseDueChunks } from "../../../services/campaigns/expansion/release-due-chunks.ts";
import { settle } from "../../../services/campaigns/lifecycle/settle.ts";
import { newId } from "../../../services/lib/ids.ts";
import { as, campaignRow, expanded, newCompany, recipients, toList, until, useCompany, useWorld } from "./world.ts";

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

describe('timezone: "recipient"', () => {
  const world = useWorld();
  const company = useCompany();
  const ask = () => as(world, company);

  /** Subscribers by name, each with a value of the attribute `timezone`, or none if undefined. */
  const people = (zones: Record<string, unknown>, of = company) =>
    query(
      `with added as (
         insert into subscribers (company_id, email, attributes)
         select $1, p.key || '@example.com', coalesce(p.value, '{}') from jsonb_each($3::jsonb) p
         returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
      [
        of.id,
        of.list,
        JSON.stringify(
          Object.fromEntries(
            Object.entries(zones).map(([name, timezone]) => [name, timezone === undefined ? {} : { timezone }]),
          ),
        ),
      ],
    );
  const send = async (scheduled_for: string, extra: object = {}) =>
    ask()("campaigns.sendToList", toList(company, { scheduled_for, timezone: "recipient", ...extra }));
  const read = (id: string) => ask()("campaigns.get", { id });

  interface Chunk {
    lo: number;
    hi: number;
    state: number;
    due_at: Date | null;
  }
  const chunks = (id: string) =>
    query<Chunk>("select lo, hi, state, due_at from send_chunks where campaign_id = $1 order by no", [id]);

  /** Due time of each recipient in hours from now, rounded to quarters; null: at once. */
  async function hours(id: string, from = Date.now()): Promise<Record<string, number | null>> {
    const runs = await chunks(id);
    return Object.fromEntries(
      (await recipients(id)).map(({ seq, email }) => {
        const due = runs.find(({ lo, hi }) => lo <= seq && seq <= hi)!.due_at;
        return [email.split("@")[0]!, due && Math.round(((due.getTime() - from) / HOUR_MS) * 4) / 4];
      }),
    );
  }
  /** Delivers the chunks that a sender may claim. */
  const deliverReady = async (id: string): Promise<string[]> => {
    const seen = (await recipients(id)).filter(({ status }) => status === 0);
    const ready = (await chunks(id)).filter(({ state }) => state === 0);
    await query(
      `with ready as (update send_chunks set state = 2 where campaign_id = $1 and state = 0 returning lo, hi),
         sent as (update sent_emails e set status = 2 from ready r
           where e.campaign_no = (select no from campaigns where id = $1) and e.seq between r.lo and r.hi and e.status = 0
           returning 1)
       update campaigns set status = 'sending', sent_count = sent_count + (select count(*) from sent) where id = $1`,
      [id],
    );
    const isOf = (seq: number) => ready.some(({ lo, hi }) => lo <= seq && seq <= hi);
    return seen.flatMap(({ seq, email }) => (isOf(seq) ? email.split("@")[0]! : [])).toSorted();
  };
  /** Simulates the passing of time. */
  const pass = async (id: string, passed: number) => {
    await query("update send_chunks set due_at = due_at - $2 * interval '1 hour' where campaign_id = $1", [id, passed]);
    await releaseDueChunks();
  };

  test("each recipient gets the mail at their local hour, and at once if that has passed; half hours, unknown zone names and the company's zone work", async () => {
    await query("update companies set timezone = 'Etc/GMT-1' where id = $1", [company.id]);
    await people({
      tonga: "Etc/GMT-13",
      india: "Asia/Kolkata",
      alias: "asia/calcutta",
      spaced: " Asia/Kolkata ",
      utc: "UTC",
      west: "Etc/GMT+8",
      none: undefined,
      mars: "Mars/Olympus",
      offset: "+05:30",
      posix: "Berlin5",
      empty: "",
      number: 7,
      object: { name: "UTC" },
    });
    const { id, status } = await send(inHours(10));
    expect(status).toBe("scheduled");
    await expanded(id);
    const india = 4.5;
    expect(await hours(id)).toEqual({
      tonga: null,
      india,
      alias: india,
      spaced: india,
      utc: 10,
      west: 18,
      ...Object.fromEntries(["none", "mars", "offset", "posix", "empty", "number", "object"].map((who) => [who, 9])),
    });
    expect(await read(id)).toMatchObject({ status: "pending", error: null, total_emails: 13, timezone: "recipient" });
    expect(await deliverReady(id)).toEqual(["tonga"]);
    const waiting = await read(id);
    expect(waiting).toMatchObject({ status: "sending", sent_count: 1, error: null });
    expect(Math.round((Date.parse(waiting.next_zone_at!) - Date.now()) / HOUR_MS / 0.25) * 0.25).toBe(india);
    expect(await settle(id)).toBe(false);

    await pass(id, 4);
    expect(await deliverReady(id)).toEqual([]);
    await pass(id, 1);
    expect(await deliverReady(id)).toEqual(["alias", "india", "spaced"]);
    await pass(id, 5.1);
    expect(await deliverReady(id)).toEqual(["empty", "mars", "none", "number", "object", "offset", "posix", "utc"]);
    await pass(id, 8);
    expect(await deliverReady(id)).toEqual(["west"]);
    await settle(id);
    expect(await read(id)).toMatchObject({ status: "completed", sent_count: 13, failed_count: 0, next_zone_at: null });
  });

  test("the wall-clock time counts, whatever its offset", async () => {
    await people({ ann: "UTC" });
    const clock = inHours(30).slice(0, 19);
    const { id, scheduled_for } = await send(`${clock}-07:00`);
    expect(scheduled_for).toBe(`${clock}.000Z`);
    const later = inHours(40).slice(0, 19);
    const edited = await ask()("campaigns.update", { id, scheduled_for: `${later}+05:30` });
    expect(edited.scheduled_for).toBe(`${later}.000Z`);
  });

  test("the campaign is scheduled until the first recipient is due: it can be edited and cancelled", async () => {
    await people({ west: "Etc/GMT+8" });
    const { id } = await send(inHours(2));
    const looked = await until(
      () => read(id),
      ({ next_zone_at }) => Date.parse(next_zone_at!) > Date.now(),
    );
    expect(looked).toMatchObject({ status: "scheduled" });
    const clock = inHours(20);
    expect(await ask()("campaigns.update", { id, scheduled_for: clock, name: "Later" })).toMatchObject({
      scheduled_for: clock,
      next_zone_at: new Date(Date.parse(clock) - 14 * HOUR_MS).toISOString(),
    });
    expect(await ask()("campaigns.cancel", { id })).toMatchObject({ status: "cancelled", next_zone_at: null });
  });

  test("subscribers who join or move to an earlier zone while it waits are found within the hour", async () => {
    await people({ west: "Etc/GMT+8" });
    const { id } = await send(inHours(2));
    await until(
      () => campaignRow(id),
      ({ starts_at }) => (starts_at as Date).getTime() > Date.now(),
    );
    const { starts_at } = await campaignRow(id);
    expect((starts_at as Date).getTime()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    await people({ east: "Etc/GMT-8" });
    await query("update campaigns set starts_at = now() where id = $1", [id]);
    await expanded(id);
    expect(await hours(id)).toEqual({ east: null, west: 10 });
  });

  test("once it has begun, a change of zone causes neither duplicates nor gaps; new subscribers do not get it", async () => {
    await people({ east: "Etc/GMT-9", west: "Etc/GMT+3", home: "UTC" });
    const { id } = await send(inHours(1));
    await expanded(id);
    expect(await deliverReady(id)).toEqual(["east"]);
    await query(
      `update subscribers set attributes = jsonb_build_object('timezone',
         case email when 'east@example.com' then 'Etc/GMT+9' else 'Etc/GMT-9' end) where company_id = $1`,
      [company.id],
    );
    await people({ late: "Etc/GMT+9" });
    await pass(id, 1.5);
    expect(await deliverReady(id)).toEqual(["home"]);
    await pass(id, 3);
    expect(await deliverReady(id)).toEqual(["west"]);
    await settle(id);
    expect(await read(id)).toMatchObject({ status: "completed", total_emails: 3, sent_count: 3 });
  });

  test("stop fails those whose hour is ahead; resume lets them wait for it again, without duplicates", async () => {
    await people({ east: "Etc/GMT-9", west: "Etc/GMT+3", home: "UTC" });
    const { id } = await send(inHours(2));
    await expanded(id);
    expect(await deliverReady(id)).toEqual(["east"]);
    await expect(ask()("campaigns.cancel", { id })).rejects.toMatchObject({ code: "WRONG_STATE" });
    await expect(ask()("campaigns.update", { id, name: "Late" })).rejects.toMatchObject({ code: "WRONG_STATE" });
    await ask()("campaigns.stop", { id });
    expect(
      await until(
        () => read(id),
        ({ status }) => status !== "sending",
      ),
    ).toMatchObject({ status: "partial", sent_count: 1, failed_count: 2, next_zone_at: null });
    await query("update send_chunks set due_at = due_at - interval '3 hours' where campaign_id = $1", [id]);
    await ask()("campaigns.resume", { id });
    expect(await hours(id)).toMatchObject({ home: -1, west: 2 });
    expect(await deliverReady(id)).toEqual(["home"]);
    await pass(id, 1.5);
    expect(await deliverReady(id)).toEqual([]);
    await pass(id, 1);
    expect(await deliverReady(id)).toEqual(["west"]);
    await settle(id);
    expect(await read(id)).toMatchObject({ status: "completed", sent_count: 3, failed_count: 0 });
  });

  test("a campaign stopped before anyone was due is cancelled and sends nothing later", async () => {
    await people({ west: "Etc/GMT+8" });
    const { id } = await send(inHours(2));
    await query("update campaigns set status = 'pending' where id = $1", [id]);
    world.app.broker.emit("campaign.pending", { campaignId: id });
    await expanded(id);
    await ask()("campaigns.stop", { id });
    await until(
      () => read(id),
      ({ status }) => status === "cancelled",
    );
    await pass(id, 24);
    expect(await deliverReady(id)).toEqual([]);
  });

  test("resuming continues after the recipients that the quota covered, whichever recipients are due first", async () => {
    const plan = `four-${company.id}`;
    await query(
      `insert into plans select (jsonb_populate_record(p, jsonb_build_object('name', $1::text, 'emails_per_month', 4))).*
       from plans p where name = 'unlimited'`,
      [plan],
    );
    await people({ a: "UTC", b: "Etc/GMT+3", c: "Etc/GMT-9", d: "UTC", e: "Etc/GMT-9", f: "Etc/GMT+3" });
    const { id } = await send(inHours(2));
    await query("update companies set plan = $2 where id = $1", [company.id, plan]);
    await expanded(id);
    const first = (await recipients(id)).map(({ email }) => email);
    expect(first).toHaveLength(4);
    expect(await campaignRow(id)).toMatchObject({ unwritten: 2, total_emails: 6 });
    await deliverReady(id);
    await pass(id, 24);
    await deliverReady(id);
    await settle(id);
    await query("update companies set plan = 'unlimited' where id = $1", [company.id]);
    await ask()("campaigns.resume", { id });
    await expanded(id);
    expect(new Set((await recipients(id)).map(({ email }) => email)).size).toBe(6);
    await pass(id, 24);
    await deliverReady(id);
    await settle(id);
    expect(await read(id)).toMatchObject({ status: "completed", sent_count: 6 });
  });

  test("segments work, too, and an empty audience starts at the company's hour", async () => {
    await query("update companies set timezone = 'Etc/GMT-5' where id = $1", [company.id]);
    const segment = newId();
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      { match: "all", conditions: [{ field: "email", operator: "contains", value: "seg" }] },
    ]);
    await people({ seg1: "Etc/GMT-9", seg2: "UTC", other: "UTC" });
    const ofSegment = { list_id: undefined, segment_id: segment };
    const { id } = await send(inHours(2), ofSegment);
    await expanded(id);
    expect(await hours(id)).toEqual({ seg1: null, seg2: 2 });
    const nobody = await newCompany();
    await query("update companies set timezone = 'Etc/GMT-5' where id = $1", [nobody.id]);
    const empty = await as(world, nobody)(
      "campaigns.sendToList",
      toList(nobody, { scheduled_for: inHours(4), timezone: "recipient" }),
    );
    expect(
      await until(
        () => campaignRow(empty.id),
        ({ status }) => status !== "scheduled" && status !== "pending",
      ),
    ).toMatchObject({ status: "completed" });
  });

  test("an audience that was deleted or is unreadable starts the campaign, which then fails with the reason", async () => {
    const segment = newId();
    const rules = { match: "all", conditions: [{ field: "email", operator: "contains", value: "@" }] };
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      rules,
    ]);
    await people({ ann: "Etc/GMT+8" });
    const { id } = await send(inHours(20), { list_id: undefined, segment_id: segment });
    await query("delete from segments where id = $1", [segment]);
    await query("update campaigns set starts_at = now() where id = $1", [id]);
    expect(
      await until(
        () => read(id),
        ({ status }) => status === "failed",
      ),
    ).toMatchObject({ error: "The segment was deleted before the campaign started." });
  });

  test("errors are reported at their fields", async () => {
    const refused = async (extra: object, fields: object) =>
      expect(
        ask()("campaigns.sendToList", toList(company, { timezone: "recipient", ...extra }) as never),
      ).rejects.toMatchObject({ code: "INVALID", data: { fields } });
    const missing = { scheduled_for: ['With `timezone: "recipient"` this field is required.'] };
    await refused({}, missing);
    await refused({ scheduled_for: null }, missing);
    await refused({ scheduled_for: inHours(-13) }, { scheduled_for: ["The time has passed in every time zone."] });
    await refused(
      { scheduled_for: inHours(2), timezone: "Europe/Berlin" },
      { timezone: ['"Europe/Berlin" is not a valid choice.'] },
    );
    const behind = await send(inHours(-2));
    expect(behind).toMatchObject({ status: "scheduled" });
    expect((await ask()("campaigns.sendToList", toList(company))).timezone).toBeNull();
  });

  test("local times become the right instants around daylight saving changes, and for names that PostgreSQL knows as abbreviations", async () => {
    const at = async (clock: string, zone: string) =>
      (
        await query<{ instant: Date }>("select instant from zone_instants($1::timestamp) where zone = lower($2)", [
          clock,
          zone,
        ])
      )[0]?.instant.toISOString();
    expect(await at("2027-03-28 02:30", "Europe/Berlin")).toBe("2027-03-28T01:30:00.000Z");
    expect(await at("2026-10-25 02:30", "Europe/Berlin")).toBe("2026-10-25T01:30:00.000Z");
    expect(await at("2026-10-25 01:59", "Europe/Berlin")).toBe("2026-10-24T23:59:00.000Z");
    expect(await at("2026-07-01 09:00", "Asia/Kathmandu")).toBe("2026-07-01T03:15:00.000Z");
    expect(await at("2026-07-01 09:00", "Pacific/Kiritimati")).toBe("2026-06-30T19:00:00.000Z");
    for (const [abbreviated, zone] of [
      ["CET", "Europe/Berlin"],
      ["MET", "Europe/Berlin"],
      ["EET", "Europe/Athens"],
      ["WET", "Europe/Lisbon"],
    ] as const) {
      expect(await at("2026-07-01 09:00", abbreviated)).toBe(await at("2026-07-01 09:00", zone));
    }
  });

  test("due chunks are released once by ten nodes, and are sent", async () => {
    await people({ west: "Etc/GMT+3", home: "UTC" });
    const { id } = await send(inHours(-1));
    await expanded(id);
    await query("update send_chunks set due_at = now() where campaign_id = $1", [id]);
    const released = (await Promise.all(Array.from({ length: 10 }, () => releaseDueChunks()))).flat();
    // The service's own timer may have been first.
    expect(released.filter(({ campaign_id }) => campaign_id === id).length).toBeLessThanOrEqual(1);
    expect(await deliverReady(id)).toEqual(["home", "west"]);
    await settle(id);
    expect(await read(id)).toMatchObject({ status: "completed", sent_count: 2 });
  });
});
