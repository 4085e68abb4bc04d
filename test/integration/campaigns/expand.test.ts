import { setTimeout as sleep } from "node:timers/promises";
import { pool, query, queryOne } from "../../../models/database/db.ts";
import { expandSlice } from "../../../services/campaigns/expansion/expand.ts";
import { expandAll, newCampaign, useRows } from "./rows.ts";
import { addMembers, type Company, campaignRow, newCompany, newList, recipients, useCompany } from "./world.ts";

// Ids of one millisecond have no defined order.
const emails = async (campaignId: string) => (await recipients(campaignId)).map(({ email }) => email).toSorted();

const setStatus = (company: Company, email: string, status: string) =>
  query("update subscribers set status = $3 where company_id = $1 and email = $2", [company.id, email, status]);

const suppress = (company: Company, what: { email?: string; domain?: string; kind?: string }) =>
  query("insert into suppressions (company_id, email, domain, kind) values ($1, $2, $3, $4)", [
    company.id,
    what.email,
    what.domain,
    what.kind ?? "manual",
  ]);

const addReceivers = (company: Company, campaignId: string, receivers: { email: string; variables?: object }[]) =>
  query(
    `insert into campaign_receivers (company_id, campaign_id, no, email, variables)
     select $1, $2, r.no, r.email, coalesce(r.variables, '{}')
     from rows from (json_to_recordset($3) as (email text, variables jsonb)) with ordinality as r (email, variables, no)`,
    [company.id, campaignId, JSON.stringify(receivers)],
  );

describe("expansion", () => {
  const rows = useRows();
  const company = useCompany();

  describe("a list", () => {
    test("leaves out subscribers that are inactive, left the list, or are suppressed by address or domain", async () => {
      await addMembers(company, 9);
      await setStatus(company, "u1@example.com", "unsubscribed");
      await setStatus(company, "u2@example.com", "unconfirmed");
      await setStatus(company, "u3@example.com", "bounced");
      await query(
        `update list_members m set left_at = now() from subscribers s
         where s.id = m.subscriber_id and s.company_id = $1 and s.email = 'u4@example.com'`,
        [company.id],
      );
      await suppress(company, { email: "U5@Example.com" });
      await suppress(company, { email: "u6@example.com", kind: "unsubscribed" });
      await query(
        "update subscribers set email = 'u7@mail.blocked.example' where company_id = $1 and email = 'u7@example.com'",
        [company.id],
      );
      await suppress(company, { domain: "blocked.example" });
      const id = await newCampaign(company);
      await expandAll(rows, id);
      expect(await emails(id)).toEqual(["u8@example.com", "u9@example.com"]);
      expect(await campaignRow(id)).toMatchObject({ total_emails: 2, next_seq: 3, suppressed_count: 6 });
    });

    test("reaches unsubscribed subscribers in a transactional send, but none that bounced, are unconfirmed or otherwise blocked", async () => {
      await addMembers(company, 6);
      await setStatus(company, "u1@example.com", "unsubscribed");
      await suppress(company, { email: "u1@example.com", kind: "unsubscribed" });
      await setStatus(company, "u2@example.com", "unconfirmed");
      await setStatus(company, "u3@example.com", "bounced");
      await suppress(company, { email: "u4@example.com", kind: "complained" });
      const id = await newCampaign(company, { is_transactional: true });
      await expandAll(rows, id);
      expect(await emails(id)).toEqual(["u1@example.com", "u5@example.com", "u6@example.com"]);
    });

    test("ignores other lists and other companies' suppressions", async () => {
      const other = await newCompany();
      await suppress(other, { email: "u1@example.com" });
      await suppress(other, { domain: "example.com" });
      await addMembers(company, 2);
      await addMembers(company, 5, await newList(company.id, "Other"));
      const id = await newCampaign(company);
      await expandAll(rows, id);
      expect(await emails(id)).toEqual(["u1@example.com", "u2@example.com"]);
    });

    test("numbers recipients without gaps when whole slices are left out", async () => {
      await addMembers(company, 1_300);
      await query(
        `update subscribers set status = 'unsubscribed'
         where company_id = $1 and id in (select id from subscribers where company_id = $1 order by id limit 700)`,
        [company.id],
      );
      const id = await newCampaign(company);
      await expandAll(rows, id);
      expect((await recipients(id)).map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, n) => n + 1));
    });

    test("fails the campaign with a reason if the list was deleted before", async () => {
      const id = await newCampaign(company, { list_id: await newList(company.id) });
      await query("delete from lists where company_id = $1 and id <> $2", [company.id, company.list]);
      await expandAll(rows, id);
      expect(await campaignRow(id)).toMatchObject({
        status: "failed",
        total_emails: 0,
        error: "The list was deleted before the campaign started.",
      });
    });

    test("halfway keeps the recipients already written if the list is deleted then", async () => {
      await addMembers(company, 800);
      const id = await newCampaign(company);
      await expandSlice(rows.broker, id);
      await query("delete from lists where company_id = $1", [company.id]);
      await expandAll(rows, id);
      expect(await campaignRow(id)).toMatchObject({ status: "pending", total_emails: 500, error: null });
    });
  });

  test("the expansion by time zone writes a lost slice again, with one row for each recipient, due at the hour of their zone", async () => {
    await addMembers(company, 700);
    await query(
      `update subscribers set attributes = jsonb_build_object('timezone',
         (array['Etc/GMT-9', 'Etc/GMT+3', 'UTC'])[1 + substring(email from '\\d+')::int % 3]) where company_id = $1`,
      [company.id],
    );
    const clock = new Date(Date.now() + 2 * 3_600_000);
    const id = await newCampaign(company, { timezone: "recipient", scheduled_for: clock });
    await expandSlice(rows.broker, id);
    await query(`create function lose_slice() returns trigger language plpgsql as
      $$ begin raise exception 'lost'; end $$`);
    await query("create trigger lost before insert on send_chunks for each row execute function lose_slice()");
    try {
      await expect(expandSlice(rows.broker, id)).rejects.toThrow("lost");
    } finally {
      await query("drop function lose_slice cascade");
    }
    expect(await recipients(id)).toHaveLength(500);
    await expandAll(rows, id);
    const written = await recipients(id);
    expect(new Set(written.map(({ email }) => email)).size).toBe(700);
    expect(written.map(({ seq }) => seq)).toEqual(Array.from({ length: 700 }, (_, n) => n + 1));
    const runs = await query<{ lo: number; hi: number; due_at: Date | null }>(
      "select lo, hi, due_at from send_chunks where campaign_id = $1",
      [id],
    );
    const dues = [null, clock.getTime() + 3 * 3_600_000, clock.getTime()];
    for (const { seq, email } of written) {
      const run = runs.find(({ lo, hi }) => lo <= seq && seq <= hi)!;
      expect([email, run.due_at?.getTime() ?? null]).toEqual([email, dues[Number(/\d+/.exec(email)![0]) % 3]]);
    }
  });

  test("a segment expands to the active subscribers that match its rules", async () => {
    await addMembers(company, 30);
    await setStatus(company, "u10@example.com", "unsubscribed");
    const segment = "01a00000-0000-7000-8000-000000000001";
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      JSON.stringify({ match: "all", conditions: [{ field: "email", operator: "starts_with", value: "u1" }] }),
    ]);
    const id = await newCampaign(company, { list_id: null, segment_id: segment });
    await expandAll(rows, id);
    const taken = ["u1", "u11", "u12", "u13", "u14", "u15", "u16", "u17", "u18", "u19"];
    expect(await emails(id)).toEqual(taken.map((name) => `${name}@example.com`).toSorted());
    expect(await campaignRow(id)).toMatchObject({ total_emails: 10, suppressed_count: 1 });
  });

  describe("receivers of the request", () => {
    const type = { campaign_type: "to_receivers", list_id: null };

    test("keep their order and variables; an address given twice gets two mails", async () => {
      const id = await newCampaign(company, type);
      await addReceivers(company, id, [
        { email: "b@example.com", variables: { order: 1 } },
        { email: "a@example.com" },
        { email: "B@example.com", variables: { order: 2 } },
      ]);
      await expandAll(rows, id);
      expect(await recipients(id)).toMatchObject([
        { seq: 1, email: "b@example.com", variables: { order: 1 }, subscriber_id: expect.any(String) },
        { seq: 2, email: "a@example.com", variables: {} },
        { seq: 3, email: "B@example.com", variables: { order: 2 } },
      ]);
      expect(await query("select 1 from campaign_receivers where campaign_id = $1", [id])).toEqual([]);
    });

    test("have a link to their subscriber; unsubscribed and suppressed ones have a row that gives the reason", async () => {
      await addMembers(company, 3);
      await setStatus(company, "u2@example.com", "unsubscribed");
      await setStatus(company, "u3@example.com", "unconfirmed");
      await suppress(company, { email: "new@example.com" });
      await suppress(company, { domain: "blocked.example" });
      const id = await newCampaign(company, type);
      await addReceivers(company, id, [
        { email: "U1@example.com" },
        { email: "u2@example.com" },
        { email: "u3@example.com" },
        { email: "new@example.com", variables: { order: 4 } },
        { email: "a@mail.blocked.example" },
        { email: "" },
        { email: "other@example.com" },
      ]);
      await expandAll(rows, id);
      const known = await queryOne<{ id: string }>(
        "select id from subscribers where company_id = $1 and email = 'u1@example.com'",
        [company.id],
      );
      const suppressed = { status: 5, attempts: 0, next_attempt_at: null };
      const blocked = "The address or its domain is suppressed.";
      expect(await recipients(id)).toMatchObject([
        { ...suppressed, email: "", error: "The recipient was erased." },
        { ...suppressed, email: "a@mail.blocked.example", error: blocked },
        {
          ...suppressed,
          email: "new@example.com",
          error: blocked,
          subscriber_id: expect.any(String),
          variables: { order: 4 },
        },
        { ...suppressed, email: "u3@example.com", error: "The subscriber has not confirmed the subscription." },
        { ...suppressed, email: "u2@example.com", error: "The recipient has unsubscribed." },
        { email: "U1@example.com", subscriber_id: known!.id, status: 0, error: null },
        { email: "other@example.com", subscriber_id: expect.any(String), status: 0 },
      ]);
      expect(await campaignRow(id)).toMatchObject({
        total_emails: 2,
        suppressed_count: 5,
        failed_count: 0,
        next_seq: 3,
      });
      expect(await queryOne("select max(hi) as hi from send_chunks where campaign_id = $1", [id])).toEqual({ hi: 2 });
      expect(await queryOne("select count_of($1, 'sent_emails', $1) n", [company.id])).toEqual({ n: 7 });
      expect(await query("select from subscribers where company_id = $1 and email = ''", [company.id])).toEqual([]);
    });

    test("have the reason other than an unsubscription that blocks a transactional send", async () => {
      await suppress(company, { email: "a@blocked.example", kind: "unsubscribed" });
      await suppress(company, { domain: "blocked.example" });
      await suppress(company, { email: "b@example.com", kind: "unsubscribed" });
      const id = await newCampaign(company, { ...type, is_transactional: true });
      await addReceivers(company, id, [{ email: "a@blocked.example" }, { email: "b@example.com" }]);
      await expandAll(rows, id);
      expect(await recipients(id)).toMatchObject([
        { email: "a@blocked.example", status: 5, error: "The address or its domain is suppressed." },
        { email: "b@example.com", status: 0 },
      ]);
    });

    test("are reached by a transactional send even if their subscriber is unconfirmed", async () => {
      await addMembers(company, 1);
      await setStatus(company, "u1@example.com", "unconfirmed");
      const id = await newCampaign(company, { ...type, is_transactional: true });
      await addReceivers(company, id, [{ email: "u1@example.com" }]);
      await expandAll(rows, id);
      expect(await emails(id)).toEqual(["u1@example.com"]);
    });
  });

  describe("survives concurrency and crashes:", () => {
    const everyoneOnce = async (campaignId: string, count: number) => {
      const found = await queryOne(
        `select count(*) as n, count(distinct subscriber_id) as people, min(seq) as lo, max(seq) as hi
         from sent_emails where campaign_no = (select no from campaigns where id = $1)`,
        [campaignId],
      );
      expect(found).toEqual({ n: count, people: count, lo: 1, hi: count });
      const chunks = await queryOne(
        `select sum(hi - lo + 1) as n, count(*) filter (where lo <> coalesce(before, 0) + 1) as gaps
         from (select lo, hi, lag(hi) over (order by no) as before from send_chunks where campaign_id = $1) c`,
        [campaignId],
      );
      expect(chunks).toEqual({ n: count, gaps: 0 });
      expect(await queryOne("select emails from usage_months where company_id = $1", [company.id])).toEqual({
        emails: count,
      });
      expect(await queryOne("select count_of($1, 'sent_emails', $1) n", [company.id])).toEqual({ n: count });
    };

    test("five sessions on one campaign produce each recipient once", async () => {
      await addMembers(company, 30_000);
      const id = await newCampaign(company);
      const racer = async () => {
        while ((await campaignRow(id)).expanded_at === null) await expandSlice(rows.broker, id);
      };
      await Promise.all([racer(), racer(), racer(), racer(), racer()]);
      await everyoneOnce(id, 30_000);
    });

    test("a session that dies within a slice leaves nothing of it; the next continues after the last complete slice", async () => {
      await addMembers(company, 2_000);
      const id = await newCampaign(company);
      await expandSlice(rows.broker, id);
      await query(
        `create function die() returns trigger language plpgsql as $$ begin
           perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
      );
      await query("create trigger dying before insert on send_chunks for each row execute function die()");
      await expect(expandSlice(rows.broker, id)).rejects.toThrow();
      expect(await recipients(id)).toHaveLength(500);
      await query("drop trigger dying on send_chunks");
      await expandAll(rows, id);
      await everyoneOnce(id, 2_000);
    });

    test("a slice does not block a sender that writes its results", async () => {
      await addMembers(company, 600);
      const id = await newCampaign(company);
      await expandSlice(rows.broker, id);
      await query(
        `create function hold() returns trigger language plpgsql as $$ begin
           perform pg_advisory_xact_lock(1); return new; end $$`,
      );
      await query("create trigger holding before insert on send_chunks for each row execute function hold()");
      const holder = await pool().connect();
      await holder.query("select pg_advisory_lock(1)");
      const slice = expandSlice(rows.broker, id);
      const waiting = () => queryOne("select from pg_locks where locktype = 'advisory' and not granted");
      while (!(await waiting())) await sleep(5);
      // During the slice, which cannot end before the lock is released.
      await query("update campaigns set sent_count = sent_count + 1 where company_id = $1 and id = $2", [
        company.id,
        id,
      ]);
      await holder.query("select pg_advisory_unlock(1)");
      holder.release();
      await slice;
      await query("drop trigger holding on send_chunks");
      expect(await campaignRow(id)).toMatchObject({ sent_count: 1, total_emails: 600 });
    });
  });
});
