/** Campaigns with `individual_tracking: false`, from the send to every place that might keep data of a hit. */
import { query, queryOne } from "../../../models/database/db.ts";
import { campaignTokenId } from "../../../models/statements/campaign-tokens.ts";
import { requireKnownOpeners } from "../../../services/campaigns/known-openers.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { LinkTokens } from "../../../services/lib/tokens/link-token.ts";
import { rowsWith } from "../../support/address-scan.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";
import { FIREFOX } from "./world.ts";

const API = "/api/emails";
const BODY = `<p><a href="https://example.com/one">One</a> <a href="https://example.com/two?who=[[email]]">Two</a>
  <a href="[[unsubscribe_url]]">Unsubscribe</a></p>`;
const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

const isOver = ({ status }: { status: string }) => !["pending", "sending", "scheduled"].includes(status);

describe("a company that does not track individuals:", () => {
  let app: App;
  let server: SmtpServer;
  let company: TestCompany;
  let smtp: string;
  let template: string;
  let list: string;
  beforeAll(async () => {
    server = await startSmtpServer();
    app = await startApp();
  });
  afterAll(async () => {
    await app.stop();
    await server.stop();
  });
  beforeEach(async () => {
    server.messages.length = 0;
    company = await newCompany(app, { plan: "unlimited" });
    const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
    smtp = (await company.api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
    template = (await company.api.post(`${API}/templates/`, { name: "T", subject: "Hi", body: BODY })).body.id;
    list = (await company.api.post(`${API}/lists/`, { name: "Readers" })).body.id;
    await individually(false);
  });

  async function individually(individual_tracking: boolean): Promise<void> {
    const path = `/api/companies/${company.id}/`;
    const changed = await client(app).patch(path, { individual_tracking }, { token: company.token });
    expect([changed.status, changed.body.individual_tracking]).toEqual([200, individual_tracking]);
  }
  const people = (count: number) =>
    query<{ id: string; email: string }>(
      `with added as (
         insert into subscribers (company_id, email)
         select $1, 'reader-' || n || '@' || $2 || '.example' from generate_series(1, $3::int) n returning id, email),
       joined as (insert into list_members (company_id, list_id, subscriber_id) select $1, $4, id from added)
       select id, email from added order by email`,
      [company.id, company.id, count, list],
    );
  const send = async (extra: object = {}) => {
    const given = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list, ...extra };
    const sent = await company.api.post(`${API}/send/to-list/`, given);
    expect([sent.status, sent.body.opens, sent.body.clicks]).toEqual([201, null, null]);
    return sent.body.id as string;
  };
  const ended = (id: string) => until(async () => (await company.api.get(`${API}/campaigns/${id}/`)).body, isOver);
  const analytics = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/analytics/`)).body;
  const sentEmails = async (id: string) =>
    (await company.api.get(`${API}/sent-emails/`, { query: { campaign: id } })).body.results as {
      id: string;
      recipient: string;
      opened_at: string | null;
    }[];
  /** Paths of a message's pixel and links, by recipient address. */
  function pathsOf(address: string): { open: string; clicks: string[] } {
    const { raw } = server.messages.find(({ to }) => to.includes(address))!;
    const text = raw.replace(/=\r?\n/g, "").replaceAll("=3D", "=");
    const all = [...text.matchAll(/\/api\/emails\/public\/(?:open\/[\w-]+\.gif|click\/[\w-]+\/)/g)].map(
      ([path]) => path,
    );
    return {
      open: all.find((path) => path.includes("/open/"))!,
      clicks: all.filter((path) => path.includes("/click/")),
    };
  }
  const reader = (ip: string, userAgent = FIREFOX): Client =>
    client(app, { ip, headers: { "user-agent": userAgent, accept: "text/html,*/*;q=0.8" } });

  /** Captures everything that is logged on any level. */
  function watchedLogs() {
    const lines: string[] = [];
    const loggers = new Set([app.broker.logger, ...app.broker.services.map(({ logger }) => logger)]);
    const spies = [...loggers].flatMap((logger) =>
      LEVELS.map((level) =>
        jest.spyOn(logger, level).mockImplementation((...given: unknown[]) => {
          lines.push(JSON.stringify(given, (_, value) => (value instanceof Error ? String(value.stack) : value)));
        }),
      ),
    );
    return {
      lines,
      restore() {
        for (const spy of spies) spy.mockRestore();
      },
    };
  }

  test("hits are counted by campaign, link and hour, and no table, webhook, page or log identifies the person", async () => {
    const readers = await people(3);
    const events = ["opened", "clicked", "unsubscribed"];
    const endpoint = { url: "http://127.0.0.1:9/hook", events };
    expect((await company.api.post(`${API}/webhook-endpoints/`, endpoint)).status).toBe(201);
    const id = await send();
    await ended(id);
    const mails = await sentEmails(id);
    const ips = readers.map(() => someIp());
    const own = mails.find(({ recipient }) => recipient === readers[0]!.email)!;
    const traces = [readers[0]!.id, readers[0]!.email, own.id, ips[0]!.slice(0, 30), "reader-agent"];
    const scan = async () => Object.fromEntries(await Promise.all(traces.map(async (x) => [x, await rowsWith(x)])));
    const rows = () => query("select s.*, s.xmin::text as version from sent_emails s order by campaign_no, seq");
    const [before, rowsBefore] = [await scan(), await rows()];

    const logs = watchedLogs();
    for (const [n, { email }] of readers.entries()) {
      const browser = reader(ips[n]!, `${FIREFOX} reader-agent`);
      const { open, clicks } = pathsOf(email);
      expect((await browser.get(open)).status).toBe(200);
      expect((await browser.get(clicks[0]!)).headers.get("location")).toBe("https://example.com/one");
      expect((await browser.get(clicks[1]!)).headers.get("location")).toBe(
        `https://example.com/two?who=${encodeURIComponent(email)}`,
      );
    }
    const again = reader(ips[0]!, `${FIREFOX} reader-agent`);
    await again.get(pathsOf(readers[0]!.email).open);
    await reader(someIp(), "Mozilla/5.0").get(pathsOf(readers[0]!.email).open);
    expect((await again.request("HEAD", pathsOf(readers[0]!.email).clicks[0]!)).status).toBe(302);
    logs.restore();

    const { opens, clicks, links, rates, timeline } = await analytics(id);
    expect([opens, clicks]).toEqual([
      { total: 4, unique: null, machine: 1 },
      { total: 6, unique: null, machine: 0 },
    ]);
    expect(links.map(({ total, unique }: { total: number; unique: null }) => [total, unique])).toEqual([
      [3, null],
      [3, null],
    ]);
    expect(rates).toMatchObject({ open: null, click: null, click_to_open: null, bounce: 0 });
    expect(timeline.reduce((sum: number, hour: { opens: number }) => sum + hour.opens, 0)).toBe(4);
    expect((await company.api.get(`${API}/campaigns/${id}/`)).body).toMatchObject({ opens: null, clicks: null });

    expect(await scan()).toEqual(before);
    expect(await rows()).toEqual(rowsBefore);
    expect((await company.api.get(`${API}/events/`)).body.count).toBe(0);
    expect(await query("select payload from webhook_deliveries where company_id = $1", [company.id])).toEqual([]);
    expect((await sentEmails(id)).map(({ opened_at }) => opened_at)).toEqual([null, null, null]);
    for (const trace of traces) expect(logs.lines.filter((line) => line.includes(trace))).toEqual([]);

    await individually(true);
    expect((await analytics(id)).opens).toEqual(opens);
    expect(await scan()).toEqual(before);
  });

  test("opens of many people through one image proxy are counted, although they share one pixel", async () => {
    const [one] = await people(1);
    const id = await send();
    await ended(id);
    const { open } = pathsOf(one!.email);
    const proxy = reader(someIp(), `${FIREFOX} (via ggpht.com GoogleImageProxy)`);
    const statuses = await Promise.all(Array.from({ length: 65 }, async () => (await proxy.get(open)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await analytics(id)).opens).toMatchObject({ total: 65 });
    // The other address is an office with as many people as allowed.
    const office = reader(someIp());
    const own = await Promise.all(Array.from({ length: 65 }, async () => (await office.get(open)).status));
    expect(own.filter((status) => status === 429)).toHaveLength(5);
    expect(await analytics(id)).toMatchObject({ opens: { total: 130 }, not_recorded: { opens: 0, clicks: 0 } });
  });

  test("all messages of a campaign have the same pixel and links, which open no personal page", async () => {
    const readers = await people(2);
    const id = await send();
    await ended(id);
    const [first, second] = readers.map(({ email }) => pathsOf(email));
    expect(first!.open).toBe(second!.open);
    expect(first!.clicks[0]).toBe(second!.clicks[0]);
    const bytes = Buffer.from(/open\/([\w-]+)/.exec(first!.open)![1]!, "base64url").subarray(0, 16);
    const tokenId = bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
    const { no } = (await queryOne<{ no: number }>("select no from campaigns where id = $1", [id]))!;
    expect(tokenId).toBe(await campaignTokenId(no));
    const browser = reader(someIp());
    for (const page of ["unsubscribe", "view"]) {
      expect((await browser.get(`${API}/public/${page}/${tokenId}/`)).status).toBe(404);
    }
    expect((await browser.post(`${API}/public/unsubscribe/${tokenId}/`, {})).status).toBe(200);
    expect(await query("select from suppressions where company_id = $1", [company.id])).toEqual([]);
    const beyond = new LinkTokens(keysFor("link")[0]!, tokenId).text(9);
    expect((await browser.get(`${API}/public/click/${beyond}/`)).status).toBe(404);
  });

  test("an unsubscribe identifies the person and settles doubt; a hit does neither", async () => {
    const readers = await people(2);
    const id = await send();
    await ended(id);
    await query("update sent_emails set status = 6 where campaign_no = (select no from campaigns where id = $1)", [id]);
    await reader(someIp()).get(pathsOf(readers[0]!.email).open);
    const statuses = async () =>
      (await company.api.get(`${API}/sent-emails/`, { query: { campaign: id } })).body.results.map(
        ({ status, recipient }: { status: string; recipient: string }) => [recipient, status],
      );
    expect((await statuses()).map(([, status]: string[]) => status)).toEqual(["unknown", "unknown"]);
    const mail = (await sentEmails(id)).find(({ recipient }) => recipient === readers[0]!.email)!;
    await reader(someIp()).post(`${API}/public/unsubscribe/${mail.id}/`, { "List-Unsubscribe": "One-Click" });
    expect(Object.fromEntries(await statuses())).toEqual({
      [readers[0]!.email]: "sent",
      [readers[1]!.email]: "unknown",
    });
    expect((await company.api.get(`${API}/events/`)).body.results).toMatchObject([
      { type: "unsubscribed", recipient: readers[0]!.email, sent_email_id: mail.id },
    ]);
    expect((await analytics(id)).unsubscribed).toBe(1);
  });

  test("the setting at the start of the campaign applies, not at its request", async () => {
    const readers = await people(1);
    const scheduled = await send({ scheduled_for: new Date(Date.now() + 3_600_000).toISOString() });
    await individually(true);
    const due = "update campaigns set scheduled_for = now() - interval '1 second' where company_id = $1 and id = $2";
    await query(due, [company.id, scheduled]);
    await ended(scheduled);
    await individually(false);
    const { open } = pathsOf(readers[0]!.email);
    await query("update sent_emails set sent_at = sent_at - interval '1 minute'");
    await reader(someIp()).get(open);
    expect((await analytics(scheduled)).opens).toEqual({ total: 1, unique: 1, machine: 0 });
    expect((await company.api.get(`${API}/events/`)).body.results).toMatchObject([{ recipient: readers[0]!.email }]);
  });

  test("a link that identifies its message, written by the previous release, is only counted, too", async () => {
    await people(1);
    const id = await send();
    await ended(id);
    const [mail] = await sentEmails(id);
    const token = (link: number) => new LinkTokens(keysFor("link")[0]!, mail!.id).text(link);
    await query("update sent_emails set status = 6 where campaign_no = (select no from campaigns where id = $1)", [id]);
    const browser = reader(someIp());
    expect((await browser.get(`${API}/public/open/${token(0)}.gif`)).status).toBe(200);
    expect((await browser.get(`${API}/public/click/${token(1)}/`)).status).toBe(302);
    expect(await analytics(id)).toMatchObject({ opens: { total: 1, unique: null }, clicks: { total: 1 } });
    expect((await company.api.get(`${API}/events/`)).body.count).toBe(0);
    expect((await sentEmails(id))[0]).toMatchObject({ status: "unknown", opened_at: null });
  });

  test("non-openers cannot be selected, and hits are counted by the variant of their message", async () => {
    await people(1);
    const id = await send();
    await ended(id);
    await expect(requireKnownOpeners(company.id, id)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await individually(true);
    await expect(requireKnownOpeners(company.id, id)).rejects.toMatchObject({ code: "BAD_REQUEST" });

    const { no } = (await queryOne<{ no: number }>("select no from campaigns where id = $1", [id]))!;
    const browser = reader(someIp());
    for (const variant of [0, 3, 3]) {
      const tokens = new LinkTokens(keysFor("link")[0]!, await campaignTokenId(no, variant));
      expect((await browser.get(`${API}/public/open/${tokens.text(0)}.gif`)).status).toBe(200);
    }
    const counts = await query<{ bucket: number; n: number }>(
      "select bucket, sum(n)::int as n from campaign_counts where campaign_id = $1 and metric = 'opened_of_variant' group by 1 order by 1",
      [id],
    );
    expect(counts).toEqual([
      { bucket: 0, n: 1 },
      { bucket: 3, n: 2 },
    ]);
    expect((await analytics(id)).opens).toEqual({ total: 3, unique: null, machine: 0 });
  });

  test("links of a deleted campaign still redirect, and nothing is counted", async () => {
    const readers = await people(1);
    const id = await send();
    await ended(id);
    expect((await company.api.delete(`${API}/campaigns/${id}/`)).status).toBe(204);
    const { clicks } = pathsOf(readers[0]!.email);
    expect((await reader(someIp()).get(clicks[0]!)).headers.get("location")).toBe("https://example.com/one");
    const counts = "select from campaign_counts where campaign_id = $1 and metric like 'clicked%'";
    expect(await query(counts, [id])).toEqual([]);
  });
});
