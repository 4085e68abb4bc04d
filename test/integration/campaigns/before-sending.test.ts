/** Checks before a send: audience, errors of a draft, preview. */
import { query } from "../../../models/database/db.ts";
import { countAudience } from "../../../services/campaigns/send/count-audience.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, newCompany, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "./world.ts";

const API = "/api/emails";

let app: App;
let server: SmtpServer;
let company: TestCompany;
let api: Client;
beforeAll(async () => {
  [server, app] = [await startSmtpServer(), await startApp()];
  company = await newCompany(app);
  api = company.api;
});
afterAll(async () => {
  await app?.stop();
  await server.stop();
});

async function create(path: string, body: object): Promise<string> {
  const answer = await api.post(`${API}/${path}/`, body);
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.body.id;
}

/**
 * Creates a list of seven people, of whom two get a campaign and three a transactional email, and an eighth person who
 * left the list.
 */
async function listOfSeven(): Promise<string> {
  const list = await create("lists", { name: "Readers" });
  const statuses = ["active", "active", "active", "unsubscribed", "bounced", "complained", "unconfirmed"];
  for (const [n, status] of statuses.entries()) {
    const id = await create("subscribers", {
      email: `${status}${n}@${n === 2 ? "blocked" : "example"}.test`,
      lists: [list],
    });
    await query("update subscribers set status = $3 where company_id = $1 and id = $2", [company.id, id, status]);
  }
  const left = await create("subscribers", { email: "left@example.test", lists: [list] });
  await api.post(`${API}/subscribers/bulk-update-lists/`, { subscriber_ids: [left], remove_from_lists: [list] });
  await create("suppressions", { domain: "blocked.test", reason: "Asked" });
  return list;
}

const leftOut = { unconfirmed: 1, unsubscribed: 1, bounced: 1, complained: 1, suppressed: 1 };

describe("audience count", () => {
  let list: string;
  let segment: string;
  beforeAll(async () => {
    list = await listOfSeven();
    const rules = { match: "all", conditions: [{ field: "list", operator: "in", value: [list] }] };
    segment = await create("segments", { name: "S", rules });
  });
  const audience = (asked: Record<string, string | boolean>) => api.get(`${API}/send/audience/`, { query: asked });

  test("equals the number of people that the send then reaches, and counts every other person under one reason", async () => {
    const counted = { total: 7, recipients: 2, left_out: leftOut, is_estimate: false };
    expect((await audience({ list_id: list })).body).toEqual(counted);
    expect((await audience({ segment_id: segment })).body).toEqual(counted);
    const smtp = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
    const sent = await api.post(`${API}/send/to-list/`, {
      name: "News",
      list_id: list,
      template_id: await create("templates", { name: "T", subject: "News", body: "<p>News</p>" }),
      smtp_config_id: await create("smtp-configs", { ...smtp, sender_email: "news@acme.example" }),
    });
    const ended = await until(
      async () => (await api.get(`${API}/campaigns/${sent.body.id}/`)).body,
      ({ status }) => status === "completed",
    );
    expect(ended).toMatchObject({ total_emails: 2, sent_count: 2, suppressed_count: 5 });
  });

  test("for transactional email includes people who unsubscribed from newsletters", async () => {
    expect((await audience({ list_id: list, is_transactional: true })).body).toMatchObject({
      recipients: 3,
      left_out: { ...leftOut, unsubscribed: 0 },
    });
  });

  test("accepts exactly one list or segment, of the caller's company only", async () => {
    expect((await audience({})).status).toBe(400);
    expect((await audience({ list_id: list, segment_id: segment })).status).toBe(400);
    const other = await newCompany(app);
    expect(await other.api.get(`${API}/send/audience/`, { query: { list_id: list } })).toMatchObject({
      status: 400,
      body: { list_id: [expect.stringMatching(/does not exist/)] },
    });
    expect((await audience({ segment_id: newId() })).status).toBe(400);
  });

  test("is an estimate, less than 20 % off, for many people", async () => {
    const many = await create("lists", { name: "Many" });
    await query(
      `with added as (
         insert into subscribers (company_id, email, status)
         select $1, 'm' || n || '@many.test', case when n % 4 = 0 then 'unsubscribed' else 'active' end
         from generate_series(1, 4000) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
      [company.id, many],
    );
    const asked = { companyId: company.id, listId: many, isTransactional: false };
    expect(await countAudience(asked)).toMatchObject({ total: 4000, recipients: 3000, isEstimate: false });
    const estimate = (await countAudience({ ...asked, maxExact: 1000 }))!;
    expect(estimate.isEstimate).toBe(true);
    expect(estimate.recipients).toBeGreaterThan(2500);
    expect(estimate.recipients).toBeLessThan(3500);
    expect(estimate.total).toBe(estimate.recipients + estimate.leftOut.unsubscribed);
  });
});

describe("a draft", () => {
  const draft = (kind: string, body: object) => create("drafts", { name: "Later", kind, body });
  const preview = (id: string, asked: object = {}) => api.post(`${API}/drafts/${id}/preview/`, asked);

  test("is validated like its send, and is kept after a refused send", async () => {
    const id = await draft("to-list", { list_id: newId(), scheduled_for: "2000-01-01T00:00:00Z", wrong: 1 });
    const { status, body } = await api.get(`${API}/drafts/${id}/check/`);
    const sent = await api.post(`${API}/drafts/${id}/send/`, {});
    expect([status, sent.status, body.errors]).toEqual([200, 400, sent.body]);
    expect(Object.keys(body.errors).toSorted()).toEqual([
      "list_id",
      "scheduled_for",
      "smtp_config_id",
      "template_id",
      "wrong",
    ]);
    expect((await api.get(`${API}/drafts/${newId()}/check/`)).status).toBe(404);
  });

  test("is validated like a template if it has its own content, with errors at the field, and previewed with that content", async () => {
    const content = { subject: "Hello [[first_name|default:friend]]", preheader: "Peek", body: "<p>One</p>" };
    const invalidBodies = [
      [{ template_id: newId(), content }, "Give either template_id or content, not both."],
      [{ content: { ...content, subject: "[[#if a]]" } }, /^subject: /],
      [{ content: { ...content, body: "[[#each a]]" } }, /^body: /],
      [{ content: { ...content, preheader: "x".repeat(999) } }, /^preheader: Ensure .* no more than 998/],
      [{ content: { ...content, body: "x".repeat(1_000_001) } }, /^body: Ensure .* no more than 1000000/],
      [{ content: { body: "B" } }, "subject: This field is required."],
      [{ content: { ...content, html: "B" } }, 'Unknown field "html".'],
      [{ content: "B" }, 'Expected a dictionary of items but got type "str".'],
    ] as const;
    for (const [body, text] of invalidBodies) {
      const id = await draft("to-list", body);
      const { errors } = (await api.get(`${API}/drafts/${id}/check/`)).body;
      const sent = await api.post(`${API}/send/to-list/`, { name: "Later", ...body });
      expect([sent.status, errors]).toEqual([400, sent.body]);
      expect(errors.content).toEqual([expect.stringMatching(text)]);
    }
    const id = await draft("to-list", { content });
    expect(Object.keys((await api.get(`${API}/drafts/${id}/check/`)).body.errors).toSorted()).toEqual([
      "list_id",
      "smtp_config_id",
    ]);
    expect((await preview(id)).body).toMatchObject({ subject: "Hello Ann", html: expect.stringContaining("One") });
    const variants = [{ percent: 50 }, { percent: 50, content: { subject: "Two", body: "<p>2</p>" } }];
    const withVariants = await draft("to-list", { content, variants });
    expect((await preview(withVariants, { variant: 1 })).body).toMatchObject({ subject: "Two" });
    expect((await preview(withVariants, { variant: 1 })).body.html).not.toContain("Peek");
  });

  test("is previewed as a subscriber or receiver would get it, with each variant", async () => {
    const city = { attributes: { city: "London" } };
    await create("subscribers", { email: "ada@example.test", first_name: "Ada", ...city });
    const body = "<p>[[first_name|default:friend]] in [[city|default:nowhere]]</p>";
    const template = await create("templates", { name: "T", subject: "Hello [[first_name]]", body });
    const variants = [{ percent: 50 }, { percent: 50, subject: "News from [[city]]" }];
    const toList = await draft("to-list", { template_id: template, variants });
    expect((await preview(toList)).body).toMatchObject({
      subject: "Hello Ann",
      html: expect.stringContaining("Ann in nowhere"),
    });
    expect((await preview(toList, { email: "ADA@example.test", variant: 1 })).body).toMatchObject({
      subject: "News from London",
      html: expect.stringContaining("Ada in London"),
      text: expect.stringContaining("Ada in London"),
    });
    const receivers = [{ email: "Ada@example.test", city: "Ockham" }];
    const custom = await draft("custom", { subject: "S", body, preheader: "Peek", receivers });
    const shown = await preview(custom, { email: "ada@example.test" });
    expect(shown.body.html).toMatch(/Peek[\s\S]*Ada in Ockham/);
  });

  test("warns of the number of people on its list who lack a value, but gives no such warning for named receivers", async () => {
    const list = await create("lists", { name: "Nameless" });
    for (const n of [1, 2, 3]) {
      const named = n === 3 ? { first_name: "Bo" } : {};
      await create("subscribers", { email: `nameless${n}@example.test`, lists: [list], ...named });
    }
    const template = await create("templates", { name: "T", subject: "S", body: "<p>Hello [[first_name]],</p>" });
    const gap = /^2 people on this list have no \[\[first_name\]\]/;
    const toList = await preview(await draft("to-list", { template_id: template, list_id: list }));
    expect(toList.body.warnings).toContainEqual(expect.stringMatching(gap));
    const receivers = [{ email: "x@example.test", first_name: "X" }];
    const toReceivers = await preview(await draft("to-receivers", { template_id: template, receivers }));
    expect(toReceivers.body.warnings.join()).not.toContain("first_name");
  });

  test("has no preview without an existing template: 400 with an error for template_id", async () => {
    for (const template of [undefined, newId(), "no id"]) {
      const id = await draft("to-list", { template_id: template });
      expect(await preview(id)).toMatchObject({ status: 400, body: { template_id: [expect.any(String)] } });
    }
    expect((await preview(newId())).status).toBe(404);
  });
});
