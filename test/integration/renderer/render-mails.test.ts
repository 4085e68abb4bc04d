import { simpleParser } from "mailparser";
import { query } from "../../../models/db.ts";
import { type App, startApp } from "../../support/app.ts";

const COMPANY = "018f0000-0000-7000-8000-00000000000a";
const CONFIG = "018f0000-0000-7000-8000-00000000000b";

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["renderer"] });
  await query("insert into companies (id, name, plan, footer_text) values ($1, 'ACME', 'unlimited', 'Street 1')", [
    COMPANY,
  ]);
  await query(
    "insert into smtp_configs (id, company_id, name, host, port, sender_email) values ($1, $2, 'S', 'h', 25, 'a@example.com')",
    [CONFIG, COMPANY],
  );
});
afterAll(() => app.stop());

let campaigns = 0;
async function campaign(content: { subject?: string; body?: string; tracking?: boolean } = {}): Promise<string> {
  const id = `018f0000-0000-7000-8000-0000000001${String(campaigns++).padStart(2, "0")}`;
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id)
     values ($1, $2, 'C', 'custom', 'pending', $3, $1)`,
    [id, COMPANY, CONFIG],
  );
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, footer_text, tracking_enabled)
     values ($1, $2, $3, $4, 'Ann', 'ann@example.com', 'News', $2, 'ACME', 'Street 1', $5)`,
    [id, COMPANY, content.subject ?? "Hi [[first_name]]", content.body ?? "<p>Hi</p>", content.tracking ?? true],
  );
  return id;
}

interface Mail {
  ok: boolean;
  raw: string;
  error?: string;
}
const render = async (campaignId: string, recipients: object[]): Promise<Mail[]> =>
  (await app.broker.call<{ mails: Mail[] }, object>("renderer.renderMails", { campaignId, recipients })).mails;

const recipient = { id: "018f0000-0000-7000-8000-0000000000ff", email: "bob@example.com", first_name: "Bob" };

describe("renderer.renderMails", () => {
  test("makes a message that an independent parser reads as it was meant", async () => {
    const [mail] = await render(
      await campaign({ body: '<p>Hi <a href="https://example.com/x">[[first_name]]</a></p>' }),
      [recipient],
    );
    expect(mail).toMatchObject({ ok: true });
    const parsed = await simpleParser(Buffer.from(mail!.raw, "latin1"));
    expect(parsed.subject).toBe("Hi Bob");
    expect(parsed.from?.text).toBe('"Ann" <ann@example.com>');
    expect(parsed.messageId).toBe(`<${recipient.id}@example.com>`);
    expect(parsed.text).toContain("Hi Bob");
    expect(parsed.html).toMatch(/href="http:\/\/localhost:\d*\/api\/emails\/public\/click\/[\w-]{35}\/"/);
    expect(parsed.html).toMatch(/\/open\/[\w-]{35}\.gif/);
  });

  test("keeps the campaign's links once, for the redirects", async () => {
    const id = await campaign({
      body: '<a href="https://example.com/1?a=1&amp;b=2">1</a><a href="https://example.com/2">2</a>',
    });
    await render(id, [recipient]);
    const rows = await query("select links from campaign_contents where campaign_id = $1", [id]);
    expect(rows).toEqual([{ links: ["https://example.com/1?a=1&b=2", "https://example.com/2"] }]);
  });

  test("one recipient that cannot be rendered fails no other", async () => {
    const mails = await render(await campaign(), [{ ...recipient, email: "a@b\r\nBcc: c@d.example" }, recipient]);
    expect(mails.map(({ ok }) => ok)).toEqual([false, true]);
  });
});
