import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../../models/database/db.ts";
import { downloadFrom } from "../../../services/lib/download.ts";
import {
  addMembers,
  as,
  campaignRow,
  deliverAll,
  expanded,
  newCompany,
  recipients,
  toList,
  useCompany,
  useWorld,
} from "./world.ts";

describe("reading campaigns", () => {
  const world = useWorld();
  const company = useCompany();

  test("lists the newest first, with search, filters and orderings", async () => {
    const ask = as(world, company);
    const ids: string[] = [];
    for (const name of ["Alpha", "Beta", "Gamma"])
      ids.push((await ask("campaigns.sendToList", toList(company, { name }))).id);
    await query("update campaigns set status = 'completed' where company_id = $1", [company.id]);
    await query("update campaigns set status = 'failed', sent_count = 5 where id = $1", [ids[1]]);
    const names = async (params: object) => (await ask("campaigns.list", params)).results.map(({ name }) => name);
    expect(await ask("campaigns.list", {})).toMatchObject({ count: 3 });
    expect(await names({})).toEqual(["Gamma", "Beta", "Alpha"]);
    expect(await names({ ordering: "created_at" })).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(await names({ ordering: "-name" })).toEqual(["Gamma", "Beta", "Alpha"]);
    expect(await names({ ordering: "-sent_count", page_size: 1 })).toEqual(["Beta"]);
    expect(await names({ search: "alp" })).toEqual(["Alpha"]);
    expect(await names({ status: "failed" })).toEqual(["Beta"]);
    expect(await ask("campaigns.list", { status: "failed" })).toMatchObject({ count: 1 });
    expect(await names({ campaign_type: "custom" })).toEqual([]);
    expect(await names({ page: 2, page_size: 2 })).toEqual(["Alpha"]);
    await expect(ask("campaigns.list", { ordering: "worker_task_id" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(ask("campaigns.list", { status: "done" as "failed" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(ask("campaigns.list", { page: 4 })).rejects.toMatchObject({ code: "INVALID_PAGE" });
    expect(await as(world, await newCompany())("campaigns.list", {})).toMatchObject({ count: 0, results: [] });
  });

  test("sorts the list by time of creation", async () => {
    const ask = as(world, company);
    const at: Record<string, string> = {};
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      const { id } = await ask("campaigns.sendToList", toList(company, { name }));
      at[name] = (await ask("campaigns.get", { id })).created_at;
    }
    await query(
      "update campaigns set created_at = created_at + interval '2 seconds' where company_id = $1 and name = 'Gamma'",
      [company.id],
    );
    const seen = async (params: object) => {
      const { count, results } = await ask("campaigns.list", { ordering: "created_at", ...params });
      expect(count).toBe(results.length);
      return results.map(({ name }) => name);
    };
    const later = (name: string, ms: number) => new Date(Date.parse(at[name]!) + ms).toISOString();
    expect(await seen({ created_after: later("Alpha", -1) })).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(await seen({ created_after: later("Gamma", 1_000) })).toEqual(["Gamma"]);
    expect(await seen({ created_before: later("Gamma", 1_000) })).toEqual(["Alpha", "Beta"]);
    expect(await seen({ created_before: at.Alpha })).toEqual([]);
    expect(await seen({ created_after: "0001-01-01T00:00:00Z", created_before: "9999-12-31T23:59:59Z" })).toHaveLength(
      3,
    );
    await expect(ask("campaigns.list", { created_after: "yesterday" })).rejects.toMatchObject({ code: "INVALID" });
  });

  test("shows content and the number of people who opened and clicked, in the list, too", async () => {
    await addMembers(company, 3);
    const ask = as(world, company);
    const { id, ...sent } = await ask("campaigns.sendToList", toList(company));
    const was = {
      subject: "Hi [[first_name]]",
      template_id: company.template,
      list_id: company.list,
      segment_id: null,
      smtp_config_id: company.smtp,
      is_transactional: false,
      started_at: null,
      finished_at: null,
      opens: 0,
      clicks: 0,
    };
    expect(sent).toMatchObject(was);
    await query("delete from templates where company_id = $1", [company.id]);
    const event = `insert into email_events (company_id, campaign_id, type, recipient, machine, is_first, link, is_first_of_link)
      select $1, $2, type, 'u1@example.com', machine, is_first, link, link is not null and is_first from (values
        ('opened', false, true, null), ('opened', false, false, null), ('opened', true, false, null),
        ('opened', false, true, null), ('clicked', false, true, 1::smallint), ('clicked', true, false, 1)) e (type, machine, is_first, link)`;
    await query(event, [company.id, id]);
    await query(
      "update campaigns set started_at = '2026-01-02T03:04:05Z', finished_at = '2026-01-02T03:05:05Z' where id = $1",
      [id],
    );
    const now = {
      ...was,
      started_at: "2026-01-02T03:04:05.000Z",
      finished_at: "2026-01-02T03:05:05.000Z",
      opens: 2,
      clicks: 1,
    };
    expect(await ask("campaigns.get", { id })).toMatchObject(now);
    expect((await ask("campaigns.list", {})).results).toMatchObject([{ id, ...now }]);
    expect(await ask("campaigns.stop", { id })).toMatchObject({ opens: 2, clicks: 1 });
    // Wakes the senders at once.
    expect(world.emitted).toContainEqual({ event: "campaign.stopped", payload: { campaignId: id } });
  });

  test("returns the fields of the specification and of the extensions", async () => {
    const ask = as(world, company);
    const { id } = await ask("campaigns.sendToList", toList(company, { scheduled_for: "2999-01-01T00:00:00+01:00" }));
    expect(await ask("campaigns.get", { id })).toEqual({
      id,
      name: "News",
      campaign_type: "to_list",
      status: "scheduled",
      total_emails: 0,
      sent_count: 0,
      failed_count: 0,
      suppressed_count: 0,
      scheduled_for: "2998-12-31T23:00:00.000Z",
      timezone: null,
      next_zone_at: null,
      error: null,
      subject: "Hi [[first_name]]",
      template_id: company.template,
      list_id: company.list,
      segment_id: null,
      smtp_config_id: company.smtp,
      is_transactional: false,
      started_at: null,
      finished_at: null,
      opens: 0,
      clicks: 0,
      created_at: expect.any(String),
      design: null,
      variants: [],
      winner: null,
      updated_at: expect.any(String),
    });
  });

  describe("the results as CSV", () => {
    const csv = async (id: string) => {
      const asked = { action: "campaigns.export", params: { id } };
      return text(await downloadFrom(world.app.broker, asked, { meta: { companyId: company.id } }));
    };

    test("have one line per recipient, quoted, and no cell that a spreadsheet would run as a formula", async () => {
      await addMembers(company, 2);
      await query(
        "update subscribers set email = '=cmd@example.com' where company_id = $1 and email = 'u1@example.com'",
        [company.id],
      );
      const { id } = await as(world, company)("campaigns.sendToList", toList(company));
      await expanded(id);
      await query(
        `update sent_emails set status = 3, error = '550 5.1.1 "no", never' where campaign_no = (select no from campaigns where id = $1) and subscriber_id in (select id from subscribers where email like '=%')`,
        [id],
      );
      await query(
        `update sent_emails set status = 2, sent_at = '2026-01-02T03:04:05Z', opened_at = '2026-01-03T00:00:00Z', opens = 2
         where campaign_no = (select no from campaigns where id = $1) and subscriber_id in (select id from subscribers where email not like '=%')`,
        [id],
      );
      const [header, ...lines] = (await csv(id)).split("\r\n");
      expect(header).toBe("email,status,error,sent_at,opened_at,clicked_at,opens,clicks");
      expect(lines.toSorted()).toEqual([
        "",
        '\'=cmd@example.com,failed,"550 5.1.1 ""no"", never",,,,0,0',
        "u2@example.com,sent,,2026-01-02T03:04:05.000Z,2026-01-03T00:00:00.000Z,,2,0",
      ]);
    });

    test("contain each recipient once, even if they are more than one page", async () => {
      await addMembers(company, 4_100);
      const { id } = await as(world, company)("campaigns.sendToList", toList(company));
      await expanded(id);
      const lines = (await csv(id)).trimEnd().split("\r\n");
      expect(lines).toHaveLength(4_101);
      expect(new Set(lines).size).toBe(4_101);
    });

    test("have only the header for a campaign without recipients", async () => {
      const { id } = await as(world, company)("campaigns.sendToList", toList(company));
      expect(await csv(id)).toBe("email,status,error,sent_at,opened_at,clicked_at,opens,clicks\r\n");
    });
  });

  describe("the double opt-in mail", () => {
    const unconfirmed = async () => {
      await addMembers(company, 1);
      const row = await queryOne<{ id: string }>(
        "update subscribers set status = 'unconfirmed' where company_id = $1 returning id",
        [company.id],
      );
      return row!.id;
    };
    /** Campaign of the confirmation email. */
    async function confirmation(subscriberId: string): Promise<string> {
      await query("insert into unsent_confirmations values ($1, $2, now(), 'en')", [company.id, subscriberId]);
      await as(world, company)("campaigns.sendConfirmations", {});
      const sql = "select id from campaigns where company_id = $1 and is_internal order by id desc limit 1";
      // The service's own run may be creating it at this moment.
      for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(20)) {
        const campaign = await queryOne<{ id: string }>(sql, [company.id]);
        if (campaign) return campaign.id;
      }
      throw new Error("No confirmation was created within 10 s");
    }

    test.each([
      ["Ann", "Ann"],
      ["Win $$$ at https://evil.example/ now", ""],
      ["evil.example", ""],
    ])("greets with a name and carries no advertisement: %j", async (typed, greeting_name) => {
      const subscriber_id = await unconfirmed();
      await query("update subscribers set first_name = $2 where id = $1", [subscriber_id, typed]);
      const campaign_id = await confirmation(subscriber_id);
      expect(await recipients(campaign_id)).toMatchObject([{ variables: { greeting_name } }]);
      const content = await queryOne<{ subject: string; body: string }>(
        "select subject, body from campaign_contents where campaign_id = $1",
        [campaign_id],
      );
      expect(content!.subject + content!.body).not.toMatch(/first_name|last_name/);
    });

    test("is ready for senders immediately, transactional, untracked, counted in the quota, and listed nowhere", async () => {
      const subscriber_id = await unconfirmed();
      const ask = as(world, company);
      const campaign_id = await confirmation(subscriber_id);
      expect(await recipients(campaign_id)).toMatchObject([
        {
          seq: 1,
          email: "u1@example.com",
          subscriber_id,
          status: 0,
          variables: { confirm_url: expect.stringContaining("/confirm/"), company_name: "Acme" },
        },
      ]);
      expect(
        await queryOne("select lo, hi, state, is_transactional from send_chunks where campaign_id = $1", [campaign_id]),
      ).toEqual({
        lo: 1,
        hi: 1,
        state: 0,
        is_transactional: true,
      });
      expect(
        await queryOne("select tracking_enabled, subject from campaign_contents where campaign_id = $1", [campaign_id]),
      ).toEqual({
        tracking_enabled: false,
        subject: "Please confirm your subscription to [[company_name]]",
      });
      expect(await queryOne("select emails from usage_months where company_id = $1", [company.id])).toEqual({
        emails: 1,
      });
      expect(await ask("campaigns.list", {})).toMatchObject({ count: 0, results: [] });
      expect(world.emitted).toContainEqual({
        event: "campaign.queued",
        payload: { campaignId: campaign_id, companyId: company.id },
      });
      await deliverAll(campaign_id);
      await ask("campaigns.settle", { campaign_id });
      expect(await campaignRow(campaign_id)).toMatchObject({ status: "completed" });
    });

    test("uses the company's choice of server, else the default, else the newest", async () => {
      const subscriber_id = await unconfirmed();
      const through = async () => {
        return (await campaignRow(await confirmation(subscriber_id))).smtp_config_id;
      };
      const other = (await newCompany()).smtp;
      await query("update smtp_configs set company_id = $1 where id = $2", [company.id, other]);
      expect(await through()).toBe(other);
      await query("update smtp_configs set is_default = true where id = $1", [company.smtp]);
      expect(await through()).toBe(company.smtp);
      await query("update companies set default_smtp_config_id = $2 where id = $1", [company.id, other]);
      expect(await through()).toBe(other);
    });
  });
});
