/** Campaigns in the console: progress while sending, the finished report, and all actions. */
import jwt from "jsonwebtoken";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";

const API = "/api/emails";
const BODY =
  '<p>Hello [[first_name|default:there]], <a href="https://example.com/books?a=1&amp;b=2">books</a> and <a href="https://example.com/shop">shop</a>. <a href="[[unsubscribe_url]]">Leave</a></p>';

let app: App;
let server: SmtpServer;
let isHeld = false;
let company: TestCompany;
let stranger: TestCompany;
let browser: ConsoleBrowser;
let smtp: string;
let list: string;
let template: string;
/** Sent to ann (with a copy), bob, and a mailbox that does not exist. */
let campaign: string;

const at = (rest: string) => `/app/${company.id}/campaigns/${rest}`;
const read = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/`)).body;
const made = async (path: string, body: object): Promise<string> => {
  const answer = await company.api.post(`${API}${path}`, body);
  expect({ path, status: answer.status, text: answer.status < 300 || answer.text }).toMatchObject({ status: 201 });
  return answer.body.id;
};
const custom = (name: string, receivers: object[], more: object = {}) =>
  made("/send/custom/", { name, smtp_config_id: smtp, subject: "Six books", body: BODY, receivers, ...more });
const isOver = ({ status }: { status: string }) => !["pending", "sending", "scheduled"].includes(status);

beforeAll(async () => {
  server = await startSmtpServer({
    answer({ verb, to }) {
      if (verb === "RCPT" && to.startsWith("nobody")) return "550 5.1.1 No such user";
      if (verb === "RCPT" && to.startsWith("later")) return "450 4.2.0 Greylisted, try again";
      if (verb === "RCPT" && to.startsWith("blocked")) return "554 5.7.1 Blocked by policy";
      return verb === "DOT" && isHeld ? { reply: "250 2.0.0 Ok", delayMs: 500 } : undefined;
    },
  });
  app = await startApp();
  [company, stranger] = [await newCompany(app), await newCompany(app)];
  browser = await signIn(app, company);
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  smtp = await made("/smtp-configs/", { ...config, max_connections: 2, sender_email: "news@acme.example" });
  list = await made("/lists/", { name: "Readers" });
  await made("/subscribers/", { email: "ann@one.example", first_name: "Ann", lists: [list] });
  template = await made("/templates/", { name: "Letter", subject: "Hello", body: BODY });
  campaign = await custom("October", [
    { email: "ann@one.example", cc: ["copy@one.example"] },
    { email: "bob@two.example" },
    { email: "nobody@two.example" },
  ]);
  await until(() => read(campaign), isOver);
}, 240_000);
afterAll(async () => {
  await app.stop();
  await server.stop();
});

/** Opens the mail as its recipient and clicks the first link, slowly enough not to count as a scanner. */
async function click(address: string): Promise<void> {
  await query("update sent_emails set sent_at = sent_at - interval '1 hour' where sent_at is not null");
  const { raw } = server.messages.find(({ to }) => to.includes(address))!;
  const text = raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const [, token] = /public\/click\/([\w-]+)\//.exec(text)!;
  const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0" };
  const answer = await fetch(`${app.url}${API}/public/click/${token}/`, { redirect: "manual", headers });
  expect(answer.status).toBe(302);
}

test("the page of a campaign shows numbers, reasons with help, domains, and links in the mail itself", async () => {
  await click("ann@one.example");
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     values ($1, $2, 'opened_unrecorded', 1, 0, 1234)`,
    [company.id, campaign],
  );
  const seen = await until(
    () => browser.open(at(campaign)),
    ({ html }) => html.includes("Opens and clicks per hour"),
  );
  expect(seen).toMatchObject({ status: 200, title: "October" });
  expect(seen.html).not.toContain("data-live");
  expect(seen.html.match(/Not recorded: 1,234 opens and 0 clicks/g)).toHaveLength(1);
  const failures = (await browser.open(at(`${campaign}/failures`))).html;
  expect(failures).toContain("No such user");
  expect(failures).toMatch(/nobody%40two\.example/);
  const domains = (await browser.open(at(`${campaign}/domains`))).html;
  expect(domains).toMatch(/two\.example<\/strong>(?:<small>.*<\/small>)?<\/th><td class="numeric"[^>]*>1<\/td>/);
  const mail = (await browser.open(at(`${campaign}/mail`))).html;
  expect(mail.indexOf("https://example.com/books?a=1&amp;b=2")).toBeGreaterThan(0);
  expect(mail.indexOf("https://example.com/shop")).toBeGreaterThan(mail.indexOf("https://example.com/books"));
  expect(mail).toMatch(/<iframe [^>]*sandbox /);
});

test("one dead mailbox does not fail the campaign: the API says partial, the page lists every outcome and offers no resume", async () => {
  expect(await read(campaign)).toMatchObject({ status: "partial", sent_count: 2, failed_count: 1 });
  const { html } = await browser.open(at(campaign));
  expect(html).toContain('<span class="status status-completed">Sent: 2 delivered, 1 bounced</span>');
  expect(html).toMatch(/66\.7 %<\/dd>\s*<dd>2 of 3 emails/);
  expect(html).toMatch(/1 <span class="soft">\(33\.3 %: 1 hard/);
  expect(html).not.toContain(`action="${at(campaign)}/resume"`);
  expect((await browser.open(`/app/${company.id}/campaigns?status=partial`)).html).toContain(
    '<span class="status status-completed">Sent</span>',
  );

  const stopped = await custom("Blocked", [{ email: "ann@one.example" }, { email: "blocked@two.example" }]);
  await until(() => read(stopped), isOver);
  const partly = (await browser.open(at(stopped))).html;
  expect(partly).toContain('<span class="status status-partial">Partly sent: 1 delivered, 1 not sent</span>');
  expect(partly).toContain(`action="${at(stopped)}/resume"`);
  expect(partly).toContain("Sends the remaining 1 email. Nobody gets it twice.");
  await company.api.delete(`${API}/campaigns/${stopped}/`);
});

test("refusals in the SMTP session are on the page of bounces, with their campaign, and can be filtered", async () => {
  const bounces = `/app/${company.id}/bounces`;
  for (const path of [bounces, `${bounces}?via=session`]) {
    const { status, html } = await browser.open(path);
    expect([path, status]).toEqual([path, 200]);
    expect(html).toContain("Refused while sending");
    expect(html).toMatch(
      /nobody@two\.example<\/a><\/th><td data-label="Kind" class="at">Hard bounce<\/td><td data-label="Server’s answer" class="about all">550 5\.1\.1 No such user/,
    );
    expect(html).toContain(`href="${at(campaign)}"`);
  }
  const { body } = await company.api.get(`${API}/events/`, { query: { source: "dsn" } });
  expect(body.count).toBe(0);
});

test("the stream shows how many deferred mails are retried and when", async () => {
  const id = await custom("Waiting", [{ email: "ann@one.example" }, { email: "later@two.example" }]);
  const progress = () => call(app.broker, "campaigns.progress", { id }, { meta: { companyId: company.id } });
  const waiting = await until(progress, ({ retrying, sent_count }) => retrying > 0 && sent_count > 0);
  expect(waiting).toMatchObject({ status: "sending", sent_count: 1, retrying: 1 });
  expect(Date.parse(waiting.next_retry_at!)).toBeGreaterThan(Date.now());
  const { html } = await browser.open(at(id));
  expect(html).toContain('data-zone="UTC"');
  expect(html).toContain('data-retries="{n} will be tried again at {time}."');
  await company.api.post(`${API}/campaigns/${id}/stop/`);
  await until(() => read(id), isOver);
});

test("all times are in the company's time zone: pages, the form of a scheduled campaign, the overview", async () => {
  const scheduled_for = "2031-07-01T13:00:00.000Z";
  const id = await made("/send/to-list/", {
    ...{ name: "In New York", list_id: list, template_id: template, smtp_config_id: smtp, scheduled_for },
  });
  await query("update companies set timezone = 'America/New_York' where id = $1", [company.id]);
  try {
    const form = (await browser.open(at(`${id}/edit`))).html;
    expect(form).toContain('value="2031-07-01T09:00"');
    expect(form).toContain("Time (America/New_York)");
    const fields = { name: "In New York", subject: "Hello", scheduled_for: "2031-01-02T03:04" };
    expect(await browser.send(at(`${id}/edit`), fields)).toMatchObject({ status: 303 });
    expect(await read(id)).toMatchObject({ scheduled_for: "2031-01-02T08:04:00.000Z" });
    const shown = "2 Jan 2031, 03:04 (America/New_York)";
    for (const path of [at(id), `/app/${company.id}/campaigns`, `/app/${company.id}`]) {
      expect([path, (await browser.open(path)).html.includes(shown)]).toEqual([path, true]);
    }
    const { html } = await browser.open(`/app/${company.id}/lists`);
    expect(html).not.toContain(" UTC");
  } finally {
    await query("update companies set timezone = 'UTC' where id = $1", [company.id]);
    await company.api.post(`${API}/campaigns/${id}/cancel/`);
  }
});

test("the mail in the frame has no personal value, each counted link is marked, no script runs and no link works", async () => {
  const { html, headers } = await browser.open(at(`${campaign}/mail/frame`));
  expect(html).toContain("Hello there");
  expect(html).not.toContain("Ann");
  expect(html).toMatch(/>books<\/a><span [^>]*>1 · 50\.0 %<\/span>/);
  expect(html).toMatch(/>shop<\/a><span [^>]*>0 · 0\.0 %<\/span>/);
  expect(html).not.toMatch(/ href=/);
  const policy = headers.get("content-security-policy")!.split("; ");
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'self'", "sandbox"]));
  expect(policy.join()).not.toContain("script");
  expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
});

test("recipients are found by status, address and part of an address; each has its mail, copies and events", async () => {
  const recipients = async (query: string) => {
    const { html, status } = await browser.open(at(`${campaign}/recipients${query}`));
    expect(status).toBe(200);
    return [...html.matchAll(/recipient\?email=([^"]+)"/g)].map(([, email]) => decodeURIComponent(email!)).toSorted();
  };
  expect(await recipients("")).toEqual(["ann@one.example", "bob@two.example", "nobody@two.example"]);
  expect(await recipients("?search=two.ex")).toEqual(["bob@two.example", "nobody@two.example"]);
  expect(await recipients("?search=BOB@two.example")).toEqual(["bob@two.example"]);
  expect(await recipients("?status=sent")).toEqual(["ann@one.example", "bob@two.example"]);
  expect(await recipients("?search=zoe")).toEqual([]);
  expect(await recipients("?status=clicked&search=one.example")).toEqual(["ann@one.example"]);
  expect(await recipients("?status=clicked&search=bob@two.example")).toEqual([]);
  const one = await browser.open(at(`${campaign}/recipient?email=ann%40one.example`));
  expect(one.title).toBe("ann@one.example");
  for (const part of ["copy@one.example", "status-clicked", "https://example.com/books", "/subscribers/"]) {
    expect(one.html).toContain(part);
  }
  expect((await browser.open(at(`${campaign}/recipient?email=zoe%40one.example`))).status).toBe(404);
});

const PAGES = [
  "",
  "/recipients",
  "/recipient?email=ann%40one.example",
  "/mail",
  "/mail/frame",
  "/failures",
  "/domains",
];

test("pages and streams of a campaign that is another company's, or does not exist, are 404", async () => {
  const theirs = await signIn(app, stranger);
  for (const rest of [...PAGES, "/export", "/edit", "/progress"]) {
    const path = `/app/${stranger.id}/campaigns/${campaign}${rest}`;
    expect({ path, status: (await theirs.open(path)).status }).toEqual({ path, status: 404 });
    expect({ rest, status: (await theirs.open(at(campaign + rest))).status }).toEqual({ rest, status: 404 });
  }
  expect((await browser.open(at(`${newId()}/mail`))).status).toBe(404);
  expect((await browser.open(at("none/recipients"))).status).toBe(404);
});

test("a viewer sees all of it but no button, and every write and export is refused", async () => {
  const path = at(campaign);
  await query("update memberships set role = 'viewer' where company_id = $1", [company.id]);
  try {
    for (const rest of PAGES) {
      const { status, html } = await browser.open(path + rest);
      expect({ rest, status, posts: /method="post" action="\/app\/(?!logout)/.test(html) }).toEqual({
        rest,
        status: 200,
        posts: false,
      });
    }
    for (const form of ["stop", "resume", "cancel", "duplicate", "resend", "delete", "edit"]) {
      expect({ form, status: (await browser.send(`${path}/${form}`)).status }).toEqual({ form, status: 403 });
    }
    for (const page of ["export", "edit"]) expect((await browser.open(`${path}/${page}`)).status).toBe(403);
  } finally {
    await query("update memberships set role = 'owner' where company_id = $1", [company.id]);
  }
});

test("a campaign is exported, duplicated as a draft, and sent again once to non-openers, however often the form is submitted", async () => {
  const csv = await browser.open(at(`${campaign}/export`));
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="October-recipients.csv"');
  expect(csv.html.trim().split("\r\n")).toHaveLength(4);
  await browser.open(at(campaign));
  expect((await browser.send(at(`${campaign}/duplicate`))).location).toMatch(
    /\/campaigns\/drafts\/[0-9a-f-]+\?notice=/,
  );
  const { html } = await browser.open(at(campaign));
  const key = /name="key" value="([^"]+)"/.exec(html)![1]!;
  expect(html).toContain("about 1 person");
  const [first, second] = await Promise.all([1, 2].map(() => browser.send(at(`${campaign}/resend`), { key })));
  expect(first!.location).toMatch(/campaigns\/[0-9a-f-]{36}\?notice=campaignMade$/);
  expect(second!.location).toBe(first!.location);
  const again = /campaigns\/([0-9a-f-]{36})/.exec(first!.location!)![1]!;
  expect(await until(() => read(again), isOver)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(await browser.send(at(`${again}/delete`))).toMatchObject({ status: 303 });
  expect((await browser.open(at(again))).status).toBe(404);
});

test("a scheduled campaign is edited, with errors at their fields, and cancelled", async () => {
  const time = new Date(Date.now() + 86_400_000).toISOString();
  const id = await made("/send/to-list/", {
    ...{ name: "Later", list_id: list, template_id: template, smtp_config_id: smtp, scheduled_for: time },
  });
  const form = (await browser.open(at(`${id}/edit`))).html;
  expect(form).toContain(`value="${time.slice(0, 16)}"`);
  const wrong = await browser.send(at(`${id}/edit`), { name: " ", subject: "Hello", scheduled_for: time.slice(0, 16) });
  expect([wrong.status, /id="wrong-name"/.test(wrong.html)]).toEqual([400, true]);
  const fields = { name: "Much later", subject: "News", scheduled_for: "2031-01-02T03:04", audience: `list:${list}` };
  expect(await browser.send(at(`${id}/edit`), fields)).toMatchObject({ status: 303 });
  expect(await read(id)).toMatchObject({
    ...{ name: "Much later", subject: "News", scheduled_for: "2031-01-02T03:04:00.000Z", list_id: list },
  });
  expect((await browser.open(at(id))).html).toContain("1 email will not go out.");
  expect(await browser.send(at(`${id}/cancel`))).toMatchObject({ status: 303 });
  expect(await read(id)).toMatchObject({ status: "cancelled" });
  expect((await browser.open(at(`${id}/edit`))).html).toContain("It is no longer scheduled");
});

test("the text of a scheduled campaign is edited in place, and stays unchanged if the form was not", async () => {
  const time = new Date(Date.now() + 86_400_000).toISOString();
  const content = { subject: "News", preheader: "Peek", body: "<p>One</p>\n<p>Two</p>", text_body: "One" };
  const id = await made("/send/to-list/", {
    name: "Own",
    list_id: list,
    content,
    smtp_config_id: smtp,
    scheduled_for: time,
  });
  const contentOf = async () =>
    (await company.api.post(`/api/emails/campaigns/${id}/duplicate/`, {})).body.body.content;
  expect((await browser.open(at(`${id}/edit`))).html).toContain(
    "&lt;p&gt;One&lt;/p&gt;\n&lt;p&gt;Two&lt;/p&gt;</textarea>",
  );
  const fields = { name: "Own", subject: "Newer", scheduled_for: time.slice(0, 16) };
  await browser.send(at(`${id}/edit`), { ...fields, body: content.body.replace("\n", "\r\n") });
  expect(await contentOf()).toEqual({ ...content, subject: "Newer" });
  const faulty = await browser.send(at(`${id}/edit`), { ...fields, body: "[[#if a]]" });
  expect([faulty.status, /id="wrong-body"/.test(faulty.html)]).toEqual([400, true]);
  expect(await browser.send(at(`${id}/edit`), { ...fields, body: "<p>Three</p>" })).toMatchObject({ status: 303 });
  expect(await contentOf()).toEqual({ subject: "Newer", preheader: "Peek", body: "<p>Three</p>" });
  const peek = { ...fields, body: "<p>Three</p>", preheader: " Look " };
  expect(await browser.send(at(`${id}/edit`), peek)).toMatchObject({ status: 303 });
  expect(await contentOf()).toEqual({ subject: "Newer", preheader: "Look", body: "<p>Three</p>" });
  expect((await browser.open(at(`${id}/edit`))).html).toContain('value="Look"');
  await browser.send(at(`${id}/edit`), { ...peek, preheader: "" });
  expect(await contentOf()).toEqual({ subject: "Newer", body: "<p>Three</p>" });
  await browser.send(at(`${id}/edit`), { ...fields, body: "<p>Three</p>", template });
  expect((await read(id)).template_id).toBe(template);
  expect((await browser.open(at(`${id}/edit`))).html).not.toContain("</textarea>");
});

test("each variant of an A/B test is shown as it is sent, and its links have the names that the analytics use", async () => {
  const id = await made("/send/to-list/", {
    ...{ name: "A/B", list_id: list, template_id: template, smtp_config_id: smtp },
    scheduled_for: new Date(Date.now() + 86_400_000).toISOString(),
    variants: [
      { subject: "For [[first_name|default:you]]", percent: 50 },
      { subject: "Other", template_id: template, percent: 50 },
    ],
  });
  const content = (variant: number) => company.api.get(`${API}/campaigns/${id}/content/`, { query: { variant } });
  const shown = await Promise.all([0, 1, 2].map(content));
  expect(shown.map(({ status, body }) => [status, body.subject])).toEqual([
    [200, "For you"],
    [200, "Other"],
    [404, undefined],
  ]);
  expect(shown[0]!.body.html).toContain('href="https://example.com/books?a=1&amp;b=2"');
  expect(shown[0]!.body.html).not.toContain("unsubscribe/");
  const { html } = await browser.open(at(`${id}/mail?variant=1`));
  expect(html).toContain(`src="${at(id)}/mail/frame?variant=1"`);
  expect((await browser.open(at(`${id}/mail/frame?variant=1`))).html).toContain("Hello there");
  expect((await browser.open(at(id))).html).toContain("Version B");
});

test("an A/B test that waits for its winner is no error, and its rest is not called failed after it is stopped", async () => {
  await company.api.patch(`/api/companies/${company.id}/`, { timezone: "Asia/Tokyo" });
  const testers = await made("/lists/", { name: "Testers" });
  for (let n = 0; n < 11; n++) await made("/subscribers/", { email: `t${n}@one.example`, lists: [testers] });
  await query("update subscribers set status = 'unsubscribed' where company_id = $1 and email = 't10@one.example'", [
    company.id,
  ]);
  const id = await made("/send/to-list/", {
    ...{ name: "Waits", list_id: testers, template_id: template, smtp_config_id: smtp },
    variants: [{ percent: 20 }, { percent: 20, subject: "Other" }],
    winner: { metric: "opens", after_minutes: 600 },
  });
  const { winner } = await until(
    () => read(id),
    (one) => Boolean(one.winner.due_at),
  );
  const { html } = await browser.open(at(id));
  const [date, clock] = new Intl.DateTimeFormat("en-GB", {
    ...{ day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", timeZone: "Asia/Tokyo" },
  })
    .format(new Date(winner.due_at))
    .split(" at ");
  expect(html).toContain(`A/B test running</span> The winner is chosen on ${date} at ${clock}.`);
  expect(html).not.toContain("Waiting for the winner");
  expect(html).not.toMatch(/<p class="alert">/);
  expect(html).toContain("Stops within two seconds. You can resume later.");
  const listed = (await browser.open(at("").slice(0, -1))).html;
  expect(listed).toMatch(/Waits<\/a><small>to Testers<\/small>[\s\S]*?A\/B test running/);

  await browser.send(at(`${id}/stop`));
  await until(() => read(id), isOver);
  const stopped = await browser.open(at(id));
  expect(stopped.html).toContain("Partly sent: 4 delivered, 6 not sent</span>");
  expect(stopped.html).toContain("6 emails weren’t sent. See why below.");
  expect(stopped.html).toContain("Sends the remaining 6 emails. Nobody gets it twice.");
  expect(stopped.html).toMatch(/<p class="soft">Stopped by /);
  const skipped = await browser.open(at(`${id}/recipients?status=suppressed`));
  expect(skipped.html).toContain("Skipped: 1 person");
  expect(skipped.html).not.toContain("No recipients match");
  for (const path of [id, `${id}/recipients`]) expect((await browser.open(at(path))).html).not.toContain("Failed");
  await company.api.delete(`${API}/campaigns/${id}/`);
  await company.api.patch(`/api/companies/${company.id}/`, { timezone: "UTC" });
});

test("the list is filtered and ordered, and names are escaped", async () => {
  const evil = "<img src=x onerror=alert(1)>";
  const id = await custom(evil, [{ email: "ann@one.example" }]);
  const { html } = await browser.open(`/app/${company.id}/campaigns?type=custom&ordering=name`);
  expect(html).not.toContain("<img");
  expect(html.indexOf("&lt;img")).toBeLessThan(html.indexOf(">October<"));
  expect(html).not.toContain(">Much later<");
  expect((await browser.open(`/app/${company.id}/campaigns?status=scheduled&search=zzz`)).html).toContain(
    "No campaign matches",
  );
  expect((await browser.open(`/app/${company.id}/campaigns?ordering=nonsense&type=x&status=y`)).status).toBe(200);
  await until(() => read(id), isOver);
});

interface Seen {
  name: string;
  status: string;
  sent_count: number;
}

/** Collects the events of a page's stream until it ends or `leave` is called. */
async function watch(id: string, cookie = browser.cookie) {
  const leaving = new AbortController();
  const response = await fetch(`${app.url}${at(id)}/progress`, { headers: { cookie }, signal: leaving.signal });
  const events: Seen[] = [];
  const hear = async () => {
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
        events.push({ name: name!, ...(JSON.parse(data!) as Omit<Seen, "name">) });
      }
    }
  };
  const closed = (response.status === 200 ? hear() : response.text()).then(
    () => true,
    () => true,
  );
  return { status: response.status, events, closed, leave: () => leaving.abort() };
}

test("the page of a running campaign has a stream authorised by the session cookie alone; it ends with the campaign or the session", async () => {
  isHeld = true;
  const other = await signIn(app, company);
  const receivers = Array.from({ length: 60 }, (_, n) => ({ email: `u${n}@example.com` }));
  const id = await custom("Spring sale", receivers);
  const { html } = await browser.open(at(id));
  expect(html).toContain(`data-live="${at(id)}/progress"`);
  expect((await browser.open(`/app/${company.id}`)).html).toContain(at(id));
  expect((await browser.open(at("sending-now"))).html).toContain(">Spring sale<");

  expect((await watch(id, "")).status).toBe(401);
  expect((await watch(id, "fm_session=forged")).status).toBe(401);
  const [mine, theirs] = await Promise.all([watch(id), watch(id, other.cookie)]);
  await until(
    async () => mine.events,
    (events) => (events.at(-1)?.sent_count ?? 0) > 0,
  );
  await other.open(`/app/${company.id}`);
  await other.send("/app/logout");
  expect(await theirs.closed).toBe(true);
  expect(theirs.events.map(({ name }) => name)).not.toContain("end");
  expect((await watch(id, other.cookie)).status).toBe(401);

  isHeld = false;
  expect(await mine.closed).toBe(true);
  expect(mine.events.at(-1)).toMatchObject({ name: "end", status: "completed", sent_count: 60 });
  expect((await browser.open(at("sending-now"))).html).toContain("No campaign is being sent.");
});

test("a page that refreshes itself does not keep the session alive", async () => {
  const [name, value] = browser.cookie.split("=") as [string, string];
  const { iat, ...claims } = jwt.decode(value) as jwt.JwtPayload;
  const older = jwt.sign({ ...claims, iat: iat! - 600 }, keysFor("console")[0]!);
  const ask = async (headers: Record<string, string>) => {
    const cookie = `${name}=${older}`;
    const answer = await fetch(`${app.url}${at("sending-now")}`, { headers: { cookie, ...headers } });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
    return answer.headers.has("set-cookie");
  };
  expect([await ask({ "x-poll": "1" }), await ask({})]).toEqual([false, true]);
});
