/** Edits of scheduled campaigns, and races between an edit and the start. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { emailQuotaExceeded } from "../../../services/lib/errors.ts";
import { newId } from "../../../services/lib/ids.ts";
import {
  addMembers,
  as,
  expanded,
  newCompany,
  newList,
  recipients,
  toList,
  until,
  useCompany,
  useWorld,
} from "./world.ts";

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe("editing a scheduled campaign", () => {
  const world = useWorld();
  const company = useCompany();
  const ask = () => as(world, company);
  const scheduled = async (params: object = {}) =>
    (await ask()("campaigns.sendToList", toList(company, { scheduled_for: inHours(5), ...params }))).id;
  const content = (id: string) =>
    queryOne<{ subject: string; body: string; list_id_name: string; media_ids: string[] }>(
      "select subject, body, list_id_name, media_ids from campaign_contents where campaign_id = $1",
      [id],
    );

  test("changes name, time and audience, and keeps fields that are not given", async () => {
    const id = await scheduled();
    const others = await newList(company.id, "Others");
    await addMembers(company, 3, others);
    const at = inHours(48);
    const edited = await ask()("campaigns.update", { id, name: " Later ", scheduled_for: at, list_id: others });
    const now = { name: "Later", scheduled_for: at, list_id: others, total_emails: 3, status: "scheduled" };
    expect(edited).toMatchObject({ ...now, subject: "Hi [[first_name]]", template_id: company.template });
    expect(await ask()("campaigns.get", { id })).toEqual(edited);
    expect(await content(id)).toMatchObject({ body: "<p>Hi</p>", list_id_name: "Others" });
    expect(await ask()("campaigns.update", { id })).toMatchObject(now);

    await query("update campaigns set scheduled_for = now() where id = $1", [id]);
    await until(
      () => ask()("campaigns.get", { id }),
      ({ status }) => status === "pending",
    );
    await expanded(id);
    expect((await recipients(id)).length).toBe(3);
  });

  test("a segment replaces the list, and the list name in the mails becomes the company's name", async () => {
    const id = await scheduled();
    const segment = newId();
    const rules = { match: "all", conditions: [{ field: "email", operator: "contains", value: "@" }] };
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      rules,
    ]);
    await addMembers(company, 2);
    const edited = await ask()("campaigns.update", { id, segment_id: segment });
    expect(edited).toMatchObject({ list_id: null, segment_id: segment, total_emails: 2 });
    expect(await content(id)).toMatchObject({ list_id_name: "Acme" });
    const back = await ask()("campaigns.update", { id, list_id: company.list });
    expect(back).toMatchObject({ list_id: company.list, segment_id: null });
  });

  test("giving the template again takes a new snapshot; a subject or body of the request overrides it", async () => {
    const id = await scheduled();
    await query("update templates set subject = 'New', body = '<p>New</p>' where id = $1", [company.template]);
    expect(await ask()("campaigns.update", { id, name: "Kept" })).toMatchObject({ subject: "Hi [[first_name]]" });
    expect(await ask()("campaigns.update", { id, template_id: company.template })).toMatchObject({ subject: "New" });
    expect(await content(id)).toMatchObject({ subject: "New", body: "<p>New</p>" });
    expect(await ask()("campaigns.update", { id, subject: "Own" })).toMatchObject({ subject: "Own" });
    expect(await content(id)).toMatchObject({ subject: "Own", body: "<p>New</p>" });
    await ask()("campaigns.update", { id, body: "<p>Own</p>", template_id: company.template });
    expect(await content(id)).toMatchObject({ subject: "New", body: "<p>Own</p>" });
  });

  test("a new template also sets preheader, text part and CSS inlining; with an own body the text part is generated", async () => {
    const id = await scheduled();
    const template = newId();
    await query(
      `insert into templates (id, company_id, name, subject, body, preheader, text_body, inline_css, html)
       values ($1, $2, 'T', 'S', 'source', 'P', 'T', true, 'made')`,
      [template, company.id],
    );
    const texts = () =>
      queryOne("select body, preheader, text_body, inline_css from campaign_contents where campaign_id = $1", [id]);
    await ask()("campaigns.update", { id, template_id: template });
    expect(await texts()).toEqual({ body: "made", preheader: "P", text_body: "T", inline_css: true });
    await ask()("campaigns.update", { id, body: "<style>p{top:0}</style><p>x</p>" });
    const body = '<style></style><p style="top: 0;">x</p>';
    expect(await texts()).toEqual({ body, preheader: "P", text_body: null, inline_css: true });
    await ask()("campaigns.update", { id, template_id: company.template });
    expect(await texts()).toEqual({ body: "<p>Hi</p>", preheader: null, text_body: null, inline_css: false });
  });

  test("an invalid edit reports each field and changes nothing", async () => {
    const id = await scheduled();
    const before = await ask()("campaigns.get", { id });
    const other = await newCompany();
    const fields = {
      scheduled_for: "2020-01-01T00:00:00Z",
      template_id: other.template,
      list_id: other.list,
      segment_id: newId(),
      subject: "[[#if x]]",
      body: "[[#if x]]",
      attachment_ids: [newId()],
    };
    await expect(ask()("campaigns.update", { id, ...fields })).rejects.toMatchObject({
      code: "INVALID",
      data: { fields: Object.fromEntries(Object.keys(fields).map((field) => [field, expect.any(Array)])) },
    });
    const both = { list_id: company.list, segment_id: null as unknown as string };
    await expect(ask()("campaigns.update", { id, ...both })).rejects.toMatchObject({ code: "INVALID" });
    expect(await ask()("campaigns.get", { id })).toEqual(before);
    await expect(as(world, other)("campaigns.update", { id, name: "Mine" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const toOne = await ask()("campaigns.sendToReceivers", {
      name: "One",
      template_id: company.template,
      smtp_config_id: company.smtp,
      receivers: [{ email: "ann@example.com" }],
      scheduled_for: inHours(1),
    });
    await expect(ask()("campaigns.update", { id: toOne.id, list_id: company.list })).rejects.toMatchObject({
      data: { fields: { list_id: ["This campaign's receivers were set by its request and cannot be changed."] } },
    });
  });

  test("an edit is checked against the monthly quota without counting the campaign's old audience", async () => {
    const plan = `five-${company.id}`;
    await query(
      `insert into plans select (jsonb_populate_record(p, jsonb_build_object('name', $1::text, 'emails_per_month', 5))).*
       from plans p where name = 'unlimited'`,
      [plan],
    );
    await query("update companies set plan = $2 where id = $1", [company.id, plan]);
    await addMembers(company, 4);
    const id = await scheduled();
    const more = await newList(company.id, "More");
    await query(
      `insert into subscribers (company_id, email) select $1, 'm' || n || '@example.com' from generate_series(1, 6) n`,
      [company.id],
    );
    await query(
      `insert into list_members (company_id, list_id, subscriber_id)
       select $1, $2, id from subscribers where company_id = $1 and email like 'm%'`,
      [company.id, more],
    );
    const before = await ask()("campaigns.update", { id, scheduled_for: inHours(1) });
    expect(before).toMatchObject({ total_emails: 4 });
    await expect(ask()("campaigns.update", { id, list_id: more })).rejects.toMatchObject(emailQuotaExceeded(5));
    expect(await ask()("campaigns.get", { id })).toEqual(before);
    await query("update companies set plan = 'unlimited' where id = $1", [company.id]);
    await query("delete from plans where name = $1", [plan]);
  });

  test.each(["pending", "sending", "completed", "partial", "failed", "cancelled"])(
    "is refused while it is %s",
    async (status) => {
      const id = await scheduled();
      await query(
        "update campaigns set status = $2, expanded_at = now() - interval '1 day', total_emails = 1 where id = $1",
        [id, status],
      );
      await expect(ask()("campaigns.update", { id, name: "New" })).rejects.toMatchObject({
        code: "WRONG_STATE",
        message: expect.stringContaining(status),
      });
    },
  );

  test("a campaign that is postponed while the timer starts it does not start", async () => {
    const later = inHours(3);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query like '%campaigns%'`;
    /** Returns undefined if the campaign started before the lock was taken. */
    const heldWhenDue = async () => {
      const id = await scheduled();
      await query("update campaigns set scheduled_for = now() + interval '2 s' where id = $1", [id]);
      const put = "update campaigns set scheduled_for = $2 where id = $1 and status = 'scheduled' returning id";
      return transaction(async (client) => {
        if (!(await queryOne(put, [id, later], client))) return undefined;
        await until(
          () => query(waiting),
          (rows) => rows.length > 0,
        );
        return id;
      });
    };
    const id = (await until(heldWhenDue, (held) => held !== undefined))!;
    // Waits for the next round of the same timer.
    await as(world, company)("campaigns.startDue", {});
    expect(await ask()("campaigns.get", { id })).toMatchObject({ status: "scheduled", scheduled_for: later });
  });

  test("either the edit or the start wins when both happen at once", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => scheduled()));
    await query("update campaigns set scheduled_for = now() + interval '300 ms' where company_id = $1", [company.id]);
    const at = inHours(3);
    const edits = ids.map(async (id, n) => {
      await new Promise((done) => setTimeout(done, n * 60));
      return ask()("campaigns.update", { id, name: "Edited", scheduled_for: at }).catch((error: Error) => error);
    });
    const results = await Promise.all(edits);
    for (const [n, id] of ids.entries()) {
      const result = results[n]!;
      const now = await ask()("campaigns.get", { id });
      if (result instanceof Error) {
        expect(result).toMatchObject({ code: "WRONG_STATE" });
        expect(now).toMatchObject({ name: "News" });
        expect(now.status).not.toBe("scheduled");
      } else {
        expect(now).toMatchObject({ name: "Edited", status: "scheduled", scheduled_for: at });
      }
    }
  });
});
