/** A/B tests over HTTP: recipients of each variant are counted at the mail server by subject. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { decideWinner } from "../../../models/statements/decide-winner.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { read as readMail } from "../../support/message.ts";
import { type Accepted, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "./world.ts";

const API = "/api/emails";
const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const MACHINE = "Mozilla/5.0";

let app: App;
let server: SmtpServer;
let company: TestCompany;
let smtp: string;
let template: string;
let refused: (to: string) => boolean;
beforeAll(async () => {
  refused = () => false;
  server = await startSmtpServer({
    answer: ({ verb, to }) => (verb === "RCPT" && refused(to) ? "550 5.7.1 not today" : undefined),
  });
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
  await server.stop();
});
beforeEach(async () => {
  refused = () => false;
  server.messages.length = 0;
  company = await newCompany(app, { plan: "unlimited" });
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  smtp = (await company.api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
  template = await newTemplate("Plain", '<p>Plain</p><a href="https://acme.example/plain">Read</a>');
});

const newTemplate = async (subject: string, body: string): Promise<string> =>
  (await company.api.post(`${API}/templates/`, { name: subject, subject, body })).body.id;

async function newList(members: number): Promise<string> {
  const list = (await company.api.post(`${API}/lists/`, { name: "Readers" })).body.id;
  await query(
    `with added as (
       insert into subscribers (company_id, email) select $1, 'r' || n || '@example.com' from generate_series(1, $3::int) n
       returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
    [company.id, list, members],
  );
  return list;
}

const send = (fields: object) =>
  company.api.post(`${API}/send/to-list/`, { name: "News", template_id: template, smtp_config_id: smtp, ...fields });

async function sent(fields: object): Promise<string> {
  const answer = await send(fields);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

const show = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/`)).body;
const analytics = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/analytics/`)).body;
const isOver = ({ status }: { status: string }) => status !== "pending" && status !== "sending";
const ended = (id: string) => until(() => show(id), isOver);
/** Runs once per second in the service. */
const decideNow = () => app.broker.call("campaigns.decideWinners");
const waiting = (id: string) =>
  until(
    async () => {
      await decideNow();
      return show(id);
    },
    ({ winner }) => winner.due_at !== null,
  );
const subjectOf = ({ raw }: Accepted) => /^Subject: (.*)\r$/m.exec(raw)![1]!;
const subjects = () => Object.groupBy(server.messages, subjectOf) as Record<string, Accepted[]>;
const counted = () => Object.fromEntries(Object.entries(subjects()).map(([subject, { length }]) => [subject, length]));

/** Simulates the end of the test period. */
async function timeIsUp(id: string): Promise<void> {
  await query("update campaign_winners set due_at = now() where campaign_id = $1", [id]);
  await decideNow();
}
/** Opens within a second of delivery count as a machine's. */
const longAgo = (id: string) =>
  query(
    "update sent_emails set sent_at = sent_at - interval '1 minute' where campaign_no = (select no from campaigns where id = $1)",
    [id],
  );

async function hit(mails: readonly Accepted[], what: "pixel" | "link", agent = PERSON): Promise<void> {
  for (const { raw } of mails) {
    const { html } = await readMail(Buffer.from(raw, "latin1"));
    const url =
      what === "pixel" ? /<img[^>]+src="([^"]+)"/.exec(html)![1]! : /<a href="([^"]+\/click\/[^"]+)"/.exec(html)![1]!;
    const answer = await company.api.get(url, { headers: { "User-Agent": agent } });
    expect(answer.status).toBe(what === "pixel" ? 200 : 302);
  }
}

const TWO = [
  { subject: "Apples", percent: 20 },
  { subject: "Pears", percent: 30 },
];
const OPENS = { metric: "opens", after_minutes: 240 };

describe("a test with a winner", () => {
  test("sends exact shares; the variant with most openers wins; the others get the winner, and nobody gets two", async () => {
    const list_id = await newList(200);
    const id = await sent({ list_id, variants: TWO, winner: OPENS });
    const held = await waiting(id);
    expect(held).toMatchObject({
      status: "sending",
      total_emails: 200,
      sent_count: 100,
      failed_count: 0,
      variants: [
        { index: 0, subject: "Apples", template_id: template, percent: 20 },
        { index: 1, subject: "Pears", template_id: template, percent: 30 },
      ],
      winner: { metric: "opens", after_minutes: 240, index: null, decided_at: null },
    });
    expect(held.error).toBe(
      `Waiting for the winner of the variants, which is decided at ${held.winner.due_at.slice(0, 19)}Z.`,
    );
    expect(counted()).toEqual({ Apples: 40, Pears: 60 });

    await longAgo(id);
    const { Apples, Pears } = subjects();
    // The share counts, and 3 of 40 are more than 4 of 60; opens by machines do not count.
    await hit(Apples!.slice(0, 3), "pixel");
    await hit(Pears!.slice(0, 4), "pixel");
    await hit(Pears!.slice(0, 20), "pixel", MACHINE);
    expect((await analytics(id)).variants).toEqual([
      { index: 0, percent: 20, sent: 40, opens: 3, clicks: 0 },
      { index: 1, percent: 30, sent: 60, opens: 4, clicks: 0 },
    ]);
    await timeIsUp(id);
    const done = await ended(id);
    expect(done).toMatchObject({
      status: "completed",
      sent_count: 200,
      error: null,
      subject: "Apples",
      winner: { index: 0 },
    });
    expect(counted()).toEqual({ Apples: 140, Pears: 60 });
    expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(200);

    await longAgo(id);
    await hit(server.messages.slice(-2), "pixel");
    expect((await analytics(id)).variants).toEqual([
      { index: 0, percent: 20, sent: 140, opens: 5, clicks: 0 },
      { index: 1, percent: 30, sent: 60, opens: 4, clicks: 0 },
    ]);
  });

  test("is decided by clicks, with templates: each message and its web version have the variant's content and links", async () => {
    const second = await newTemplate("Second", '<p>Second</p><a href="https://acme.example/second">Read</a>');
    const id = await sent({
      list_id: await newList(20),
      variants: [
        { percent: 20 },
        { template_id: second, percent: 20 },
        { template_id: second, subject: "Third", percent: 20 },
      ],
      winner: { metric: "clicks", after_minutes: 1 },
    });
    await waiting(id);
    expect(counted()).toEqual({ Plain: 4, Second: 4, Third: 4 });
    await longAgo(id);
    await hit(subjects().Third!.slice(0, 2), "link");
    await hit(subjects().Plain!, "pixel");
    await timeIsUp(id);
    await ended(id);
    expect(counted()).toEqual({ Plain: 4, Second: 4, Third: 12 });
    const { links, variants } = await analytics(id);
    expect(links).toEqual([
      { url: "https://acme.example/plain", total: 0, unique: 0 },
      { url: "https://acme.example/second", total: 2, unique: 2 },
    ]);
    expect(variants.map(({ sent, opens, clicks }: Record<string, number>) => [sent, opens, clicks])).toEqual([
      [4, 4, 0],
      [4, 0, 0],
      [12, 0, 2],
    ]);
    const listed = (await company.api.get(`${API}/sent-emails/`, { query: { campaign: id, page_size: 100 } })).body
      .results;
    for (const subject of ["Plain", "Second", "Third"]) {
      const own = listed.filter((mail: { subject: string }) => mail.subject === subject);
      expect(own).toHaveLength(counted()[subject]!);
      const page = await company.api.get(`${API}/public/view/${own.at(-1).id}/`);
      expect(page.text).toContain(subject === "Plain" ? "<p>Plain</p>" : "<p>Second</p>");
    }
  });

  test("works with a segment; if stopped while the others wait, a resume lets them wait again; the first variant wins a tie", async () => {
    await newList(40);
    const rules = { match: "all", conditions: [{ field: "email", operator: "contains", value: "r" }] };
    const segment_id = (await company.api.post(`${API}/segments/`, { name: "All", rules })).body.id;
    const id = await sent({ segment_id, variants: TWO, winner: OPENS });
    await waiting(id);
    const test = server.messages.map(({ to, raw }) => [to[0], /^Subject: .*$/m.exec(raw)![0]]);
    await company.api.post(`${API}/campaigns/${id}/stop/`, {});
    expect(await ended(id)).toMatchObject({ status: "partial", sent_count: 20, failed_count: 20 });
    await timeIsUp(id);
    await company.api.post(`${API}/campaigns/${id}/resume/`, {});
    expect(await waiting(id)).toMatchObject({ sent_count: 20, failed_count: 0, winner: { index: null } });
    expect(server.messages).toHaveLength(20);
    await timeIsUp(id);
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 40, winner: { index: 0 } });
    expect(counted()).toEqual({ Apples: 28, Pears: 12 });
    expect(server.messages.slice(0, 20).map(({ to, raw }) => [to[0], /^Subject: .*$/m.exec(raw)![0]])).toEqual(test);
  });

  test("resumes recipients refused in the test with the same variant, and the winner stays", async () => {
    const bad = (to: string) => Number(/\d+/.exec(to)![0]) % 10 === 0;
    refused = bad;
    const id = await sent({ list_id: await newList(100), variants: TWO, winner: OPENS });
    await waiting(id);
    const variantOf = async () =>
      query<{ email: string; variant: number | null }>(
        `select s.email, e.variant from sent_emails e join subscribers s on s.id = e.subscriber_id
         where e.campaign_no = (select no from campaigns where id = $1) order by s.email`,
        [id],
      );
    const before = await variantOf();
    await longAgo(id);
    await hit(subjects().Pears!.slice(0, 5), "pixel");
    await timeIsUp(id);
    expect(await ended(id)).toMatchObject({
      status: "partial",
      sent_count: 90,
      failed_count: 10,
      winner: { index: 1 },
    });
    refused = () => false;
    await company.api.post(`${API}/campaigns/${id}/resume/`, {});
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 100, winner: { index: 1 } });
    expect(await variantOf()).toEqual(before);
    expect(counted()).toEqual({ Apples: 20, Pears: 80 });
    for (const { to, raw } of server.messages) {
      const { variant } = before.find(({ email }) => email === to[0])!;
      expect(/^Subject: (.*)\r$/m.exec(raw)![1]).toBe(variant === 0 ? "Apples" : "Pears");
    }
  });
});

test("content of a campaign or a variant is used instead of a template, and no template is created", async () => {
  const list_id = await newList(4);
  const content = {
    subject: "Hello [[first_nam]]",
    preheader: "Peek",
    body: '<style>p { color: red }</style><p>One</p><a href="https://acme.example/one">Read</a>',
    text_body: "One, as text",
    inline_css: true,
  };
  const other = { subject: "Other", body: "<p>Two</p>" };
  const variants = [{ percent: 50 }, { percent: 50, content: other }];
  const answer = await send({ template_id: undefined, content, variants, list_id });
  expect(answer).toMatchObject({
    status: 201,
    body: { template: null, template_id: null, subject: "Hello [[first_nam]]" },
  });
  expect(answer.body.warnings).toContainEqual(expect.stringContaining("No subscriber has the variable [[first_nam]]"));
  const { id } = answer.body;
  expect(await ended(id)).toMatchObject({
    status: "completed",
    sent_count: 4,
    variants: [
      { subject: "Hello [[first_nam]]", template_id: null },
      { subject: "Other", template_id: null },
    ],
  });
  expect(counted()).toEqual({ Hello: 2, Other: 2 });
  const { html, text } = await readMail(Buffer.from(subjects().Hello![0]!.raw, "latin1"));
  expect(html).toMatch(/Peek[\s\S]*<p style="color: ?red;?">One<\/p>/);
  expect(text).toContain("One, as text");
  const second = await readMail(Buffer.from(subjects().Other![0]!.raw, "latin1"));
  expect(second.html).toContain("<p>Two</p>");
  expect([second.html, second.text].join()).not.toMatch(/Peek|One/);
  const shown = await company.api.get(`${API}/campaigns/${id}/content/`, { query: { variant: 1 } });
  expect(shown.body).toMatchObject({ subject: "Other", html: expect.stringContaining("<p>Two</p>") });
  expect((await company.api.get(`${API}/templates/`)).body.count).toBe(1);

  const copy = (await company.api.post(`${API}/campaigns/${id}/duplicate/`, {})).body;
  expect(copy).toMatchObject({
    kind: "to-list",
    body: { content: { ...content, body: expect.stringContaining("One</p>") }, variants, list_id },
  });
  expect(copy.body).not.toHaveProperty("template_id");
  expect((await company.api.get(`${API}/drafts/${copy.id}/check/`)).body).toEqual({ errors: {} });
  // The content that the second variant inherits is not lost when the first one's is shown.
  const base = { subject: "Own", body: "<p>Own</p>" };
  const reversed = [
    { percent: 50, content: other },
    { percent: 50, subject: "Second" },
  ];
  const inherited = await sent({ template_id: undefined, content: base, variants: reversed, list_id });
  await ended(inherited);
  const again = (await company.api.post(`${API}/campaigns/${inherited}/duplicate/`, {})).body;
  expect(again.body).toMatchObject({ content: { body: base.body }, variants: reversed });
  // A variant keeps its own content when a template is given, too.
  const mixed = await sent({ list_id, variants, scheduled_for: new Date(Date.now() + 3_600_000).toISOString() });
  const own = [template, null];
  const templatesOf = async () => (await show(mixed)).variants.map((one: { template_id: string }) => one.template_id);
  expect(await templatesOf()).toEqual(own);
  await query("update campaigns set scheduled_for = now() where id = $1", [mixed]);
  await until(
    () => show(mixed),
    ({ status }) => status === "completed",
  );
  expect(await templatesOf()).toEqual(own);
});

test("a design in a campaign's or a variant's content is what is sent, read, edited and duplicated; faults name their path", async () => {
  const designOf = (text: unknown) => {
    const blocks = [{ type: "heading", text }, { type: "footer" }];
    return { version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] };
  };
  const list_id = await newList(4);
  const content = { subject: "Designed", preheader: "Peek", design: designOf("One [[first_name|default:friend]]") };
  const variants = [
    { percent: 50 },
    { percent: 50, content: { subject: "Other", design: designOf("Two"), text_body: "Two, as text" } },
  ];
  const faultOf = async (fields: object) => (await send({ template_id: undefined, list_id, ...fields })).body;
  const wrong = { subject: "S", design: designOf(5) };
  const sentence = "design: blocks[0].columns[0].blocks[0].text: Not a valid string.";
  expect(await faultOf({ content: wrong })).toEqual({ content: [sentence] });
  expect(await faultOf({ content: { ...content, body: "<p>B</p>" } })).toEqual({
    content: ["design: Give either design or body, not both."],
  });
  expect(await faultOf({ content: { subject: "S" } })).toEqual({ content: ["body: This field is required."] });
  const empty = { version: 1, blocks: [] };
  const nothing = "blocks: Add at least one block with content.";
  const hollow = { subject: "S", design: empty };
  expect(await faultOf({ content: hollow })).toEqual({ content: [`design: ${nothing}`] });
  expect((await faultOf({ content, variants: [variants[0], { percent: 50, content: hollow }] })).variants).toEqual([
    `Item at index 1: content: design: ${nothing}`,
  ]);
  const custom = { name: "C", smtp_config_id: smtp, receivers: [{ email: "a@example.com" }], ...hollow };
  expect((await company.api.post(`${API}/send/custom/`, custom)).body).toEqual({ design: [nothing] });
  expect((await faultOf({ content, variants: [variants[0], { percent: 50, content: wrong }] })).variants).toEqual([
    `Item at index 1: content: ${sentence}`,
  ]);

  const later = new Date(Date.now() + 3_600_000).toISOString();
  const sending = { template_id: undefined, content, variants, list_id, scheduled_for: later };
  const answer = await send(sending);
  expect(answer).toMatchObject({ status: 201, body: { template_id: null, warnings: [] } });
  const { id } = answer.body;
  expect(await show(id)).toMatchObject({ design: content.design });
  const listed = (await company.api.get(`${API}/campaigns/`)).body.results;
  expect(listed.some((one: object) => "design" in one)).toBe(false);
  const copied = async () => (await company.api.post(`${API}/campaigns/${id}/duplicate/`, {})).body;
  const { scheduled_for: _, template_id: __, ...same } = sending;
  expect((await copied()).body).toMatchObject(same);
  expect((await copied()).body.content).toEqual(content);

  const edit = (changes: object) => company.api.patch(`${API}/campaigns/${id}/`, changes);
  expect((await edit({ design: designOf(5) })).body).toEqual({ design: [sentence.slice("design: ".length)] });
  expect((await edit({ design: designOf("New"), body: "<p>B</p>" })).status).toBe(400);
  expect((await edit({ design: empty })).body).toEqual({ design: [nothing] });
  const elsewhere = ['Unknown field. Did you mean "body"?'];
  expect((await edit({ subject: "S", markdown: "# M" })).body).toEqual({ markdown: elsewhere });
  const shown = Object.entries(await show(id)).filter(([, value]) => value !== null);
  expect(await edit(Object.fromEntries(shown))).toMatchObject({ status: 200, body: { design: content.design } });
  expect((await edit({ body: "<p>HTML</p>" })).body).toMatchObject({ design: null });
  expect((await copied()).body.content).toEqual({ ...content, design: undefined, body: "<p>HTML</p>" });
  expect((await edit({ design: designOf("New"), preheader: null })).body).toMatchObject({ design: designOf("New") });
  expect((await copied()).body.content).toEqual({ subject: "Designed", design: designOf("New") });
  await query("update campaigns set scheduled_for = now() where id = $1", [id]);
  await until(
    () => show(id),
    ({ status }) => status === "completed",
  );
  expect(counted()).toEqual({ Designed: 2, Other: 2 });
  const mailOf = (subject: string) => readMail(Buffer.from(subjects()[subject]![0]!.raw, "latin1"));
  const [first, second] = [await mailOf("Designed"), await mailOf("Other")];
  expect(first.html).toMatch(/<h1[^>]*>New<\/h1>/);
  expect(first.text).toMatch(/^New\n/);
  expect(second.html).toMatch(/<h1[^>]*>Two<\/h1>/);
  expect(second.text).toMatch(/^Two, as text/);
  expect((await copied()).body).toMatchObject({ content: { design: designOf("New") }, variants });
});

test("comparing by untracked events causes a warning, and only one of two concurrent decisions is stored", async () => {
  await query("update companies set tracking_enabled = false where id = $1", [company.id]);
  const answer = await send({ list_id: await newList(10), variants: TWO, winner: OPENS });
  expect(answer.body.warnings).toContain(
    "This company tracks neither opens nor clicks (tracking_enabled), so the first variant will win.",
  );
  const { id } = answer.body;
  await waiting(id);
  const key = { company_id: company.id, campaign_id: id };
  const decide = () => transaction((client) => decideWinner(client, key));
  expect(await decide()).toBeUndefined();
  const breaksOff = transaction(async (client) => {
    await client.query("update campaign_winners set due_at = now() where campaign_id = $1", [id]);
    expect(await decideWinner(client, key)).toBe(0);
    throw new Error("killed");
  });
  await expect(breaksOff).rejects.toThrow("killed");
  expect(await queryOne("select state from send_chunks where campaign_id = $1 order by lo desc", [id])).toEqual({
    state: 3,
  });
  await query("update campaign_winners set due_at = now() where campaign_id = $1", [id]);
  const decided = await Promise.all([decide(), decide(), decide()]);
  // The service also decides, once per second.
  expect(decided.filter((winner) => winner !== undefined).length).toBeLessThanOrEqual(1);
  expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 10, winner: { index: 0 } });
  expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(10);
  expect(server.messages).toHaveLength(10);
});

test("a test without a winner sends all variants at once by their shares; a scheduled campaign's edit covers variants", async () => {
  const list_id = await newList(31);
  const variants = [{ percent: 33.4 }, { subject: "Pears", percent: 33.3 }, { subject: "Plums", percent: 33.3 }];
  const scheduled_for = new Date(Date.now() + 3_600_000).toISOString();
  const id = await sent({ list_id, variants, winner: null, scheduled_for });
  expect((await company.api.patch(`${API}/campaigns/${id}/`, { subject: "Cherries" })).body).toMatchObject({
    status: "scheduled",
    variants: [{ subject: "Cherries" }, { subject: "Pears" }, { subject: "Plums" }],
    winner: null,
  });
  await query("update campaigns set scheduled_for = now() where id = $1", [id]);
  expect(
    await until(
      () => show(id),
      ({ status }) => status === "completed",
    ),
  ).toMatchObject({ sent_count: 31, error: null });
  const shares = counted();
  expect(Object.keys(shares).sort()).toEqual(["Cherries", "Pears", "Plums"]);
  for (const n of Object.values(shares)) expect([10, 11]).toContain(n);
  expect((await analytics(id)).variants.map(({ sent }: { sent: number }) => sent)).toEqual([
    shares.Cherries,
    shares.Pears,
    shares.Plums,
  ]);
});

test("errors of a test are reported at their fields, and other sends refuse these fields", async () => {
  const list_id = await newList(1);
  const fault = async (fields: object) => {
    const { status, body } = await send({ list_id, ...fields });
    return [status, body];
  };
  const half = { percent: 50 };
  expect(await fault({ variants: [half], winner: OPENS })).toEqual([
    400,
    { variants: ["Ensure this field has at least 2 elements."] },
  ]);
  expect(await fault({ variants: Array.from({ length: 6 }, () => ({ percent: 1 })) })).toEqual([
    400,
    { variants: ["Ensure this field has no more than 5 elements."] },
  ]);
  expect(await fault({ variants: [half, { percent: 40 }] })).toEqual([
    400,
    { variants: ["The percentages add up to 90. Without a winner, shares must add up to 100 %."] },
  ]);
  expect(await fault({ variants: [half, { percent: 60 }], winner: OPENS })).toEqual([
    400,
    { variants: ["The percentages add up to 110. Shares may not add up to more than 100 %."] },
  ]);
  const other = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b";
  expect(
    await fault({
      variants: [
        { ...half, template_id: other },
        { ...half, subjct: "x" },
      ],
    }),
  ).toEqual([
    400,
    {
      variants: [
        `Item at index 0: template_id: Invalid pk "${other}" - object does not exist.`,
        'Item at index 1: subjct: Unknown field. Did you mean "subject"?',
      ],
    },
  ]);
  const content = { subject: "[[#if a]]", body: "<p>Hi</p>" };
  expect(await fault({ variants: [half, { ...half, template_id: template, content }] })).toEqual([
    400,
    {
      variants: [
        expect.stringMatching(/^Item at index 1: content: subject: /),
        "Item at index 1: content: Give either template_id or content, not both.",
      ],
    },
  ]);
  expect(await fault({ winner: OPENS })).toEqual([400, { winner: ["A winner needs variants."] }]);
  expect(await fault({ variants: TWO, winner: { metric: "replies", after_minutes: 5 } })).toMatchObject([
    400,
    { winner: ['metric: "replies" is not a valid choice.'] },
  ]);
  const receivers = { name: "N", template_id: template, smtp_config_id: smtp, receivers: [{ email: "a@example.com" }] };
  expect(
    await company.api.post(`${API}/send/to-receivers/`, { ...receivers, variants: TWO, winner: OPENS }),
  ).toMatchObject({
    status: 400,
    body: { variants: ["Unknown field."], winner: ["Unknown field."] },
  });
  expect(await queryOne("select from campaigns where company_id = $1", [company.id])).toBeUndefined();
});
