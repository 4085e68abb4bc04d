import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { segmentSize } from "../../../services/campaigns/send/audience-size.ts";
import { newId } from "../../../services/lib/ids.ts";
import {
  addMembers,
  as,
  campaignRow,
  expanded,
  newCompany,
  recipients,
  toList,
  toReceivers,
  until,
  useWorld,
} from "./world.ts";

describe("a send", () => {
  const world = useWorld();

  const contents = (id: string) =>
    queryOne<Record<string, unknown>>("select * from campaign_contents where campaign_id = $1", [id]);

  test("takes a snapshot of the contents: later edits and deletes change nothing", async () => {
    const company = await newCompany();
    const { id } = await as(world, company)("campaigns.sendToList", toList(company));
    await query("delete from templates where company_id = $1", [company.id]);
    await query("update smtp_configs set sender_name = 'Other', sender_email = 'x@y.example' where company_id = $1", [
      company.id,
    ]);
    await query("update companies set name = 'Other', footer_text = '' where id = $1", [company.id]);
    expect(await contents(id)).toMatchObject({
      subject: "Hi [[first_name]]",
      body: "<p>Hi</p>",
      sender_name: "Acme",
      sender_email: "news@acme.example",
      reply_to_email: "news@acme.example",
      list_id_name: "Readers",
      list_id_ref: company.list,
      company_name: "Acme",
      footer_text: "Acme, 1 Road",
      tracking_enabled: true,
      media_ids: [],
    });
  });

  test.each([
    ["the configuration's", "c@x.example", "co@x.example", "c@x.example"],
    ["else the company's", null, "co@x.example", "co@x.example"],
    ["else the sender's address", "", null, "news@acme.example"],
  ])("sends replies to %s", async (_name, ofConfig, ofCompany, expected) => {
    const company = await newCompany();
    await query("update smtp_configs set reply_to_email = $2 where company_id = $1", [company.id, ofConfig]);
    await query("update companies set reply_to_email = $2 where id = $1", [company.id, ofCompany]);
    const { id } = await as(world, company)("campaigns.sendToList", toList(company));
    expect(await contents(id)).toMatchObject({ reply_to_email: expected });
  });

  test("fills in receivers' variables, sends copies, names the company as List-Id and saves subscribers", async () => {
    const company = await newCompany();
    const sent = await as(world, company)(
      "campaigns.sendToReceivers",
      toReceivers(company, [
        { email: "ann@example.com", first_name: "Ann", cc: ["c@example.com"], bcc: ["b@example.com"], items: ["a"] },
        { email: "bob@example.com", last_name: 7 },
      ]),
    );
    expect(sent).toMatchObject({
      campaign_type: "to_receivers",
      total_emails: 2,
      lists: [],
      template: company.template,
    });
    await expanded(sent.id);
    expect(await recipients(sent.id)).toMatchObject([
      {
        email: "ann@example.com",
        cc: ["c@example.com"],
        bcc: ["b@example.com"],
        variables: { first_name: "Ann", items: ["a"] },
      },
      { email: "bob@example.com", cc: null, bcc: null, variables: { last_name: 7 } },
    ]);
    const saved = "select email, first_name, last_name, status from subscribers where company_id = $1 order by email";
    expect(await query(saved, [company.id])).toEqual([
      { email: "ann@example.com", first_name: "Ann", last_name: "", status: "active" },
      { email: "bob@example.com", first_name: "", last_name: "", status: "active" },
    ]);
    expect(await contents(sent.id)).toMatchObject({ list_id_name: "Acme", list_id_ref: company.id });
  });

  test("may have ten thousand receivers with copies in one request", async () => {
    const company = await newCompany();
    const receivers = Array.from({ length: 10_000 }, (_, n) => ({
      email: `r${n}@example.com`,
      no: n,
      cc: ["c@example.com"],
    }));
    const { id } = await as(world, company)("campaigns.sendToReceivers", toReceivers(company, receivers));
    await expanded(id);
    const rows = await recipients(id);
    expect(rows).toHaveLength(10_000);
    expect(new Set(rows.map(({ email }) => email)).size).toBe(10_000);
  });

  test("needs no template if it has content", async () => {
    const company = await newCompany();
    const sent = await as(world, company)("campaigns.sendCustom", {
      name: "  Hello ",
      smtp_config_id: company.smtp,
      subject: "Hi [[name]]",
      body: "<p>[[name]]</p>",
      receivers: [{ email: "ann@example.com", name: "Ann" }],
      scheduled_for: null,
    });
    expect(sent).toMatchObject({
      name: "Hello",
      campaign_type: "custom",
      subject: "Hi [[name]]",
      template: null,
      lists: [],
    });
    expect(await contents(sent.id)).toMatchObject({ subject: "Hi [[name]]", body: "<p>[[name]]</p>" });
  });

  test("ignores fields of another kind of send: a list, a template, a subject", async () => {
    const company = await newCompany();
    const receivers = [{ email: "ann@example.com" }];
    const alien = { list_id: newId(), segment_id: company.id, subject: "[[/if]]", body: 7 };
    const sent = await as(world, company)("campaigns.sendToReceivers", toReceivers(company, receivers, alien));
    expect(sent).toMatchObject({ lists: [], subject: "Hi [[first_name]]" });
    await expanded(sent.id);
    expect(await recipients(sent.id)).toHaveLength(1);
    const given = { ...toList(company), name: "C", subject: "S", body: "B", receivers, template_id: newId() };
    expect(await as(world, company)("campaigns.sendCustom", given)).toMatchObject({
      template: null,
      lists: [],
      total_emails: 1,
    });
  });

  test("accepts ids in any case", async () => {
    const company = await newCompany();
    const file = newId();
    await query(
      "insert into media (id, company_id, filename, content_type, size, sha256) values ($1, $2, 'a', 'b', 1, '')",
      [file, company.id],
    );
    const given = toList(company, {
      list_id: company.list.toUpperCase(),
      template_id: company.template.toUpperCase(),
      attachment_ids: [file.toUpperCase(), file],
    });
    const sent = await as(world, company)("campaigns.sendToList", given);
    expect(sent).toMatchObject({ lists: [company.list], template: company.template });
    expect(await contents(sent.id)).toMatchObject({ media_ids: [file] });
  });

  test("estimates a segment that takes long to count, so that the response does not wait", async () => {
    const company = await newCompany();
    await addMembers(company, 20_000);
    const segment = newId();
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      JSON.stringify({ conditions: [{ field: "email", operator: "contains", value: "u" }] }),
    ]);
    await query("analyze subscribers");
    const size = await segmentSize(company.id, segment, false, 1);
    expect(size).toBeGreaterThan(0);
    expect(Number.isInteger(size)).toBe(true);
    expect(await segmentSize(company.id, segment, false, 30_000)).toBe(20_000);
  });

  test("counts also the unsubscribed members of a segment for transactional mail, which reaches them", async () => {
    const company = await newCompany();
    await addMembers(company, 5);
    await query(
      "update subscribers set status = 'unsubscribed' where id in (select id from subscribers where company_id = $1 limit 2)",
      [company.id],
    );
    const segment = newId();
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      JSON.stringify({ conditions: [{ field: "email", operator: "contains", value: "u" }] }),
    ]);
    const sizes = await Promise.all(
      [false, true].map((transactional) => segmentSize(company.id, segment, transactional)),
    );
    expect(sizes).toEqual([3, 5]);
  });

  test("returns the number of active subscribers of a segment, and sends to these", async () => {
    const company = await newCompany();
    await addMembers(company, 12);
    const segment = newId();
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
      segment,
      company.id,
      JSON.stringify({ conditions: [{ field: "email", operator: "starts_with", value: "u1" }] }),
    ]);
    await query("update subscribers set status = 'unsubscribed' where company_id = $1 and email like 'u12@%'", [
      company.id,
    ]);
    const given = { ...toList(company), list_id: undefined, segment_id: segment };
    const sent = await as(world, company)("campaigns.sendToList", given);
    expect(sent).toMatchObject({ campaign_type: "to_list", total_emails: 3, lists: [] });
    await expanded(sent.id);
    expect(await recipients(sent.id)).toHaveLength(3);
  });

  test("counts duplicate attachments once, in the given order", async () => {
    const company = await newCompany();
    const [a, b] = [newId(), newId()];
    await query(
      "insert into media (id, company_id, filename, content_type, size, sha256) values ($1, $3, 'a', 'b', 1, ''), ($2, $3, 'a', 'b', 1, '')",
      [a, b, company.id],
    );
    const { id } = await as(world, company)("campaigns.sendToList", toList(company, { attachment_ids: [b, a, b] }));
    expect(await contents(id)).toMatchObject({ media_ids: [b, a] });
  });

  test("reads no members of a large list", async () => {
    const company = await newCompany();
    await addMembers(company, 10);
    await transaction(async (client) => {
      // Anything that reads the members would wait for this transaction.
      await client.query("lock table list_members in access exclusive mode");
      await as(world, company)("campaigns.sendToList", toList(company, { scheduled_for: "2999-01-01T00:00:00Z" }));
    });
  });

  describe("with a schedule", () => {
    const soon = (ms: number) => new Date(Date.now() + ms).toISOString();

    test("is scheduled, and starts when due with the members of that time", async () => {
      const company = await newCompany();
      await addMembers(company, 1);
      const sent = await as(world, company)("campaigns.sendToList", toList(company, { scheduled_for: soon(60_000) }));
      expect(sent).toMatchObject({ status: "scheduled", scheduled_for: expect.stringMatching(/Z$/) });
      await addMembers(company, 3, company.list).catch(() => {});
      await query(
        `insert into list_members (company_id, list_id, subscriber_id)
         select $1, $2, id from subscribers where company_id = $1 on conflict do nothing`,
        [company.id, company.list],
      );
      await query("update campaigns set scheduled_for = now() - interval '1 second' where id = $1", [sent.id]);
      await expanded(sent.id);
      expect((await recipients(sent.id)).length).toBeGreaterThan(0);
    });

    test("starts at its time, by the timer alone", async () => {
      const company = await newCompany();
      await addMembers(company, 2);
      const due = Date.now() + 300;
      const { id } = await as(world, company)("campaigns.sendToList", toList(company, { scheduled_for: soon(300) }));
      await until(
        () => campaignRow(id),
        ({ status }) => status === "pending",
      );
      expect(Date.now()).toBeGreaterThanOrEqual(due);
    });

    test("is started once by ten nodes that poll at the same time", async () => {
      const company = await newCompany();
      const { id } = await as(world, company)("campaigns.sendToList", toList(company, { scheduled_for: soon(60_000) }));
      world.emitted.length = 0;
      await query("update campaigns set scheduled_for = now() where id = $1", [id]);
      await Promise.all(Array.from({ length: 10 }, () => as(world)("campaigns.startDue", {})));
      const started = world.emitted.filter(
        ({ event, payload }) => event === "campaign.pending" && payload.campaignId === id,
      );
      expect(started).toHaveLength(1);
    });

    test("never starts after it was cancelled", async () => {
      const company = await newCompany();
      const ask = as(world, company);
      const { id } = await ask("campaigns.sendToList", toList(company, { scheduled_for: soon(60_000) }));
      await ask("campaigns.cancel", { id });
      await query("update campaigns set scheduled_for = now() - interval '1 hour' where id = $1", [id]);
      await ask("campaigns.startDue", {});
      expect(await ask("campaigns.get", { id })).toMatchObject({ status: "cancelled" });
    });
  });
});
