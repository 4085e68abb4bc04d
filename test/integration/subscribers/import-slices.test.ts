/** Files of several slices (merge-import.ts) have the same result as one statement. */
import { Readable } from "node:stream";
import { pool, query, transaction } from "../../../models/database/db.ts";
import { importSubscribers } from "../../../services/subscribers/import/import-subscribers.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

/** Number of rows of two slices (SLICE_ROWS of merge-import.ts). */
const ROWS = 20_160;
const ROWS_OF_THREE_SLICES = 45_000;
const SUBSCRIBERS = "/api/emails/subscribers/";
/** Spread over all slices. */
const SOME = [0, 1, 9_999, 10_079, 10_080, 10_507, 14_000, 19_999, 20_001, 20_158, 20_159];

let app: App;
let company: TestCompany;
let list: string;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
});
beforeEach(async () => {
  company = await newCompany(app);
  list = (await company.api.post("/api/emails/lists/", { name: "All" })).body.id;
});
afterAll(() => app.stop());

const address = (n: number) => `p${String(n).padStart(5, "0")}@x.org`;

function importText(lines: Iterable<string>, more: { onConflict?: "update" | "skip" } = {}) {
  const text = `email,first_name,status,n\n${[...lines].join("\n")}\n`;
  return importSubscribers(Readable.from([Buffer.from(text)]), {
    companyId: company.id,
    limit: null,
    listId: list,
    ...more,
  });
}

/** Rows in another order than that of addresses. */
const plainLines = (rows = ROWS) =>
  Array.from({ length: rows }, (_, at) => (at * 7_919) % rows).map((n) => `${address(n)},F${n},,${n}`);

const COUNTS = `
  select count_of($1, 'subscribers', $1) people, count_of($1, 'subscribers:active', $1) active,
    count_of($1, 'subscribers:unsubscribed', $1) unsubscribed, count_of($1, 'list_members', $2) members,
    (select count(*) from subscribers where company_id = $1) people_rows,
    (select count(*) from list_members where company_id = $1 and left_at is null) member_rows,
    (select coalesce(sum(people_subscribed), 0)::int from company_days where company_id = $1) subscribed`;
const counts = async () => (await query(COUNTS, [company.id, list]))[0];

interface Person {
  id: string;
  email: string;
  first_name: string;
  status: string;
  n: string | null;
  old: string | null;
  listed: boolean;
}
const peopleOf = async (of: readonly number[]) =>
  query<Person>(
    `select s.id, email, first_name, status, attributes->>'n' as n, attributes->>'old' as old,
       exists (select from list_members m where m.company_id = s.company_id and m.list_id = $2 and m.subscriber_id = s.id
         and left_at is null) as listed
     from subscribers s where company_id = $1 and email_key = any($3) order by email_key`,
    [company.id, list, of.map(address)],
  );

const LEFT = [7, 10_507, 19_607];

/** Creates every seventh person with a name and an attribute; some per slice have left the list. */
async function prepareKnown(): Promise<void> {
  const known = `insert into subscribers (company_id, email, first_name, attributes)
    select $1, 'p' || lpad(n::text, 5, '0') || '@x.org', 'Old', '{"old": "yes"}' from generate_series(0, $2::int - 1, 7) n`;
  await query(known, [company.id, ROWS]);
  const left = `insert into list_members (company_id, list_id, subscriber_id, left_at)
    select $1, $2, id, now() from subscribers where company_id = $1 and email_key = any($3)`;
  await query(left, [company.id, list, LEFT.map(address)]);
  await query("select analyze_subscribers()");
}
const KNOWN = Math.ceil(ROWS / 7);

describe("a file of several slices", () => {
  test("adds each person once, whole, on the list, and counted", async () => {
    const rows = ROWS_OF_THREE_SLICES;
    expect(await importText(plainLines(rows))).toMatchObject({ total: rows, created: rows, updated: 0, skipped: 0 });
    expect(await counts()).toEqual({
      people: rows,
      active: rows,
      unsubscribed: 0,
      members: rows,
      people_rows: rows,
      member_rows: rows,
      subscribed: rows,
    });
    const some = [...SOME, 31_234, 39_999, 40_000, rows - 2, rows - 1];
    const people = await peopleOf(some);
    expect(people.map(({ id: _, ...rest }) => rest)).toEqual(
      some.map((n) => {
        return { email: address(n), first_name: `F${n}`, status: "active", n: String(n), old: null, listed: true };
      }),
    );
    expect(people.map(({ id }) => id).toSorted()).toEqual(people.map(({ id }) => id));
    const joined = `select count(*) n from subscribers s join list_members m
      on m.company_id = s.company_id and m.subscriber_id = s.id and m.list_id = $2 where s.company_id = $1`;
    expect(await query(joined, [company.id, list])).toEqual([{ n: rows }]);
  });

  test.each(["update", "skip"] as const)("finds known subscribers in every slice (%s)", async (onConflict) => {
    await prepareKnown();
    const updates = onConflict === "update";
    const report = await importText(plainLines(), { onConflict });
    expect(report).toMatchObject({
      total: ROWS,
      created: ROWS - KNOWN,
      updated: updates ? KNOWN : 0,
      skipped: updates ? 0 : KNOWN,
    });
    const members = updates ? ROWS - 3 : ROWS - KNOWN;
    expect(await counts()).toMatchObject({ people: ROWS, people_rows: ROWS, members, member_rows: members });
    const known = [0, 7, 7_000, 10_507, 14_000, 19_607, 20_153];
    expect((await peopleOf(known)).map(({ id: _, ...rest }) => rest)).toEqual(
      known.map((n) => {
        const values = updates ? { first_name: `F${n}`, n: String(n) } : { first_name: "Old", n: null };
        const listed = updates && !LEFT.includes(n);
        return { email: address(n), status: "active", old: "yes", ...values, listed };
      }),
    );
  });

  test("uses the last row of an address, however far apart, and the most restrictive status", async () => {
    const again = SOME.map((n) => `${address(n).toUpperCase()},Again,${n % 2 ? "" : "active"},again`);
    const first = SOME.map((n) => `${address(n)},First,unsubscribed,first`);
    const report = await importText([...first, ...plainLines(), ...again]);
    const repeated = 2 * SOME.length;
    expect(report).toMatchObject({ total: ROWS + repeated, created: ROWS, updated: repeated, skipped: 0 });
    expect((await peopleOf(SOME)).map(({ first_name, n, status }) => [first_name, n, status])).toEqual(
      SOME.map(() => ["Again", "again", "unsubscribed"]),
    );
    expect(await counts()).toMatchObject({ people: ROWS, active: ROWS - SOME.length, unsubscribed: SOME.length });
  });

  test("keeps suppressions, and skips erased persons, in every slice", async () => {
    await prepareKnown();
    const blocked = LEFT.map(address);
    const block = `insert into suppressions (company_id, email, kind, reason) select $1, unnest($2::text[]), 'complained', 'before'`;
    await query(block, [company.id, blocked]);
    const erased = [3, 10_004, 20_003];
    for (const email of erased.map(address)) {
      await company.api.post(SUBSCRIBERS, { email });
      expect((await company.api.post(`${SUBSCRIBERS}erase/`, { email })).status).toBeLessThan(300);
    }
    const report = await importText(plainLines());
    expect(report).toMatchObject({
      total: ROWS,
      created: ROWS - KNOWN - erased.length,
      updated: KNOWN,
      skipped: erased.length,
    });
    expect(await peopleOf(erased)).toEqual([]);
    const suppressed = `select email, kind, reason from suppressions where company_id = $1 and reason = 'before' order by 1`;
    expect(await query(suppressed, [company.id])).toEqual(
      blocked.map((email) => ({ email, kind: "complained", reason: "before" })),
    );
  });

  test("leaves nothing of earlier slices if a later one fails", async () => {
    await query(`create function refuse_last() returns trigger language plpgsql as $$
      begin raise exception 'no room' using errcode = '53100'; end $$`);
    await query(`create trigger refused before insert on subscribers for each row when (new.email = '${address(ROWS - 1)}')
      execute function refuse_last()`);
    try {
      await expect(importText(plainLines())).rejects.toThrow();
    } finally {
      await query("drop trigger refused on subscribers");
      await query("drop function refuse_last");
    }
    const nothing = { people: 0, active: 0, members: 0, people_rows: 0, member_rows: 0, subscribed: 0 };
    expect(await counts()).toMatchObject(nothing);
    expect(await importText(plainLines())).toMatchObject({ created: ROWS });
  });
});

describe("an import at its last slice", () => {
  /** Condition for the import's lock alone: other sessions and databases wait, too. */
  const WAITING = `select from pg_locks join pg_stat_activity using (pid)
    where not granted and locktype = 'transactionid' and datname = current_database()
      and query like '%insert into subscribers (id, company_id, email, email_key,%'`;

  test("does not block writers of other people, and finds an address created concurrently", async () => {
    const client = await pool().connect();
    try {
      await client.query("begin");
      // The other slices may take longer than the idle timeout of a transaction.
      await client.query("set local idle_in_transaction_session_timeout = 0");
      // Use a free counter slot: slots are the remainder of the process id.
      await client.query("set local flockmail.slot = 33");
      await client.query("insert into subscribers (company_id, email) values ($1, $2)", [
        company.id,
        address(ROWS - 1),
      ]);
      const importing = importText(plainLines());
      while ((await query(WAITING)).length === 0);
      // Use many connections, because one may share the slot of the import's connection.
      const others = Array.from({ length: 64 }, (_, n) => `other${n}@x.org`);
      await Promise.all(
        others.map((email) =>
          transaction(async (writer) => {
            await writer.query("set local lock_timeout = '10s'");
            const added = "insert into subscribers (company_id, email) values ($1, $2) returning id";
            const { rows } = await writer.query(added, [company.id, email]);
            const joined = "insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)";
            await writer.query(joined, [company.id, list, rows[0].id]);
            const left = "update subscribers set status = 'unsubscribed' where company_id = $1 and id = $2";
            await writer.query(left, [company.id, rows[0].id]);
          }),
        ),
      );
      expect((await company.api.post(SUBSCRIBERS, { email: "by-api@x.org", lists: [list] })).status).toBe(201);
      // These statements end while the import still waits.
      expect(await query(WAITING)).toHaveLength(1);
      await client.query("commit");
      expect(await importing).toMatchObject({ total: ROWS, created: ROWS - 1, updated: 1 });
      const people = ROWS + others.length + 1;
      expect(await counts()).toMatchObject({
        people,
        people_rows: people,
        members: people,
        member_rows: people,
        active: people - others.length,
        unsubscribed: others.length,
      });
      // Uses a slot that no connection uses.
      const slots = "select n from counters where company_id = $1 and name = 'subscribers' and slot = 32";
      expect(await query(slots, [company.id])).toEqual([{ n: ROWS - 1 }]);
    } finally {
      client.release();
    }
  });
});
