/** A new campaign in steps, as a browser without JavaScript goes through them: drafts, errors at their fields, previews, the send. */
import { simpleParser } from "mailparser";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";

let app: App;
let server: SmtpServer;
let company: TestCompany;
let browser: ConsoleBrowser;
let list: string;
let smtp: string;
let template: string;

const E = "/api/emails";
const at = (path: string, of = company) => `/app/${of.id}/${path}`;

async function made(path: string, body: object, of = company): Promise<string> {
  const answer = await of.api.post(`${E}/${path}/`, body);
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.body.id;
}

const draftsOf = async (of = company) => (await of.api.get(`${E}/drafts/`)).body.results;
const campaignsOf = async (of = company) => (await of.api.get(`${E}/campaigns/`)).body.results;
const bodyOf = async (id: string) => (await company.api.get(`${E}/drafts/${id}/`)).body.body;

beforeAll(async () => {
  [server, app] = [await startSmtpServer(), await startApp()];
  company = await newCompany(app, { name: "Lantern Books" });
  browser = await signIn(app, company);
  list = await made("lists", { name: "Readers" });
  for (const [email, first_name] of [
    ["ada@example.com", "Ada"],
    ["bob@example.com", "Bob"],
    ["gone@example.com", "Gone"],
  ]) {
    await made("subscribers", { email, first_name, lists: [list] });
  }
  await query("update subscribers set status = 'unsubscribed' where company_id = $1 and email = 'gone@example.com'", [
    company.id,
  ]);
  const config = { name: "Relay", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  smtp = await made("smtp-configs", { ...config, sender_name: "Lantern", sender_email: "news@lantern.example" });
  template = await made("templates", {
    name: "Monthly",
    subject: "For [[first_name]]",
    body: "<p>Hi [[first_name]]</p>",
  });
});
afterAll(async () => {
  await app?.stop();
  await server.stop();
});

/** A draft of these fields, by the API. */
const drafted = (body: object, kind = "to-list", name = "October") => made("drafts", { name, kind, body });
const whole = () => ({ list_id: list, template_id: template, smtp_config_id: smtp });

test("each step is saved with errors at their fields, and the send shows the number of recipients and reaches them once", async () => {
  await browser.open(at("campaigns/new"));
  const nameless = await browser.send(at("campaigns/new"), { name: " ", audience: `list:${list}` });
  expect(nameless.status).toBe(400);
  expect(nameless.html).toContain('id="wrong-name"');
  expect(await draftsOf()).toEqual([]);

  const counted = await browser.send(at("campaigns/new"), { name: "October", audience: `list:${list}`, do: "count" });
  expect(counted.html).toContain("2 people would get it now.");
  expect(counted.html).toContain("1 has unsubscribed");
  const first = await browser.send(at("campaigns/new"), { name: "October", audience: `list:${list}` });
  const [draft] = await draftsOf();
  const path = at(`campaigns/drafts/${draft.id}`);
  expect(first).toMatchObject({ status: 303, location: `${path}/what` });
  expect(draft).toMatchObject({ name: "October", kind: "to-list", body: { list_id: list, smtp_config_id: smtp } });

  await browser.open(`${path}/what`);
  const nothing = await browser.send(`${path}/what`, { content: "own", subject: "", body: "Hello" });
  expect(nothing.status).toBe(400);
  expect(nothing.html).toContain('id="wrong-subject"');
  const faulty = await browser.send(`${path}/what`, { content: "own", subject: "News", body: "Hello [[#if]]" });
  expect([faulty.status, /id="wrong-body"/.test(faulty.html)]).toEqual([400, true]);
  expect(await bodyOf(draft.id)).toMatchObject({ content: { subject: "News" } });
  const written = {
    content: "own",
    subject: "News for [[first_name]]",
    body: "Dear [[first_name]],\n\nhello & welcome.",
  };
  expect(await browser.send(`${path}/what`, written)).toMatchObject({ status: 303, location: path });
  const paragraphs = expect.stringContaining("<p>Dear [[first_name]],</p>\n<p>hello &amp; welcome.</p>");
  const content = { subject: written.subject, body: paragraphs };
  expect(await bodyOf(draft.id)).toEqual({ list_id: list, smtp_config_id: smtp, content });
  const templates = async () =>
    (await company.api.get(`${E}/templates/`, { query: { search: "October" } })).body.results;
  expect(await templates()).toEqual([]);
  const asked = await browser.send(`${path}/what`, { ...written, do: "template" });
  expect([asked.status, /saved as the template “October”/.test(asked.html)]).toEqual([200, true]);
  expect(await templates()).toMatchObject([{ name: "October", ...content }]);
  expect(await bodyOf(draft.id)).toEqual({ list_id: list, smtp_config_id: smtp, content });

  const serverless = await browser.send(`${path}/from`, {});
  expect([serverless.status, /id="wrong-smtp_config_id"/.test(serverless.html)]).toEqual([400, true]);
  const from = { smtp_config_id: smtp, "utm.source": "newsletter" };
  expect(await browser.send(`${path}/from`, from)).toMatchObject({ status: 303, location: path });
  expect(await browser.send(`${path}/when`, { when: "now" })).toMatchObject({ status: 303, location: path });

  const check = await browser.open(path);
  expect(check.html).toContain("2 people in “Readers” get this now.");
  expect(check.html).toContain("1 has unsubscribed");
  expect(check.html).toContain("Lantern &lt;news@lantern.example&gt;");
  expect(check.html).toContain("<strong>News for Ann</strong>");
  expect((await browser.open(`${path}?look=dark`)).html).toContain("This email has no dark colors of its own");
  const tested = await browser.send(`${path}/test`, { to: "editor@example.com", person: "ada@example.com" });
  expect(tested.html).toContain("The test went to editor@example.com.");
  expect((await simpleParser(server.messages[0]!.raw)).subject).toBe("[Test] News for Ada");
  await browser.send(`${path}/test`, { to: "bob@example.com" });
  expect((await simpleParser(server.messages[1]!.raw)).subject).toBe("[Test] News for Bob");

  const seen = /name="seen" value="([^"]+)"/.exec(check.html)![1]!;
  const sends = await Promise.all([1, 2, 3].map(() => browser.send(`${path}/send`, { seen })));
  const again = await browser.send(`${path}/send`, { seen });
  const [campaign, ...others] = await campaignsOf();
  expect(others).toEqual([]);
  const to = at(`campaigns/${campaign.id}?notice=campaignSent`);
  expect([...sends, again].map(({ status, location }) => [status, location])).toEqual(Array(4).fill([303, to]));
  expect((await browser.open(to)).html).toContain("The campaign has started.");
  await server.received(4);
  const mails = await Promise.all(server.messages.slice(2).map(({ raw }) => simpleParser(raw)));
  expect(mails.map(({ subject }) => subject).toSorted()).toEqual(["News for Ada", "News for Bob"]);
  expect(await browser.open(path)).toMatchObject({ status: 404, title: "This draft is gone" });
});

test("plain text is saved as HTML and shown as typed, also by autosave, and a button converts its placeholders and links", async () => {
  const id = await drafted({ list_id: list });
  const path = at(`campaigns/drafts/${id}/what`);
  await browser.open(path);
  const body = "Hi\n\n- a\n- www.shop.example.com";
  await browser.send(path, { content: "own", subject: "Hi", body, do: "autosave" });
  expect((await bodyOf(id)).content.body).toContain(
    '<p>Hi</p>\n<ul>\n<li>a</li>\n<li><a href="https://www.shop.example.com">www.shop.example.com</a></li>\n</ul>',
  );
  expect((await browser.open(path)).html).toContain(`>${body}</textarea>`);
  const version = {
    ab: "on",
    "variant.0.percent": "50",
    "variant.1.percent": "50",
    "variant.1.template_id": "written",
    "variant.1.subject": "B",
    "variant.1.body": body,
  };
  await browser.send(path, { content: "own", subject: "Hi", body, ...version });
  expect((await bodyOf(id)).variants[1].content.body).toContain("<p>Hi</p>\n<ul>");
  expect((await browser.open(path)).html.split(`>${body}</textarea>`)).toHaveLength(3);
  const foreign = { content: "own", subject: "Hi *|FNAME|*", body: '<a href="www.shop.example.com">{{ city }}</a>' };
  const offered = await browser.send(path, { ...foreign, do: "autosave" });
  expect(offered.html).toContain('value="convert"');
  const converted = await browser.send(path, { ...foreign, do: "convert" });
  expect([converted.status, converted.html.includes('value="convert"')]).toEqual([200, false]);
  expect((await bodyOf(id)).content).toEqual({
    subject: "Hi [[first_name]]",
    body: '<a href="https://www.shop.example.com">[[city]]</a>',
  });
  await company.api.delete(`${E}/drafts/${id}/`);
});

test("changes after the review are shown again before sending; a refusal is shown in its step", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  const seenAt = (html: string) => /name="seen" value="([^"]+)"/.exec(html)![1]!;
  const seen = seenAt((await browser.open(path)).html);
  await company.api.patch(`${E}/drafts/${id}/`, { body: { ...whole(), scheduled_for: "2001-01-01T00:00:00Z" } });
  const before = (await campaignsOf()).length;
  const changed = await browser.send(`${path}/send`, { seen });
  expect([changed.status, /was changed since you opened this page/.test(changed.html)]).toEqual([409, true]);
  expect(changed.html).toContain("The time must be in the future.");
  expect(changed.html).not.toContain('name="seen"');
  const when = await browser.send(`${path}/when`, { when: "at", clock: "2001-01-01T09:00" });
  expect(when.status).toBe(400);
  expect(when.html).toMatch(/id="wrong-scheduled_for"[^>]*>The time must be in the future/);
  expect((await campaignsOf()).length).toBe(before);

  await query("insert into plans (name, emails_per_month) values ('one', 1) on conflict do nothing");
  const poor = await newCompany(app);
  const mine = await signIn(app, poor);
  const receivers = [{ email: "ann@example.com" }, { email: "bob@example.com" }];
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  const server2 = await made("smtp-configs", { ...config, sender_email: "news@acme.example" }, poor);
  const body = { smtp_config_id: server2, subject: "S", body: "B", receivers };
  const draft = at(`campaigns/drafts/${await made("drafts", { name: "D", kind: "custom", body }, poor)}`, poor);
  await query("update companies set plan = 'one' where id = $1", [poor.id]);
  // A plan is known for a second.
  const shown = await until(
    () => mine.open(draft),
    ({ html }) => !html.includes("no monthly limit"),
  );
  expect(shown.html).toContain("2 addresses get this now.");
  expect(shown.html).toMatch(
    /class="alert">Needs 2 emails, but the month has 1 left\. <a href="[^"]+\/settings\/plan">/,
  );
  const refused = await until(
    () => mine.send(`${draft}/send`, { seen: seenAt(shown.html) }),
    ({ status }) => status !== 429,
  );
  expect(refused.status).toBe(403);
  expect(refused.html).toMatch(/role="alert">[^<]*quota/i);
  expect((await mine.open(draft)).status).toBe(200);
});

test("a save at the same moment as the send is never sent unseen: the send is refused and shows the draft again", async () => {
  for (let round = 0; round < 12; round++) {
    const id = await drafted({ list_id: list, smtp_config_id: smtp, content: { subject: "Seen", body: "<p>Hi</p>" } });
    const path = at(`campaigns/drafts/${id}`);
    const seen = /name="seen" value="([^"]+)"/.exec((await browser.open(path)).html)![1]!;
    const body = { list_id: list, smtp_config_id: smtp, content: { subject: "Unseen", body: "<p>Hi</p>" } };
    // Each round saves a little later, so that saves meet the send at each of its steps.
    const save = async () => {
      for (let n = 0; n < round; n++) await company.api.get(`${E}/drafts/${id}/`);
      return company.api.patch(`${E}/drafts/${id}/`, { body });
    };
    const [sent] = await Promise.all([browser.send(`${path}/send`, { seen }), save()]);
    if (sent.status === 303) {
      const campaign = sent.location!.split("/").at(-1)!.split("?")[0]!;
      expect((await company.api.get(`${E}/campaigns/${campaign}/content/`)).body.subject).toBe("Seen");
    } else {
      expect([sent.status, /was changed since you opened this page/.test(sent.html)]).toEqual([409, true]);
      expect((await bodyOf(id)).content.subject).toBe("Unseen");
    }
  }
});

test("an automatic save that arrives after the review and changes nothing leaves the draft ready to send", async () => {
  const id = await drafted({
    ...{ list_id: list, smtp_config_id: smtp, content: { subject: "S", body: "Two" } },
    variants: [{ percent: 50 }, { percent: 50, content: { subject: "S", design: designOf("Kept") } }],
  });
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/what`);
  const form = {
    content: "own",
    subject: "S",
    body: "<p>Two</p>\n<p>lines</p>",
    ab: "on",
    winner: "",
    "variant.0.percent": "50",
    "variant.1.percent": "50",
    "variant.1.template_id": "written",
    "variant.1.subject": "S",
  };
  await browser.send(`${path}/what`, { ...form, body: form.body.replace("\n", "\r\n") });
  const { updated_at } = (await company.api.get(`${E}/drafts/${id}/`)).body;
  await browser.send(`${path}/what`, { ...form, do: "autosave" });
  await browser.send(`${path}/whom`, { name: "October", audience: `list:${list}`, do: "autosave" });
  expect((await company.api.get(`${E}/drafts/${id}/`)).body.updated_at).toBe(updated_at);
  await browser.send(`${path}/whom`, { name: "November", audience: `list:${list}`, do: "autosave" });
  expect((await company.api.get(`${E}/drafts/${id}/`)).body.name).toBe("November");
});

test("a date typed while “Now” is selected is an error at the date, and nothing is saved; a stored earlier date is accepted", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}/when`);
  await browser.open(path);
  const refused = await browser.send(path, { when: "now", clock: "2031-07-01T09:00" });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/id="wrong-scheduled_for"[^>]*>You chose “Now” and a date\./);
  expect(refused.html).toContain('value="2031-07-01T09:00"');
  expect(await bodyOf(id)).not.toHaveProperty("scheduled_for");
  await browser.send(path, { when: "at", clock: "2031-07-01T09:00" });
  expect(await browser.send(path, { when: "now", clock: "2031-07-01T09:00" })).toMatchObject({ status: 303 });
  expect(await bodyOf(id)).not.toHaveProperty("scheduled_for");
});

test("a time is in the company's zone, or each reader's if chosen, and the API gets both", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  await query("update companies set timezone = 'America/New_York' where id = $1", [company.id]);
  await browser.open(`${path}/when`);
  await browser.send(`${path}/when`, { when: "at", clock: "2031-07-01T09:00" });
  expect(await bodyOf(id)).toMatchObject({ scheduled_for: "2031-07-01T13:00:00.000Z" });
  expect((await browser.open(`${path}/when`)).html).toContain('value="2031-07-01T09:00"');
  expect((await browser.open(path)).html).toMatch(/on Tuesday,? 1 July 2031 at 09:00 \(America\/New_York\)/);
  await browser.send(`${path}/when`, { when: "local", clock: "2031-07-01T09:00" });
  expect(await bodyOf(id)).toMatchObject({ scheduled_for: "2031-07-01T09:00:00Z", timezone: "recipient" });
  const { html } = await browser.open(path);
  expect(html).toMatch(
    /2 people in “Readers” get this on Tuesday,? 1 July 2031 at 09:00 by the clock of each reader\./,
  );
  const sent = await browser.send(`${path}/send`, { seen: /name="seen" value="([^"]+)"/.exec(html)![1]! });
  expect(sent.location).toMatch(/notice=campaignScheduled$/);
  await query("update companies set timezone = 'UTC' where id = $1", [company.id]);
});

test("a year outside 2000 to 9998 is an error at the date and not stored; a draft of the API with any date can be opened", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/when`);
  for (const when of ["at", "local"]) {
    for (const clock of ["9999-12-31T23:59", "0001-01-01T00:00", "1999-12-31T23:59"]) {
      const refused = await browser.send(`${path}/when`, { when, clock });
      expect([
        refused.status,
        /id="wrong-scheduled_for"[^>]*>Choose a year from 2000 to 9998/.test(refused.html),
      ]).toEqual([400, true]);
    }
  }
  expect(await bodyOf(id)).toEqual(whole());
  for (const scheduled_for of [
    "9999-12-31T23:59:59-12:00",
    "0001-01-01T00:00:00+14:00",
    "+275760-09-13",
    "9999-12-31T23:59",
    "soon",
  ]) {
    await company.api.patch(`${E}/drafts/${id}/`, { body: { ...whole(), scheduled_for } });
    for (const page of ["", "/when"]) expect((await browser.open(`${path}${page}`)).status).toBe(200);
  }
  expect((await browser.send(`${path}/when`, { when: "now" })).status).toBe(303);
});

test("an A/B test is stored as in the API; its errors are shown in its step, and each version is shown", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/what`);
  const form = { content: "template", template_id: template, ab: "on", winner: "", after_hours: "4" };
  const rows = {
    "variant.0.percent": "50",
    "variant.1.subject": "Second for [[first_name]]",
    "variant.1.percent": "40",
  };
  const wrong = await browser.send(`${path}/what`, { ...form, ...rows });
  expect([wrong.status, /id="wrong-variants"[^>]*>The percentages add up to 90/.test(wrong.html)]).toEqual([400, true]);
  expect(await browser.send(`${path}/what`, { ...form, ...rows, winner: "clicks" })).toMatchObject({ status: 303 });
  expect(await bodyOf(id)).toMatchObject({
    variants: [{ percent: 50 }, { percent: 40, subject: "Second for [[first_name]]" }],
    winner: { metric: "clicks", after_minutes: 240 },
  });
  expect((await browser.open(`${path}?person=ada@example.com&variant=1`)).html).toContain(
    "<strong>Second for Ada</strong>",
  );
  const more = await browser.send(`${path}/what`, { ...form, ...rows, do: "add" });
  expect(more.html.match(/<fieldset class="version"/g)).toHaveLength(3);
  const own = { "variant.1.template_id": "written", "variant.1.body": "Own for [[first_name]]" };
  const subjectless = await browser.send(`${path}/what`, { ...form, ...rows, ...own, "variant.1.subject": "" });
  expect(subjectless.html).toContain("Version B: subject: This field is required.");
  await browser.send(`${path}/what`, { ...form, ...rows, ...own, "variant.1.percent": "50" });
  expect(await bodyOf(id)).toMatchObject({
    variants: [{ percent: 50 }, { content: { subject: "Second for [[first_name]]" } }],
  });
  const frame = await browser.open(`${path}/preview?person=ada@example.com&variant=1`);
  expect(frame.html).toContain("Own for Ada");
});

test("versions typed in without “Test several versions” are kept and reported, and unticking it removes them", async () => {
  const id = await drafted({ ...whole(), template_id: undefined, content: { subject: "First", body: "Hello" } });
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/what`);
  const form = { content: "own", subject: "First", body: "Hello", winner: "", after_hours: "4" };
  const untouched = { "variant.0.percent": "50", "variant.1.percent": "50", "variant.1.subject": "" };
  expect((await browser.send(`${path}/what`, { ...form, ...untouched })).status).toBe(303);
  expect((await bodyOf(id)).variants).toBeUndefined();
  const rows = { ...untouched, "variant.1.subject": "Second" };
  const off = await browser.send(`${path}/what`, { ...form, ...rows });
  expect([off.status, /id="wrong-variants"[^>]*>You filled in versions/.test(off.html)]).toEqual([400, true]);
  expect(off.html).toMatch(/name="ab" checked/);
  expect((await bodyOf(id)).variants).toEqual([{ percent: 50 }, { percent: 50, subject: "Second" }]);

  const everybody = await browser.send(`${path}/what`, { ...form, ...rows, ab: "on", winner: "opens" });
  expect([everybody.status, /id="wrong-winner"[^>]*>The shares add up to 100 %/.test(everybody.html)]).toEqual([
    400,
    true,
  ]);
  expect((await browser.open(path)).html).not.toContain(`action="${path}/send"`);
  const shares = { ...rows, "variant.0.percent": "20", "variant.1.percent": "30" };
  expect((await browser.send(`${path}/what`, { ...form, ...shares, ab: "on", winner: "opens" })).status).toBe(303);
  const { html } = await browser.open(path);
  for (const words of [
    "Version A (20 %): First",
    "Version B (30 %): Second",
    "Everyone else gets the version with the most opens, 4 hours after the test emails.",
  ]) {
    expect(html).toContain(words);
  }
  expect((await browser.send(`${path}/what`, { ...form, ...shares, winner: "opens" })).status).toBe(303);
  expect((await bodyOf(id)).variants).toBeUndefined();
  await company.api.delete(`${E}/drafts/${id}/`);
});

test("typed addresses keep the values that a program gave them, and the text stays when the audience changes", async () => {
  const receivers = [{ email: "ann@example.com", order: 7 }, { email: "old@example.com" }];
  const id = await drafted({ subject: "S", body: "B", receivers }, "custom");
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/whom`);
  const typed = { name: "Orders", audience: "addresses", addresses: "ANN@example.com\nnew@example.com" };
  expect(await browser.send(`${path}/whom`, typed)).toMatchObject({ status: 303 });
  expect(await company.api.get(`${E}/drafts/${id}/`)).toMatchObject({
    body: { name: "Orders", kind: "custom", body: { receivers: [receivers[0], { email: "new@example.com" }] } },
  });
  await browser.send(`${path}/whom`, { ...typed, audience: `list:${list}` });
  expect(await bodyOf(id)).toEqual({ list_id: list, content: { subject: "S", body: "B" } });
  await browser.send(`${path}/what`, { content: "own", subject: "S", preheader: "", body: "" });
  expect(await bodyOf(id)).toEqual({ list_id: list, content: { subject: "S" } });
  expect((await browser.open(path)).html).toContain("Not chosen yet");
});

test("autosave reports no missing fields, and an unfinished draft is listed and deleted", async () => {
  const id = await drafted({});
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/whom`);
  const saved = await browser.send(`${path}/whom`, { name: "", audience: "", do: "autosave" });
  expect([saved.status, /role="alert"/.test(saved.html), /id="saved"[^>]*>Saved/.test(saved.html)]).toEqual([
    200,
    false,
    true,
  ]);
  expect(await browser.send(`${path}/whom`, { name: "Left", audience: "", do: "later" })).toMatchObject({
    status: 303,
    location: at("campaigns/drafts?notice=saved"),
  });
  const { html } = await browser.open(at("campaigns/drafts?search=left"));
  expect(html).toContain(`<a href="${path}" dir="auto">Left</a>`);
  expect(html.match(/aria-current="page"/g)).toHaveLength(1);
  expect(await browser.send(`${path}/delete`)).toMatchObject({ status: 303 });
  expect((await company.api.get(`${E}/drafts/${id}/`)).status).toBe(404);
});

/** What the page of the editor hands to its script. */
const bootIn = (html: string) =>
  JSON.parse(/data-boot="([^"]*)"/.exec(html)![1]!.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));

const designOf = (text: unknown) => {
  const blocks = [{ type: "heading", text }, { type: "footer" }];
  return { version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] };
};

/** Saves as the editor does. */
async function saveDesign(path: string, document: object, fields: Record<string, string> = {}) {
  const answer = await browser.send(path, { document: JSON.stringify(document), ...fields });
  return { status: answer.status, ...JSON.parse(answer.html) };
}

test("the content is designed in the visual editor: from a starter, saved with faults by path, back to the next step, sent", async () => {
  const id = await drafted({ list_id: list, smtp_config_id: smtp, content: { preheader: "Peek", body: "<p>Old</p>" } });
  const path = at(`campaigns/drafts/${id}`);
  const asked = { content: "own", subject: "Books for [[first_name]]", preheader: "Peek", do: "design" };
  expect(await browser.send(`${path}/what`, asked)).toMatchObject({ status: 303, location: `${path}/starters` });
  expect((await browser.open(`${path}/starters`)).html).toContain(`href="${path}/visual?from=sale"`);
  const boot = bootIn((await browser.open(`${path}/visual?from=sale`)).html);
  expect(boot).toMatchObject({ isCampaign: true, id, mail: { subject: asked.subject, preheader: "Peek" } });
  expect(JSON.stringify(boot.design)).toContain("20 % off everything");

  const save = (document: object, fields?: Record<string, string>) => saveDesign(`${path}/visual`, document, fields);
  const mail = { name: "October", template_type: "marketing", subject: asked.subject, preheader: "" };
  expect(await save({ ...mail, design: designOf(5) }, { auto: "1" })).toMatchObject({ status: 200 });
  expect((await bodyOf(id)).content).toEqual({ subject: asked.subject, design: designOf(5) });
  expect(await save({ ...mail, subject: "", design: designOf(5) })).toEqual({
    status: 400,
    errors: { subject: ["This field is required."] },
    seen: bootIn((await browser.open(`${path}/visual`)).html).seen,
  });
  expect(await save({ ...mail, design: designOf(5) })).toEqual({
    status: 400,
    seen: expect.any(String),
    errors: { design: ["blocks[0].columns[0].blocks[0].text: Not a valid string."] },
  });
  const design = designOf("Six books");
  expect(await save({ ...mail, design })).toMatchObject({ status: 200, here: `${path}/visual`, next: path });

  const what = (await browser.open(`${path}/what`)).html;
  expect(what).toContain(`href="${path}/visual"`);
  expect(what).not.toContain('id="body"');
  expect(await browser.send(`${path}/what`, { content: "own", subject: "Newer" })).toMatchObject({
    location: path,
  });
  expect((await bodyOf(id)).content).toEqual({ subject: "Newer", design });
  const check = (await browser.open(path)).html;
  const before = server.messages.length;
  const tested = await browser.send(`${path}/test`, { to: "editor@example.com" });
  expect(tested.html).toContain("The test went to editor@example.com.");
  expect((await simpleParser(server.messages[before]!.raw)).html).toMatch(/<h1[^>]*>Six books<\/h1>/);
  const copy = await drafted((await company.api.get(`${E}/drafts/${id}/`)).body.body);
  const seen = /name="seen" value="([^"]+)"/.exec(check)![1]!;
  const sent = await browser.send(`${path}/send`, { seen });
  expect(sent.status).toBe(303);
  const { html } = (await company.api.get(`${E}/campaigns/${sent.location!.split("/").at(-1)!.split("?")[0]}/content/`))
    .body;
  expect(html).toContain("Six books");

  const other = at(`campaigns/drafts/${copy}`);
  await browser.send(`${other}/what`, { content: "own", subject: "Newer", do: "write" });
  expect((await bodyOf(copy)).content).toEqual({ subject: "Newer" });
  for (const document of ["1", "null", "[]", '"x"', "{}", '{"subject":5}', "{"]) {
    for (const to of [
      `${other}/visual`,
      ...["visual-preview", "visual-check", "visual-test"].map((one) => at(`templates/${one}`)),
    ]) {
      expect([document, to, (await browser.send(to, { document })).status]).toEqual([document, to, 400]);
    }
  }
  const untyped = { subject: 5, preheader: {}, design: designOf("Untyped") };
  expect(await saveDesign(`${other}/visual`, untyped, { auto: "1" })).toMatchObject({ status: 200 });
  expect((await bodyOf(copy)).content).toEqual({ design: untyped.design });
  const gone = await browser.send(`${path}/visual`, { document: JSON.stringify({ ...mail, design }) });
  expect(gone.status).toBe(404);
});

test("each version of an A/B test is designed: from a starter or as a copy of version A, saved with its own faults, previewed, checked, tested, sent, shown, and copied", async () => {
  const readers = await made("lists", { name: "Two readers" });
  for (const email of ["eve@example.com", "fay@example.com"]) await made("subscribers", { email, lists: [readers] });
  const id = await drafted({ list_id: readers, smtp_config_id: smtp });
  const path = at(`campaigns/drafts/${id}`);
  const rows = {
    "variant.0.template_id": "written",
    "variant.0.subject": "Candles",
    "variant.0.percent": "50",
    "variant.1.template_id": "written",
    "variant.1.subject": "Lanterns",
    "variant.1.percent": "50",
  };
  const form = { content: "own", winner: "", after_hours: "4", ab: "on", ...rows };
  // Pressing the button of a version chooses that it is written here, and that there is a test.
  const { ab: _, "variant.0.template_id": __, ...unchosen } = form;
  expect(await browser.send(`${path}/what`, { ...unchosen, do: "design.0" })).toMatchObject({
    status: 303,
    location: `${path}/versions/0/starters`,
  });
  const gallery = await browser.open(`${path}/versions/0/starters`);
  expect(gallery.html).toContain(`href="${path}/versions/0/visual?from=sale"`);
  expect([gallery.title, /Copy version A/.test(gallery.html)]).toEqual(["Choose a design: Version A", false]);
  const boot = bootIn((await browser.open(`${path}/versions/0/visual?from=sale`)).html);
  expect(boot).toMatchObject({ isCampaign: true, id: "0", mail: { subject: "Candles" } });
  expect(JSON.stringify(boot.design)).toContain("20 % off everything");

  const mail = { name: "October", template_type: "marketing", subject: "Candles", preheader: "" };
  const [first, second] = [designOf("Six candles"), designOf("Six lanterns")];
  expect(await saveDesign(`${path}/versions/0/visual`, { ...mail, subject: "", design: first })).toEqual({
    status: 400,
    errors: { subject: ["This field is required."] },
    seen: expect.any(String),
  });
  expect(await saveDesign(`${path}/versions/0/visual`, { ...mail, design: designOf(5) })).toEqual({
    status: 400,
    errors: { design: ["blocks[0].columns[0].blocks[0].text: Not a valid string."] },
    seen: expect.any(String),
  });
  expect(await saveDesign(`${path}/versions/0/visual`, { ...mail, design: first })).toMatchObject({
    status: 200,
    here: `${path}/versions/0/visual`,
    next: `${path}/what#version-0`,
  });

  expect((await browser.open(`${path}/versions/1/starters`)).html).toContain(
    `href="${path}/versions/1/visual?from=version-a"`,
  );
  const copied = bootIn((await browser.open(`${path}/versions/1/visual?from=version-a`)).html);
  expect(copied).toMatchObject({ id: "1", mail: { subject: "Lanterns" }, design: first });
  const saved = await saveDesign(`${path}/versions/1/visual`, { ...mail, subject: "Lanterns", design: second });
  expect(saved).toMatchObject({ status: 200 });
  const versions = [
    { percent: 50, content: { subject: "Candles", design: first } },
    { percent: 50, content: { subject: "Lanterns", design: second } },
  ];
  expect((await bodyOf(id)).variants).toEqual(versions);

  const what = (await browser.open(`${path}/what`)).html;
  for (const n of [0, 1]) expect(what).toContain(`href="${path}/versions/${n}/visual"`);
  // A campaign needs content, and has that of version A.
  expect(await browser.send(`${path}/what`, form)).toMatchObject({ status: 303, location: path });
  expect(await bodyOf(id)).toMatchObject({ content: versions[0]!.content, variants: [{ percent: 50 }, versions[1]] });
  for (const [n, text] of [
    [0, "Six candles"],
    [1, "Six lanterns"],
  ]) {
    expect((await browser.open(`${path}/preview?variant=${n}`)).html).toContain(text);
  }
  const checks = (await browser.open(`${path}/checks`)).html;
  for (const version of ["A", "B"]) expect(checks).toContain(`Version ${version}: No accessibility errors`);
  const before = server.messages.length;
  const tested = await browser.send(`${path}/test`, { to: "editor@example.com", variant: "1" });
  expect(tested.html).toMatch(/name="variant" value="1"/);
  const { subject, html: test } = await simpleParser(server.messages[before]!.raw);
  expect([subject, /Six lanterns<\/h1>/.test(`${test}`)]).toEqual(["[Test] Lanterns", true]);

  const seen = /name="seen" value="([^"]+)"/.exec((await browser.open(path)).html)![1]!;
  const sent = (await browser.send(`${path}/send`, { seen })).location!.split("?")[0]!;
  await server.received(before + 3);
  const mails = await Promise.all(server.messages.slice(before + 1).map(({ raw }) => simpleParser(raw)));
  const told = mails.map((one) => `${one.subject}: ${/Six \w+(?=<\/h1>)/.exec(`${one.html}`)}`).toSorted();
  expect(told).toEqual(["Candles: Six candles", "Lanterns: Six lanterns"]);
  expect((await browser.open(sent)).html).toContain(`href="${sent}/mail?variant=1"`);
  for (const [n, text] of ["Six candles", "Six lanterns"].entries()) {
    expect((await browser.open(`${sent}/mail?variant=${n}`)).html).toContain(`src="${sent}/mail/frame?variant=${n}"`);
    expect((await browser.open(`${sent}/mail/frame?variant=${n}`)).html).toContain(text);
  }
  const copy = (await browser.send(`${sent}/duplicate`)).location!.split("?")[0]!.replace(/\/whom$/, "");
  const ofCopy = bootIn((await browser.open(`${copy}/versions/1/visual`)).html);
  expect([ofCopy.mail.subject, ofCopy.design]).toEqual(["Lanterns", second]);
});

test("saves in several windows: none is lost, and a window that shows older content does not replace newer", async () => {
  const mail = { name: "October", template_type: "marketing", subject: "S", preheader: "" };
  const written = (subject: string, percent: number) => ({ percent, content: { subject, body: "<p>Hi</p>" } });
  const variants = [written("A", 30), written("B", 30), written("C", 40)];
  const made = () => drafted({ ...whole(), variants });
  for (let round = 0; round < 5; round++) {
    const path = at(`campaigns/drafts/${await made()}`);
    await browser.open(`${path}/what`);
    const designs = [0, 1, 2].map((n) => designOf(`Round ${round}, version ${n}`));
    const saved = await Promise.all(
      designs.map((design, n) => saveDesign(`${path}/versions/${n}/visual`, { ...mail, design }, { auto: "1" })),
    );
    expect(saved.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await bodyOf(path.split("/").at(-1)!)).variants).toMatchObject(
      designs.map((design) => ({ content: { design } })),
    );
  }

  const id = await made();
  const path = at(`campaigns/drafts/${id}`);
  const editor = `${path}/versions/1/visual`;
  const { seen } = bootIn((await browser.open(editor)).html);
  const save = (title: string, unchanged_since: string) =>
    saveDesign(editor, { ...mail, design: designOf(title), unchanged_since }, { auto: "1" });
  const designIn = async (n: number) => (await bodyOf(id)).variants[n].content.design;
  await saveDesign(`${path}/versions/2/visual`, { ...mail, design: designOf("C") }, { auto: "1" });
  const first = await save("First", seen);
  expect(first).toMatchObject({ status: 200, seen: bootIn((await browser.open(editor)).html).seen });
  const second = await save("Second", first.seen);
  const stale = await save("Stale", first.seen);
  expect(stale).toMatchObject({ status: 409, who: null, theirs: editor, seen: second.seen });
  expect(await designIn(1)).toEqual(designOf("Second"));
  // An answer that was lost, and a person who wants the own content.
  expect(await save("Second", first.seen)).toMatchObject({ status: 200, seen: second.seen });
  expect(await save("Mine", stale.seen)).toMatchObject({ status: 200 });
  expect(await designIn(1)).toEqual(designOf("Mine"));

  // Version C becomes version B.
  const { seen: ofRemoved } = bootIn((await browser.open(editor)).html);
  await company.api.patch(`${E}/drafts/${id}/`, {
    body: { ...whole(), variants: (await bodyOf(id)).variants.toSpliced(1, 1) },
  });
  expect((await save("Removed", ofRemoved)).status).toBe(409);
  expect(await designIn(1)).toEqual(designOf("C"));

  // A form from before the design has the text that the design replaced.
  const form = {
    ...{ content: "template", template_id: template, winner: "", ab: "on" },
    ...{
      "variant.0.percent": "50",
      "variant.0.template_id": "written",
      "variant.0.subject": "A",
      "variant.0.body": "Hi",
    },
    ...{
      "variant.1.percent": "50",
      "variant.1.template_id": "written",
      "variant.1.subject": "C",
      "variant.1.body": "Hi",
    },
  };
  for (const button of ["autosave", "later", "next"]) {
    await browser.send(`${path}/what`, { ...form, do: button });
    expect((await bodyOf(id)).variants[1]).toEqual({ percent: 50, content: { subject: "C", design: designOf("C") } });
  }
});

test("a design of a version is deleted only by a button: saving a changed form by itself keeps it, whichever row is emptied", async () => {
  const id = await drafted({
    ...whole(),
    variants: [
      { percent: 30 },
      { percent: 30, subject: "Plain" },
      { percent: 40, content: { design: designOf("Kept") } },
    ],
  });
  const path = at(`campaigns/drafts/${id}`);
  await browser.open(`${path}/what`);
  const form = {
    content: "template",
    template_id: template,
    winner: "",
    "variant.0.percent": "30",
    "variant.2.percent": "40",
    "variant.2.template_id": "written",
    "variant.2.subject": "Third",
  };
  const kept = { percent: 40, content: { subject: "Third", design: designOf("Kept") } };
  const saved = async (fields: Record<string, string>, button = "autosave") => {
    const { html } = await browser.send(`${path}/what`, { ...form, ...fields, do: button });
    return [/Not saved yet: this change deletes a design/.test(html), (await bodyOf(id)).variants];
  };
  // Version B is emptied: version C keeps its number until a button saves the form.
  for (const _ of [1, 2]) expect(await saved({ ab: "on" })).toEqual([false, [{ percent: 30 }, {}, kept]]);
  expect(await saved({ ab: "" })).toEqual([true, [{ percent: 30 }, {}, kept]]);
  expect(await saved({ ab: "on", "variant.2.template_id": "" })).toEqual([true, [{ percent: 30 }, {}, kept]]);
  await browser.send(`${path}/whom`, {
    name: "October",
    audience: "addresses",
    addresses: "a@b.example",
    do: "autosave",
  });
  expect((await bodyOf(id)).variants).toEqual([{ percent: 30 }, {}, kept]);
  const gone = await saveDesign(`${path}/versions/3/visual`, { subject: "S", design: designOf("None") });
  expect([gone.status, (await bodyOf(id)).variants]).toEqual([400, [{ percent: 30 }, {}, kept]]);
  expect(await browser.open(`${path}/versions/3/visual`)).toMatchObject({ status: 303, location: `${path}/what` });
  expect(await saved({ ab: "on", "variant.2.body": "Plain" }, "write.2")).toEqual([
    false,
    [{ percent: 30 }, {}, { percent: 40, content: { subject: "Third", body: expect.stringContaining("Plain") } }],
  ]);
  await browser.send(`${path}/what`, { ...form, ab: "on", "variant.0.percent": "60", "variant.2.body": "Plain" });
  expect((await bodyOf(id)).variants).toMatchObject([{ percent: 60 }, { percent: 40 }]);

  const own = await drafted({ list_id: list, content: { subject: "S", design: designOf("Own") } });
  const other = at(`campaigns/drafts/${own}/what`);
  const chosen = { content: "template", template_id: template };
  const held = await browser.send(other, { ...chosen, do: "autosave" });
  expect(held.html).toContain("Not saved yet: this change deletes a design");
  expect((await bodyOf(own)).content).toEqual({ subject: "S", design: designOf("Own") });
  await browser.send(other, { ...chosen, do: "later" });
  expect(await bodyOf(own)).toEqual({ list_id: list, template_id: template });
});

test("missing choices are to-dos, references to deleted objects are reported, and a draft with either cannot be sent", async () => {
  const id = await drafted({ list_id: newId(), template_id: template });
  const path = at(`campaigns/drafts/${id}`);
  const { html } = await browser.open(path);
  expect(html).toContain("What was chosen here was deleted since. Choose another.");
  expect(html).not.toMatch(/Invalid pk|This field is required/);
  expect(html).not.toContain(`action="${path}/send"`);
  expect(html).toMatch(new RegExp(`<li><a href="${path}/whom">Recipients</a></li>\\s*<li><a href="${path}/from">`));
  const seen = (await company.api.get(`${E}/drafts/${id}/`)).body.updated_at;
  const refused = await browser.send(`${path}/send`, { seen });
  expect([refused.status, refused.title]).toEqual([400, "October"]);
  const unsent = await browser.send(`${path}/test`, { to: "editor@example.com" });
  expect([unsent.status, /Choose a mail server first/.test(unsent.html)]).toEqual([400, true]);
});

test("the preview is a frame of its own that runs no script, and user input is escaped on every page", async () => {
  const evil = `<img src=x onerror=alert(1)>"'`;
  const receivers = [{ email: "ann@example.com", city: "<script>alert(2)</script>" }];
  const id = await drafted(
    { subject: evil, body: "<p>[[city]]</p><script>alert(3)</script>", receivers },
    "custom",
    evil,
  );
  const path = at(`campaigns/drafts/${id}`);
  for (const page of ["", "/whom", "/what", "/from", "/when", "/checks"]) {
    const { html, status } = await browser.open(`${path}${page}`);
    expect([page, status]).toEqual([page, 200]);
    expect(html).not.toMatch(/<img|<script(?! src="\/app)| style=/);
  }
  expect((await browser.open(at("campaigns/drafts"))).html).not.toContain("<img");
  expect((await browser.open(path)).html).toMatch(/<iframe src="[^"]+" sandbox title=/);
  const frame = await browser.open(`${path}/preview?person=ann@example.com`);
  expect(frame.html).toContain("&lt;script&gt;alert(2)");
  const policy = frame.headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/; sandbox$/);
  expect(policy).toContain("frame-ancestors 'self'");
  expect(policy).not.toContain("script-src");
  expect(frame.headers.get("x-frame-options")).toBe("SAMEORIGIN");
  const text = await browser.open(`${path}/preview?look=text&person=ann@example.com`);
  expect(text.html).not.toMatch(/<(?:p|img|script|base)\b/);
});

test("the checks test accessibility, links, size, spam filter and DNS, and show each result", async () => {
  const body = `<p style="color: #ccc">Pale</p><p><a href="http://127.0.0.1:9/none">Look</a></p><p>${"x".repeat(120_000)}</p>`;
  const id = await drafted(
    { smtp_config_id: smtp, subject: "S", body, receivers: [{ email: "a@b.example" }] },
    "custom",
  );
  const { html, status } = await browser.open(at(`campaigns/drafts/${id}/checks`));
  expect(status).toBe(200);
  expect(html).toContain("“Pale” is hard to read");
  expect(html).toContain("http://127.0.0.1:9/none does not answer.");
  expect(html).toMatch(/The email has 11\d KB: Gmail shows the first 102/);
  expect(html).toContain("No spam filter is connected");
  expect(html).toMatch(/The DNS did not answer for SPF, .*\. Run the checks again\./);
  // Findings link to their fix and are worded for people who write no code.
  expect(html).toMatch(
    new RegExp(
      `127.0.0.1:9/none does not answer.</p>\\s*<a [^>]*href="${at(`campaigns/drafts/${id}/what`)}">Edit content`,
    ),
  );
  expect(html).toContain(`href="${at("domains")}">Set up domain</a>`);
  expect(html).toContain(`href="${at(`servers/${smtp}`)}">Edit mail server</a>`);
  expect(html).not.toMatch(/BASE_URL|bounce_address|tracking_enabled|localhost/);
});

test("the review reports problems of the content, the mail server and the A/B test, and links to the fix", async () => {
  const content = { subject: "News", body: "<p>Hi [[first_name]], [[nickname]]</p>" };
  const [variants, winner] = [[{ percent: 50 }, { percent: 40, subject: "S" }], { metric: "opens", after_minutes: 60 }];
  const scheduled_for = new Date(Date.now() + 25 * 3_600_000).toISOString();
  const body = { list_id: list, smtp_config_id: smtp, content, variants, winner, scheduled_for };
  const path = at(`campaigns/drafts/${await drafted(body)}`);
  await query("update companies set tracking_enabled = false where id = $1", [company.id]);
  const failures = [{ name: "spf", help: "Set BASE_URL." }];
  await query("update smtp_configs set check_failures = $2 where id = $1", [smtp, JSON.stringify(failures)]);
  try {
    const { html } = await browser.open(path);
    const found = (sentence: string, href: string, label: string) =>
      expect(html).toMatch(new RegExp(`${sentence}</p>\\s*<a [^>]*href="${href}">${label}</a>`));
    found("No subscriber has the variable \\[\\[nickname\\]\\][^<]*", `${path}/what`, "Edit content");
    found("so version A always wins the A/B test\\.", at("settings/company"), "Switch on tracking");
    found("does not name this mail server as a sender \\(SPF\\)[^<]*", at(`domains/${smtp}`), "Set up domain");
    expect(html).toContain("A link to unsubscribe is added at the end of the email.");
    expect(html).toContain("in 1 day");
    expect(html).toContain("Your plan has no monthly limit.");
    expect(html).not.toMatch(/BASE_URL|tracking_enabled|default:…/);
  } finally {
    await query("update companies set tracking_enabled = true where id = $1", [company.id]);
    await query("update smtp_configs set check_failures = '[]' where id = $1", [smtp]);
  }
});

test("a viewer sees drafts but no form, and every write is refused; another company's draft is 404", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  const other = await newCompany(app);
  const stranger = await signIn(app, other);
  expect((await stranger.open(at(`campaigns/drafts/${id}`, other))).status).toBe(404);
  expect((await browser.open(at(`campaigns/drafts/${newId()}`))).status).toBe(404);
  await query("update memberships set role = 'viewer' where company_id = $1", [company.id]);
  try {
    const { html, status } = await browser.open(at("campaigns/drafts"));
    expect([status, html.includes("October"), html.includes("<form method"), html.includes(path)]).toEqual([
      200,
      true,
      false,
      false,
    ]);
    expect((await browser.open(at("campaigns"))).html).not.toContain("campaigns/new");
    const pages = ["", "/whom", "/what", "/from", "/when", "/preview", "/checks"].map((page) => `${path}${page}`);
    for (const page of [at("campaigns/new"), ...pages]) {
      expect([page, await browser.open(page)]).toMatchObject([page, { status: 403, title: "You may not do this" }]);
    }
    for (const form of ["whom", "what", "from", "when", "test", "send", "delete"]) {
      expect([form, (await browser.send(`${path}/${form}`, { seen: "x" })).status]).toEqual([form, 403]);
    }
    expect((await browser.send(at("campaigns/new"), { name: "N", do: "count" })).status).toBe(403);
    expect(await bodyOf(id)).toEqual(whole());
  } finally {
    await query("update memberships set role = 'owner' where company_id = $1", [company.id]);
  }
});

test("while the operator pauses sending, the overview, the review and the campaign say so", async () => {
  const id = await drafted(whole());
  const path = at(`campaigns/drafts/${id}`);
  const isTold = async (page: string) => (await browser.open(page)).html.includes("Sending is paused by the operator");
  const told = async (pages: string[]) => Promise.all(pages.map(isTold));
  expect(await told([at(""), path])).toEqual([false, false]);
  await call(app.broker, "accounts.pauseCompany", { company_id: company.id });
  const seen = (await company.api.get(`${E}/drafts/${id}/`)).body.updated_at;
  const sent = (await browser.send(`${path}/send`, { seen })).location!;
  const other = at(`campaigns/drafts/${await drafted({ list_id: list })}`);
  expect(await told([at(""), other, sent])).toEqual([true, true, true]);
  expect((await company.api.get(`/api/companies/${company.id}/`)).body.sending_paused_at).toMatch(/^2/);
  await call(app.broker, "accounts.resumeCompany", { company_id: company.id });
  expect(await told([at(""), other, sent])).toEqual([false, false, false]);
});
