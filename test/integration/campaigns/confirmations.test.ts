/** Queued confirmations are sent once each; if that is impossible, the owners are notified. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { askToConfirm, confirmMailbox } from "../../../models/statements/ask-to-confirm.ts";
import { askToChangeAddress } from "../../../models/statements/change-address.ts";
import { sendAddressChanges } from "../../../services/campaigns/address-change-mails.ts";
import { sendConfirmations } from "../../../services/campaigns/confirmation.ts";
import { newId } from "../../../services/lib/ids.ts";
import { readPersonToken } from "../../../services/lib/tokens/person-token.ts";
import { useRows } from "./rows.ts";
import { useCompany } from "./world.ts";

// Nothing delivers system emails here, so they stay rows. Set before the configuration is first read.
process.env.SYSTEM_SMTP_URL = "smtp://127.0.0.1:9";

describe("queued confirmations", () => {
  const rows = useRows();
  const company = useCompany();

  const mails = () =>
    query<{ variables: { confirm_url: string }; subject: string }>(
      `select e.variables, t.subject from campaigns c join sent_emails e on e.campaign_no = c.no
       join campaign_contents t on t.campaign_id = c.id where c.company_id = $1 and c.is_internal`,
      [company.id],
    );
  const queued = () => query("select 1 from unsent_confirmations where company_id = $1", [company.id]);
  async function ask(): Promise<string> {
    const { id: subscriberId } = (await queryOne<{ id: string }>(
      `insert into subscribers (company_id, email, status) values ($1, 'a@example.com', 'unconfirmed')
       on conflict (company_id, email_key) do update set updated_at = now() returning id`,
      [company.id],
    ))!;
    const wish = {
      companyId: company.id,
      subscriberId,
      listId: null,
      doubleOptIn: true,
      acceptLanguage: "de",
      isNew: true,
      values: { first_name: "", last_name: "", attributes: {} },
    };
    await transaction((client) => askToConfirm(client, wish));
    return subscriberId;
  }
  const owner = async () => {
    const user = newId();
    await query("insert into users (id, email, password_hash) values ($1, $2, 'x')", [user, `${user}@example.com`]);
    await query("insert into memberships (company_id, user_id, role) values ($1, $2, 'owner')", [company.id, user]);
    return `${user}@example.com`;
  };
  const notices = (recipient: string) =>
    query<{ kind: string; data: { reason: string } }>("select kind, data from system_mails where recipient = $1", [
      recipient,
    ]);

  test("are sent once on any number of nodes, in the recipient's language, with a link that confirms", async () => {
    const subscriberId = await ask();
    await Promise.all([1, 2, 3, 4].map(() => sendConfirmations(rows.broker)));
    const sent = await mails();
    expect(sent).toHaveLength(1);
    expect(sent[0]!.subject).toMatch(/Bitte|best\u00e4tigen/i);
    expect(await queued()).toEqual([]);
    const token = /\/confirm\/([\w-]+)\/$/.exec(sent[0]!.variables.confirm_url)![1]!;
    const link = readPersonToken("confirm", token)!;
    expect(link).toMatchObject({ companyId: company.id, subscriberId, expired: false });
    expect(await transaction((client) => confirmMailbox(client, link))).toEqual({ email: "a@example.com", joins: [] });
  });

  test("for a change of address are sent once on any number of nodes, and dropped if there is no mail server", async () => {
    const subscriberId = await ask();
    await query("update subscribers set status = 'active' where company_id = $1", [company.id]);
    const change = (email: string) =>
      transaction((client) =>
        askToChangeAddress(client, { companyId: company.id, subscriberId, email, acceptLanguage: "de" }),
      );
    await change("new@example.com");
    await Promise.all([1, 2, 3, 4].map(() => sendAddressChanges(rows.broker)));
    const sent = await mails();
    expect(sent).toHaveLength(1);
    const token = /\/address\/([\w-]+)\/$/.exec(sent[0]!.variables.confirm_url)![1]!;
    expect(readPersonToken("address", token)).toMatchObject({ companyId: company.id, subscriberId, expired: false });

    const recipient = await owner();
    await query("delete from smtp_configs where company_id = $1", [company.id]);
    await change("newer@example.com");
    await sendAddressChanges(rows.broker);
    expect(await notices(recipient)).toMatchObject([{ kind: "confirmation_unsent" }]);
    const left = "select email from address_changes where company_id = $1";
    expect(await query(left, [company.id])).toEqual([{ email: "new@example.com" }]);
  });

  test("link to the company's own domain once it is verified", async () => {
    const domain = `read.${company.id}.example`;
    const claim = "insert into tracking_domains (company_id, domain, token, proved_at) values ($1, $2, 'token', now())";
    await query(claim, [company.id, domain]);
    await ask();
    await sendConfirmations(rows.broker);
    expect(new URL((await mails())[0]!.variables.confirm_url).hostname).toBe(domain);
  });

  test.each([
    ["an SMTP configuration", "delete from smtp_configs where company_id = $1", /no mail server is connected/i],
    [
      "room in the month",
      "with p as (insert into plans (name, emails_per_month) values ('none', 0) returning name) update companies set plan = p.name from p where id = $1",
      /quota exceeded/,
    ],
  ])(
    "are not sent without %s; owners are warned once a day, and the next request tries again",
    async (_what, take, reason) => {
      const recipient = await owner();
      await query(take, [company.id]);
      const { config } = await import("../../../services/lib/config.ts");
      expect(config().SYSTEM_SMTP_URL).toBeDefined();
      for (let n = 0; n < 2; n++) {
        await ask();
        expect(await queued()).toHaveLength(1);
        await sendConfirmations(rows.broker);
        expect(await queued()).toEqual([]);
      }
      expect(await mails()).toEqual([]);
      expect(await notices(recipient)).toEqual([
        { kind: "confirmation_unsent", data: { company: "Acme", reason: expect.stringMatching(reason) } },
      ]);
      await query(
        "update companies set confirmation_warned_at = confirmation_warned_at - interval '25 hours' where id = $1",
        [company.id],
      );
      await ask();
      await sendConfirmations(rows.broker);
      expect(await notices(recipient)).toHaveLength(2);
    },
  );
});
