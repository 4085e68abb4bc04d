/** HTTP API of campaigns and media, with all services except the sender. */
import type { ServiceSchema } from "moleculer";
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, type TestCompany } from "../../support/client.ts";

const API = "/api/emails";
const UNKNOWN = "01a00000-0000-7000-8000-000000000000";
const room = { limit: null, used: 0, room: null, retry_after_seconds: 0 } as {
  limit: number | null;
  used: number;
  room: number | null;
  retry_after_seconds: number;
};

describe("campaigns over HTTP", () => {
  let app: App;
  let company: TestCompany;
  let template: string;
  let smtp: string;
  let list: string;
  beforeAll(async () => {
    app = await startApp({
      services: ["accounts", "gateway", "subscribers", "renderer", "tracking", "webhooks", "campaigns"],
    });
    app.broker.createService({ name: "smtp-sender", actions: { hourRoom: () => room } } as ServiceSchema);
    await app.broker.waitForServices("smtp-sender");
    company = await newCompany(app);
    const { api } = company;
    template = (await api.post(`${API}/templates/`, { name: "T", subject: "Hi [[first_name]]", body: "<p>Hi</p>" }))
      .body.id;
    list = (await api.post(`${API}/lists/`, { name: "Readers" })).body.id;
    for (const email of ["ann@example.com", "bob@example.com"]) {
      await api.post(`${API}/subscribers/`, { email, lists: [list] });
    }
    smtp = UNKNOWN.replace(/0$/, "5");
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_name, sender_email)
       values ($1, $2, 'S', '127.0.0.1', 2525, 'Acme', 'news@acme.example')`,
      [smtp, company.id],
    );
  });
  afterAll(() => app.stop());

  const toList = (extra: object = {}) => ({
    name: "News",
    template_id: template,
    smtp_config_id: smtp,
    list_id: list,
    ...extra,
  });
  const receivers = [{ email: "carol@example.com", first_name: "Carol", order: 7 }];

  test("the three sends return 201 with the campaign", async () => {
    const { api } = company;
    const first = await api.post(`${API}/send/to-list/`, toList());
    expect(first).toMatchObject({
      status: 201,
      body: { status: "pending", total_emails: 2, company: company.id, lists: [list] },
    });
    const second = await api.post(`${API}/send/to-receivers/`, { ...toList(), list_id: undefined, receivers });
    expect(second).toMatchObject({ status: 201, body: { campaign_type: "to_receivers", total_emails: 1 } });
    const third = await api.post(`${API}/send/custom/`, {
      name: "C",
      smtp_config_id: smtp,
      subject: "S",
      body: "<p>B</p>",
      receivers,
    });
    expect(third).toMatchObject({ status: 201, body: { campaign_type: "custom", template: null } });
    const all = await api.get(`${API}/campaigns/`, { query: { page_size: 2 } });
    expect(all).toMatchObject({
      status: 200,
      body: { count: 3, previous: null, next: expect.stringMatching(/page=2/) },
    });
    expect((await api.get(`${API}/campaigns/${first.body.id}/`)).body).toMatchObject({
      id: first.body.id,
      name: "News",
    });
  });

  test("a send with a bearer token names the company in its body", async () => {
    const api = client(app, { token: company.token });
    expect(await api.post(`${API}/send/to-list/`, toList())).toMatchObject({
      status: 400,
      body: { company: expect.any(Array) },
    });
    expect(await api.post(`${API}/send/to-list/`, toList({ company: company.id }))).toMatchObject({ status: 201 });
  });

  test("a send without a key is 401, and one with several errors reports all in one 400", async () => {
    const given = { name: "", template_id: UNKNOWN, smtp_config_id: "x", receivers: [{ name: "nobody" }] };
    expect(await company.api.post(`${API}/send/to-receivers/`, given)).toMatchObject({
      status: 400,
      body: {
        name: ["This field may not be blank."],
        template_id: [`Invalid pk "${UNKNOWN}" - object does not exist.`],
        smtp_config_id: ["Must be a valid UUID."],
        receivers: ["Receiver at index 0 is missing 'email'."],
      },
    });
    expect(await client(app).post(`${API}/send/to-list/`, toList())).toMatchObject({ status: 401 });
  });

  test("a misspelled field refuses the send with a hint, and no campaign is created", async () => {
    const { api } = company;
    const count = async () => (await api.get(`${API}/campaigns/`)).body.count;
    const before = await count();
    const at = new Date(Date.now() + 86_400_000).toISOString();
    expect(await api.post(`${API}/send/to-list/`, toList({ schedule_for: at }))).toMatchObject({
      status: 400,
      body: { schedule_for: ['Unknown field. Did you mean "scheduled_for"?'] },
    });
    const { list_id: _, ...toNobody } = toList();
    expect(await api.post(`${API}/send/to-receivers/`, { ...toNobody, receivers, subject: "Other" })).toMatchObject({
      status: 400,
      body: { subject: ["Unknown field."] },
    });
    expect(await count()).toBe(before);
    const again = await api.get(`${API}/subscribers/`, { query: { lists: list } });
    expect(again).toMatchObject({ status: 400, body: { lists: ['Unknown field. Did you mean "list"?'] } });
    const change = { frist_name: "Ann" };
    expect(await api.patch(`${API}/subscribers/${UNKNOWN}/`, change)).toMatchObject({ status: 404 });
  });

  test("a send to receivers ignores list_id and response-only fields", async () => {
    const sent = await company.api.post(`${API}/send/to-receivers/`, { ...toList(), receivers, status: "x", id: 1 });
    expect(sent).toMatchObject({ status: 201, body: { lists: [], total_emails: 1, status: "pending" } });
  });

  test("a suppressed receiver has a row with the reason in the list, its counts, and the CSV", async () => {
    const { api } = await newCompany(app).then(async (other) => {
      await query("update smtp_configs set company_id = $2 where id = $1", [smtp, other.id]);
      return other;
    });
    await api.post(`${API}/suppressions/`, { domain: "blocked.example" });
    const given = ["a@blocked.example", "b@example.com", "c@blocked.example"].map((email) => ({ email }));
    const body = { name: "C", smtp_config_id: smtp, subject: "S", body: "<p>B</p>", receivers: given };
    const { id, suppressed_count } = (await api.post(`${API}/send/custom/`, body)).body;
    expect(suppressed_count).toBe(0);
    const expanded = () => query("select from campaigns where id = $1 and expanded_at is not null", [id]);
    while ((await expanded()).length === 0) await new Promise((done) => setTimeout(done, 20));
    await query("update smtp_configs set company_id = $2 where id = $1", [smtp, company.id]);
    expect((await api.get(`${API}/campaigns/${id}/`)).body).toMatchObject({ total_emails: 1, suppressed_count: 2 });
    const mails = (more: object) => api.get(`${API}/sent-emails/`, { query: { campaign: id, ...more } });
    const why = "The address or its domain is suppressed.";
    expect((await mails({ status: "suppressed" })).body).toMatchObject({
      count: 2,
      results: [
        { recipient: "a@blocked.example", status: "suppressed", error: why, subject: "S", attempts: 0 },
        { recipient: "c@blocked.example", status: "suppressed", error: why },
      ],
    });
    expect((await mails({ page_size: 2 })).body).toMatchObject({ count: 3, results: [{}, {}] });
    const csv = (await api.get(`${API}/campaigns/${id}/export/`)).text;
    expect(csv.split("\r\n").filter((row) => row.includes("suppressed"))).toHaveLength(2);
    expect(
      (await query("select count_of(company_id, 'sent_emails', company_id) n from campaigns where id = $1", [id]))[0],
    ).toEqual({ n: 3 });
  });

  test("a send of more mails than the hour has left gets 429 with Retry-After", async () => {
    Object.assign(room, { limit: 100, used: 99, room: 1, retry_after_seconds: 60 });
    const answer = await company.api.post(`${API}/send/to-list/`, toList());
    Object.assign(room, { limit: null, used: 0, room: null, retry_after_seconds: 0 });
    expect(answer).toMatchObject({
      status: 429,
      body: { detail: { code: "smtp_rate_limited", limit_type: "hourly" } },
    });
    expect(answer.headers.get("retry-after")).toBe("60");
  });

  test("queued messages count towards the hour like sent ones; failed ones do not", async () => {
    const busy = await newCompany(app);
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_name, sender_email)
       values ($1, $1, 'S', '127.0.0.1', 2525, 'Acme', 'news@acme.example')`,
      [busy.id],
    );
    const send = async (n: number) => {
      const people = Array.from({ length: n }, (_, i) => ({ email: `p${i}@example.com` }));
      const body = { name: "N", smtp_config_id: busy.id, subject: "S", body: "B", receivers: people };
      return (await busy.api.post(`${API}/send/custom/`, body)).status;
    };
    Object.assign(room, { limit: 10, used: 0, room: 10, retry_after_seconds: 60 });
    try {
      expect((await Promise.all([send(6), send(6)])).toSorted()).toEqual([201, 429]);
      expect(await send(5)).toBe(429);
      expect(await send(4)).toBe(201);
      expect(await send(1)).toBe(429);
      await query("update campaigns set failed_count = total_emails where company_id = $1", [busy.id]);
      expect(await send(10)).toBe(201);
    } finally {
      Object.assign(room, { limit: null, used: 0, room: null, retry_after_seconds: 0 });
    }
  });

  test("the OpenAPI document describes receivers, and declares no JSON for pages that have none", async () => {
    const { paths, components } = (await client(app).get("/openapi.json")).body;
    const behind = (node: { $ref?: string }) => {
      const [, , kind, name] = node.$ref?.split("/") ?? [];
      return kind && name ? components[kind][name] : node;
    };
    const { schema } = paths[`${API}/send/custom/`].post.requestBody.content["application/json"];
    expect(behind(schema.properties.receivers).items).toMatchObject({
      title: "Receiver",
      required: ["email"],
      properties: { email: {}, cc: {}, bcc: {} },
      additionalProperties: true,
    });
    expect(behind(behind(schema.properties.receivers).items.properties.email)).toMatchObject({ format: "email" });
    const media = (path: string) => Object.keys(behind(paths[`${API}/public/${path}/`].get.responses["200"]).content);
    expect(media("view/{sent_email_id}")).toEqual(["text/html"]);
    expect(media("unsubscribe/{sent_email_id}")).toEqual(["text/html"]);
    expect(media("preferences/{token}")).toEqual(["text/html", "application/json"]);
  });

  test("Idempotency-Key is read from the header", async () => {
    const { api } = company;
    const headers = { "Idempotency-Key": "order-1043" };
    const first = await api.post(`${API}/send/to-list/`, toList(), { headers });
    expect((await api.post(`${API}/send/to-list/`, toList(), { headers })).body).toEqual(first.body);
    expect(await api.post(`${API}/send/to-list/`, toList({ name: "Other" }), { headers })).toMatchObject({
      status: 409,
    });
    const long = { "Idempotency-Key": "x".repeat(257) };
    expect(await api.post(`${API}/send/to-list/`, toList(), { headers: long })).toMatchObject({ status: 400 });
  });

  test("a scheduled send is cancelled once, and a resume of it is refused", async () => {
    const { api } = company;
    const { body } = await api.post(`${API}/send/to-list/`, toList({ scheduled_for: "2999-01-01T00:00:00Z" }));
    expect(body).toMatchObject({ status: "scheduled", scheduled_for: "2999-01-01T00:00:00.000Z" });
    expect(await api.post(`${API}/campaigns/${body.id}/cancel/`)).toMatchObject({
      status: 200,
      body: { status: "cancelled" },
    });
    expect(await api.post(`${API}/campaigns/${body.id}/cancel/`)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/cancelled/) },
    });
    expect(await api.post(`${API}/campaigns/${body.id}/resume/`)).toMatchObject({ status: 400 });
  });

  test("the results are a CSV download", async () => {
    const { api } = company;
    const { body } = await api.post(`${API}/send/to-list/`, toList());
    const answer = await api.get(`${API}/campaigns/${body.id}/export/`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(answer.text).toMatch(/^email,status,error,sent_at,opened_at,clicked_at,opens,clicks\r\n/);
  });

  test("a file is uploaded, public at its url, deleted, and then no longer served", async () => {
    const { api } = company;
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(700_000, 7)]);
    const up = await api.post(`${API}/media/`, fileForm(new Uint8Array(png), "Größe.png"));
    expect(up).toMatchObject({
      status: 201,
      body: { filename: "Größe.png", content_type: "image/png", size: png.length },
    });
    const down = await client(app).get(up.body.url);
    expect(down.status).toBe(200);
    expect(down.bytes.equals(png)).toBe(true);
    expect(down.headers.get("content-type")).toBe("image/png");
    expect(down.headers.get("content-length")).toBe(String(png.length));
    expect(down.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await api.get(`${API}/media/`)).toMatchObject({
      status: 200,
      body: { count: 1, results: [{ id: up.body.id }] },
    });
    expect(await api.delete(`${API}/media/${up.body.id}/`)).toMatchObject({ status: 204 });
    expect((await client(app).get(up.body.url)).status).toBe(404);
    expect(await api.get(`${API}/media/${up.body.id}/`)).toMatchObject({ status: 404 });
  });

  test("a page declared as an image is downloaded, not displayed", async () => {
    const up = await company.api.post(`${API}/media/`, fileForm("<html><script>alert(1)</script></html>", "cat.png"));
    const down = await client(app).get(up.body.url);
    expect(down.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(down.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  });

  test("a missing file is 400; another company's campaign or file is 404", async () => {
    expect(await company.api.post(`${API}/media/`, new FormData())).toMatchObject({
      status: 400,
      body: { file: expect.any(Array) },
    });
    const other = await newCompany(app);
    const { body: campaign } = await company.api.post(`${API}/send/to-list/`, toList());
    const { body: media } = await company.api.post(`${API}/media/`, fileForm("words", "a.txt"));
    for (const path of [
      `campaigns/${campaign.id}`,
      `campaigns/${campaign.id}/export`,
      `media/${media.id}`,
      "campaigns/nonsense",
    ]) {
      expect(await other.api.get(`${API}/${path}/`)).toMatchObject({ status: 404, body: { detail: "Not found." } });
    }
    for (const path of [`campaigns/${campaign.id}/cancel`, `campaigns/${campaign.id}/resume`]) {
      expect(await other.api.post(`${API}/${path}/`)).toMatchObject({ status: 404 });
    }
    expect(await other.api.delete(`${API}/media/${media.id}/`)).toMatchObject({ status: 404 });
    expect(await other.api.post(`${API}/send/to-list/`, toList())).toMatchObject({ status: 400 });
  });

  test("receivers become subscribers in the background", async () => {
    const { api } = company;
    await api.post(`${API}/send/to-receivers/`, {
      ...toList(),
      list_id: undefined,
      receivers: [{ email: "dora@example.com", first_name: "Dora" }],
    });
    for (let tries = 0; tries < 100; tries++) {
      const found = await api.get(`${API}/subscribers/`, { query: { search: "dora@" } });
      if (found.body.count === 1) return expect(found.body.results[0]).toMatchObject({ first_name: "Dora" });
      await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error("dora was not saved");
  });
});
