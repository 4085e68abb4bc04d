/** Templates and media in the console, as a browser without JavaScript sees them. */
import jwt from "jsonwebtoken";
import { query } from "../../../models/database/db.ts";
import { messages } from "../../../services/console/messages.ts";
import { STARTERS } from "../../../services/lib/design/starters/starters.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, signIn } from "../../support/console-browser.ts";
import { until } from "../campaigns/world.ts";

let app: App;
let company: TestCompany;
let browser: ConsoleBrowser;
const at = (path: string) => `/app/${company.id}/${path}`;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  browser = await signIn(app, company);
  await browser.open(at("templates"));
});
afterAll(() => app.stop());

const LINK = '<a href="[[unsubscribe_url]]">Unsubscribe</a>';
const typed = {
  name: "June",
  subject: "Hi [[first_name]]",
  preheader: "",
  body: `<p>One</p>\r\n${LINK}`,
  text_body: "",
};
const make = async (given: object = {}): Promise<string> => {
  const made = { name: "June", subject: "Hi [[first_name]]", body: `<p>One</p>\n${LINK}`, ...given };
  return (await company.api.post("/api/emails/templates/", made)).body.id;
};
const read = async (id: string) => (await company.api.get(`/api/emails/templates/${id}/`)).body;
const seenOf = (html: string) => /name="seen" value="([^"]+)"/.exec(html)![1]!;

test("a template is created, checked, found, edited, duplicated and deleted after a page shows what that affects", async () => {
  const made = await browser.send(at("templates/new"), {
    ...typed,
    body: `${typed.body}[[nick]]`,
    template_mode: "basic",
  });
  expect(made).toMatchObject({ status: 303, location: expect.stringMatching(/\?checked=1&notice=saved$/) });
  const [path] = made.location!.split("?") as [string];
  const id = path.split("/").at(-1)!;
  // Line breaks are as they were typed, whatever a form makes of them.
  expect(await read(id)).toMatchObject({ body: `<p>One</p>\n${LINK}[[nick]]`, preheader: null, inline_css: false });
  const shown = await browser.open(made.location!);
  expect(shown.html).toContain("No subscriber has the variable [[nick]].");
  expect(shown.html).toContain("Saved.");
  expect((await browser.open(at("templates?search=first_n"))).html).toContain(path);
  expect((await browser.open(at("templates?search=nothing"))).html).toContain("No template matches");

  const saved = await browser.send(path, { ...typed, name: "July", inline_css: "on", seen: seenOf(shown.html) });
  expect(saved.status).toBe(303);
  expect(await read(id)).toMatchObject({ name: "July", inline_css: true });
  const copy = await browser.send(`${path}/duplicate`);
  expect((await browser.open(copy.location!)).title).toBe("Copy of July");

  const draft = { kind: "to-list", body: { template_id: id } };
  await company.api.post("/api/emails/drafts/", draft);
  const asked = await browser.open(`${path}/delete`);
  expect(asked.html).toContain("Drafts that use it: 1.");
  expect(await browser.send(`${path}/delete`)).toMatchObject({ status: 303 });
  expect((await browser.open(path)).status).toBe(404);
});

test("twenty starter templates are shown as they would look, in the company's brand, and can be saved", async () => {
  await company.api.patch(`/api/companies/${company.id}/`, { branding: { color: "#7a1f3d", name: "Lantern Books" } });
  const { html } = await browser.open(at("templates/starters"));
  expect(html.match(/class="starter"/g)).toHaveLength(20);
  for (const { id, name, subject, preheader, design } of STARTERS) {
    const frame = await browser.open(at(`templates/starters/${id}`));
    expect(frame.html).toMatch(/Lantern Books/);
    expect(frame.html).not.toMatch(/<script|\[\[/);
    const made = await company.api.post("/api/emails/templates/", { name, subject, preheader, design });
    expect([made.status, made.body.design]).toEqual([201, design]);
  }
  const sale = await browser.open(at("templates/starters/sale"));
  expect(sale.html).toMatch(/background:#7a1f3d/i);
  expect((await browser.open(at("templates/new/visual?from=sale"))).html).toContain("20 % off until Sunday");
  const [first] = (await company.api.get("/api/emails/templates/?search=Newsletter: one")).body.results;
  const copy = await browser.send(at(`templates/${first.id}/duplicate`));
  expect(await read(copy.location!.split("/").at(-1)!.split("?")[0]!)).toMatchObject({ design: STARTERS[0]!.design });
});

test("a refused form is shown again with all that was typed, and MJML errors name their line and show it", async () => {
  const body = "<mjml>\r\n<mj-body>\r\n<mj-nonsense>x</mj-nonsense>\r\n</mj-body></mjml>";
  const { status, html } = await browser.send(at("templates/new"), {
    ...typed,
    subject: "Hi [[",
    body,
    template_mode: "mjml",
    text_body: "<plain>",
  });
  expect(status).toBe(400);
  expect(html).toContain('id="wrong-subject"');
  expect(html).toContain('data-line="3" data-field="body"');
  expect(html).toContain("&lt;mj-nonsense&gt;x&lt;/mj-nonsense&gt;</code>");
  expect(html).toContain("&lt;plain&gt;</textarea>");
  expect(html).toMatch(/value="mjml" selected/);
});

test("the second of two people who save the same template is warned, loses nothing, and decides", async () => {
  const id = await make();
  const path = at(`templates/${id}`);
  const seen = seenOf((await browser.open(path)).html);
  const theirs = await browser.send(path, { ...typed, body: "<p>theirs</p>", seen });
  expect(theirs.status).toBe(303);
  const refused = await browser.send(path, { ...typed, body: "<p>mine</p>", seen });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain(`${company.email} saved this template at`);
  expect(refused.html).toContain("\n&lt;p&gt;mine&lt;/p&gt;</textarea>");
  expect(refused.html).toContain(`href="${path}/versions/2"`);
  expect((await read(id)).body).toBe("<p>theirs</p>");
  const overwrite = /name="overwrite" value="([^"]+)"/.exec(refused.html)![1]!;
  expect((await browser.send(path, { ...typed, body: "<p>mine</p>", seen })).status).toBe(400);
  expect((await browser.send(path, { ...typed, body: "<p>mine</p>", seen, overwrite })).status).toBe(303);
  expect((await read(id)).body).toBe("<p>mine</p>");
});

test("the visual editor offers a hundred saved blocks", async () => {
  for (let n = 1; n <= 100; n++) {
    const block = { name: `Block ${String(n).padStart(3, "0")}`, blocks: [{ type: "divider" }] };
    expect((await company.api.post("/api/emails/saved-blocks/", block)).status).toBe(201);
  }
  expect((await browser.open(at("templates/new/visual"))).html).toContain("Block 100");
});

test("the text of a template that was deleted while it was edited is kept, to be saved as a new one", async () => {
  const id = await make();
  const path = at(`templates/${id}`);
  const seen = seenOf((await browser.open(path)).html);
  expect((await company.api.delete(`/api/emails/templates/${id}/`)).status).toBe(204);
  const gone = await browser.send(path, { ...typed, body: "<p>Typed for an hour</p>", seen });
  expect(gone.status).toBe(404);
  expect(gone.html).toContain("This template was deleted after you opened it.");
  expect(gone.html).toContain("\n&lt;p&gt;Typed for an hour&lt;/p&gt;</textarea>");
  expect(gone.html).toContain(`action="${at("templates/new")}"`);
  expect(gone.html).toContain("Save as new template</button>");
});

test("versions are listed, compared by line, and restored as the newest", async () => {
  const id = await make({ body: "<p>one</p>\n<p>two</p>", text_body: "Hello" });
  await company.api.patch(`/api/emails/templates/${id}/`, { body: "<p>one</p>\n<p>zwei</p>", text_body: null });
  const path = at(`templates/${id}/versions`);
  expect((await browser.open(path)).html).toContain(`action="${path}/1/restore"`);
  const { html, title } = await browser.open(`${path}/1`);
  expect(title).toBe("Version 1 of June");
  expect(html).toContain("From version 1 to version 2");
  expect(html).toContain("<del>&lt;p&gt;two&lt;/p&gt;</del>");
  expect(html).toContain("<ins>&lt;p&gt;zwei&lt;/p&gt;</ins>");
  expect(html).toContain("removed: </span><del>Hello</del>");
  expect(html).not.toMatch(/<h3[^>]*>Subject/);
  expect(await browser.send(`${path}/1/restore`)).toMatchObject({ status: 303 });
  expect((await read(id)).body).toBe("<p>one</p>\n<p>two</p>");
  expect((await browser.open(`${path}/3?with=1`)).html).toContain("These versions are the same.");
  for (const none of ["99", "0", "x"]) expect((await browser.open(`${path}/${none}`)).status).toBe(404);
  expect((await browser.send(`${path}/x/restore`)).status).toBeGreaterThanOrEqual(400);
});

test("versions with designs are compared by block and setting", async () => {
  const designOf = (text: string, ...more: object[]) => {
    const paragraph = { type: "paragraph", content: [{ type: "text", text: "Read on" }] };
    const blocks = [
      { type: "heading", text },
      { type: "if", variable: "vip", blocks: [{ type: "text", content: { type: "doc", content: [paragraph] } }] },
      ...more,
    ];
    return { version: 1, settings: { width: 640 }, blocks: [{ type: "section", columns: [{ blocks }] }] };
  };
  const id = await make({ body: undefined, design: designOf("Six books") });
  const path = at(`templates/${id}/versions`);
  const button = { type: "button", text: "Shop", href: "https://lantern.example/" };
  await company.api.patch(`/api/emails/templates/${id}/`, { design: designOf("Seven books", button) });
  const { html } = await browser.open(`${path}/1`);
  expect(html).toMatch(/<h3[^>]*>Design</);
  expect(html).not.toMatch(/<h3[^>]*>Content</);
  expect(html).toMatch(/<del> *Text: Six books<\/del>/);
  expect(html).toMatch(/<ins> *Text: Seven books<\/ins>/);
  expect(html).toMatch(/<ins> *Button<\/ins>/);
  expect(html).toMatch(/<ins> *Link: https:\/\/lantern\.example\/<\/ins>/);
  expect(html).toContain("Read on</span>");
  await company.api.patch(`/api/emails/templates/${id}/`, { body: "<p>HTML</p>" });
  expect((await browser.open(`${path}/3`)).html).toMatch(/<h3[^>]*>Design<[\s\S]*<h3[^>]*>Content</);
});

test("the frame shows the mail as a subscriber gets it, with its own CSP that allows no script", async () => {
  await company.api.post("/api/emails/subscribers/", {
    email: "grace@example.com",
    first_name: "Grace",
    attributes: { city: "New York" },
  });
  // Newer ones, of whose addresses hers is a part.
  for (let n = 0; n < 6; n++) await company.api.post("/api/emails/subscribers/", { email: `m${n}grace@example.com` });
  const style = "<style>@media (prefers-color-scheme: dark){p{color:red}}</style>";
  const body = `<html><head>${style}</head><body><p onclick="x()">[[first_name]] in [[city]]</p><script>alert(1)</script></body></html>`;
  const id = await make({ body });
  const path = at(`templates/${id}`);
  expect((await browser.open(path)).html).toMatch(
    new RegExp(`<iframe [^>]*src="${path}/frame" sandbox="allow-same-origin"`),
  );
  const { headers, html } = await browser.open(`${path}/frame?reader=Grace%40example.com&view=dark`);
  const policy = headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/script|unsafe-eval/);
  expect(policy).toContain("frame-ancestors 'self'");
  expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
  expect(html).toContain("Grace in New York");
  expect(html).toContain("@media (min-width:0)");
  expect((await browser.open(`${path}/frame`)).html).toContain("@media (max-width:0)");
  // Previews unsaved content by the form's button.
  const unsaved = { ...typed, body: "<b>Bold</b> [[first_name]]", reader: "nobody@example.com" };
  const sent = await browser.send(at("templates/preview"), unsaved);
  expect(sent.html).toContain("<b>Bold</b> Ann");
  expect(sent.headers.get("content-security-policy")).toBe(policy);
  expect((await browser.send(at("templates/preview"), { ...unsaved, view: "text" })).html).toContain("Bold Ann");
  expect((await browser.send(at("templates/preview"), { ...unsaved, body: "[[#if x]]" })).html).toContain("line 1");
  // The script's part: findings, and the mail as text.
  const findings = await browser.send(at("templates/findings"), unsaved);
  expect(findings.html).toContain("No subscriber has the address nobody@example.com");
  expect(findings.html).toContain("No visible unsubscribe link");
  expect(findings.html).toMatch(/<textarea id="rendered" hidden>\n[^<]*&lt;b&gt;Bold/);
  const pale = '<p style="color: #ccc">Pale</p>';
  expect((await browser.send(at("templates/findings"), { ...unsaved, body: pale })).html).toContain(
    "“Pale” is hard to read",
  );
  const wrong = await browser.send(at("templates/findings"), { ...unsaved, body: "<p>\n[[#if x]]</p>" });
  expect(wrong.html).toContain('data-line="2"');
  expect(wrong.html).not.toContain('id="rendered"');
});

const PNG = Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1");
const file = (name: string) => new File([PNG], name, { type: "image/png" });

test("a file is uploaded, found, offered in the editor, and deleted after a page shows what that breaks", async () => {
  expect(await browser.attach(at("media"), file("logo.png"))).toMatchObject({
    status: 303,
    location: `${at("media")}?notice=uploaded`,
  });
  const answer = JSON.parse((await browser.attach(at("templates/media"), file("second <b>.png"))).html);
  expect(answer).toMatchObject({
    filename: "second <b>.png",
    url: expect.stringContaining("/api/emails/public/media/"),
    isCopy: false,
  });
  const { html } = await browser.open(at("media?search=logo"));
  const [, id] = /media\/([0-9a-f-]{36})\/delete/.exec(html)!;
  expect(html).toMatch(/26 bytes|bytes used|used/);
  expect(html).not.toContain("second");
  const [, url] = /value="(http[^"]+logo\.png)"/.exec(html)!;
  expect((await browser.open(at("templates/new"))).html).toContain(`data-image="${url}"`);

  const path = at(`media/${id}/delete`);
  expect((await browser.open(path)).html).toContain("No template uses it, nor any of your newest 1,000 campaigns.");
  await make({ name: "With the logo", body: `<img src="${url}" alt="">` });
  const asked = await browser.open(path);
  expect(asked.html).toContain("Templates that use it: 1.");
  expect(asked.html).toContain("With the logo");
  expect(await browser.send(path)).toMatchObject({ status: 303 });
  expect((await browser.open(path)).status).toBe(404);
});

test("an image upload refuses a file that is no image and stores nothing; other files stay attachments", async () => {
  const refused = messages.media.noImage;
  const text = new File(["I am a text"], "fake.png", { type: "image/png" });
  const program = new File([Buffer.from("MZ\x90\0\x03\0\0\0", "latin1")], "notes.exe", { type: "image/png" });
  const vector = new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], "drawing.svg", { type: "image/svg+xml" });
  for (const one of [text, program, vector]) {
    const { status, html } = await browser.attach(at("templates/media"), one);
    expect([one.name, status, JSON.parse(html)]).toEqual([one.name, 400, { sentences: [refused] }]);
    expect((await company.api.get("/api/emails/media/", { query: { search: one.name } })).body.count).toBe(0);
  }
  const large = Buffer.concat([PNG, Buffer.alloc(700_000, 7)]);
  const { html } = await browser.attach(at("templates/media"), new File([large], "large.png", { type: "image/png" }));
  expect(
    Buffer.from(await (await fetch(app.url + new URL(JSON.parse(html).url).pathname)).arrayBuffer()).equals(large),
  ).toBe(true);
  expect((await browser.attach(at("media"), text)).status).toBe(303);
  const { results } = (await company.api.get("/api/emails/media/", { query: { search: "fake.png" } })).body;
  expect(results).toMatchObject([{ content_type: "text/plain" }]);
});

test("files have folders to filter by, and a page that renames, moves and describes them", async () => {
  expect(await browser.attach(at("media"), file("tree.png"), { folder: "Autumn" })).toMatchObject({
    status: 303,
    location: `${at("media")}?folder=Autumn&notice=uploaded`,
  });
  const { html } = await browser.open(at("media?folder=Autumn"));
  expect(html).toContain('<a href="?folder=Autumn" aria-current="true">'.replace("?", `${at("media")}?`));
  expect(html).toContain("No description");
  const [, id] = /media\/([0-9a-f-]{36})\/delete/.exec(html)!;
  const path = at(`media/${id}`);
  expect((await browser.open(path)).html).toContain("Type a new name, or one of: Autumn.");
  const wrong = await browser.send(path, { filename: "", folder: "Winter", alt: "A <b>tree" });
  expect(wrong).toMatchObject({ status: 400, html: expect.stringContaining('value="A &lt;b&gt;tree"') });
  expect((await browser.send(path, { filename: "oak.png", folder: "Winter", alt: "A <b>tree" })).status).toBe(303);
  const moved = (await browser.open(at("media?folder=Winter"))).html;
  expect(moved).toContain("oak.png");
  expect(moved).toContain("A &lt;b&gt;tree");
  expect((await browser.open(at("media"))).html).not.toContain("folder=Autumn");

  // The visual editor's part. The file is no whole image.
  const library = JSON.parse((await browser.open(at("media/library?folder=Winter&search=tree"))).html);
  expect(library).toMatchObject({ images: [{ id, alt: "A <b>tree", isCopy: false }], folders: ["Winter"], next: null });
  expect(JSON.parse((await browser.open(at(`media/${id}/original`))).html)).toMatchObject({
    image: { id },
    crop: null,
  });
  const refused = await browser.send(at(`media/${id}/copy`), { width: "100", crop: "" });
  expect([refused.status, JSON.parse(refused.html)]).toEqual([
    400,
    { sentences: ["The image cannot be read. It may be damaged."] },
  ]);
});

test("a file that is empty, missing or larger than the plan allows is refused with advice", async () => {
  const empty = await browser.attach(at("media"), new File([], "empty.png"));
  expect(empty).toMatchObject({ status: 400 });
  expect(empty.html).toContain("The submitted file is empty.");
  expect((await browser.send(at("media"))).html).toContain("Choose a file first.");
  const signature = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  const size = Buffer.alloc(8);
  size.writeUInt32BE(30_000, 0);
  size.writeUInt32BE(30_000, 4);
  const vast = () => new File([Buffer.concat([signature, size, Buffer.alloc(9)])], "vast.png");
  const many = "The image has more than 50 million pixels. Make it smaller.";
  expect((await browser.attach(at("media"), vast())).html).toContain(many);
  expect(await browser.attach(at("templates/media"), vast())).toMatchObject({
    status: 400,
    html: JSON.stringify({ sentences: [many] }),
  });
  expect((await browser.open(at("media"))).html).not.toContain("vast.png");
  const small = await newCompany(app, { plan: "free" });
  const theirs = await signIn(app, small);
  await query(
    `insert into media (id, company_id, filename, content_type, size, sha256)
     select gen_random_uuid(), c.id, 'x', 'text/plain', p.media_bytes, '' from companies c join plans p on p.name = c.plan
     where c.id = $1`,
    [small.id],
  );
  // A plan is known a second later.
  const isFull = ({ html }: { html: string }) => html.includes("50 MB of 50 MB used");
  await until(() => theirs.open(`/app/${small.id}/media`), isFull);
  const full = await theirs.attach(`/app/${small.id}/media`, file("more.png"));
  expect(full).toMatchObject({ status: 403, title: "Media" });
  expect(full.html).toContain("Media storage is full. Your plan allows 50 MB.");
  expect(full.html).toContain("Delete files you no longer need");
});

test("a viewer reads templates and media, sees no form that writes, and is refused; another company's are 404", async () => {
  const mine = await newCompany(app);
  const theirs = await make({ name: `<img src=x onerror=alert(1)>`, body: "<p>Hello</p>" });
  const own = (await mine.api.post("/api/emails/templates/", typed)).body.id;
  const path = (rest: string) => `/app/${mine.id}/${rest}`;
  const viewer = await signIn(app, mine);
  await query("update memberships set role = 'viewer' where company_id = $1", [mine.id]);
  for (const page of [
    "templates",
    `templates/${own}`,
    `templates/${own}/versions`,
    `templates/${own}/versions/1`,
    "media",
  ]) {
    const { status, html } = await viewer.open(path(page));
    expect({ page, status }).toEqual({ page, status: 200 });
    expect(html.replace(/<form class="who"[\s\S]*?<\/form>/, "")).not.toContain('method="post"');
  }
  expect((await viewer.open(path(`templates/${own}/frame`))).html).toContain("One");
  for (const page of ["templates/new", `templates/${own}/delete`]) {
    expect(await viewer.open(path(page))).toMatchObject({ status: 403, title: "You may not do this" });
  }
  const forms = [
    "new",
    "preview",
    "findings",
    "media",
    own,
    `${own}/duplicate`,
    `${own}/delete`,
    `${own}/versions/1/restore`,
  ];
  for (const form of [...forms.map((form) => `templates/${form}`), "media", `media/${own}/delete`]) {
    expect({ form, status: (await viewer.send(path(form), typed)).status }).toEqual({ form, status: 403 });
  }
  await query("update memberships set role = 'member' where company_id = $1", [mine.id]);
  for (const page of ["", "/frame", "/delete", "/versions", "/versions/1"]) {
    expect((await viewer.open(path(`templates/${theirs}${page}`))).status).toBe(404);
  }
  expect((await viewer.send(path(`templates/${theirs}`), typed)).status).toBe(404);
  expect((await browser.open(at("templates"))).html).toContain("&lt;img src=x onerror=alert(1)&gt;");
});

test("scripts of the editors get each refusal as JSON with a sentence for people, also when the session has ended", async () => {
  const mine = await newCompany(app);
  const id = (await mine.api.post("/api/emails/templates/", { ...typed, template_type: "marketing" })).body.id;
  const own = await signIn(app, mine);
  await own.open(`/app/${mine.id}/templates`);
  const fields = (more: object = {}) =>
    new URLSearchParams({ form_token: own.token, document: JSON.stringify({ ...typed, design: null }), ...more });
  const file = (size: number) => {
    const form = new FormData();
    form.append("form_token", own.token);
    form.append("file", new File([Buffer.alloc(size, "a")], "a.png"));
    return form;
  };
  const ask = async (path: string, body?: URLSearchParams | FormData) => {
    const { status, answer } = await own.askJson(`/app/${mine.id}/${path}`, body);
    return [status, answer.sentences?.join(" ") ?? answer.file?.join(" ") ?? answer.detail];
  };
  const unknown = "01a205d7-0000-7000-8000-000000000001";
  const { ended } = messages.visual.problems;
  expect(await ask(`media/${unknown}/original`)).toEqual([404, messages.problems.notFound]);
  expect(await ask(`media/${unknown}/copy`, fields({ width: "100" }))).toEqual([404, messages.problems.notFound]);
  expect(await ask(`templates/${id}/visual`, fields({ document: "x".repeat(1_100_000) }))).toEqual([
    413,
    expect.stringMatching(/too large|larger/),
  ]);
  expect(await ask("templates/media", file(0))).toEqual([400, "The submitted file is empty."]);
  expect(await ask(`templates/${id}/visual`, fields({ form_token: "of another session" }))).toEqual([401, ended]);

  await query("update memberships set role = 'viewer' where company_id = $1", [mine.id]);
  for (const path of ["templates/visual-test", "templates/visual-check", `templates/${id}/visual`]) {
    expect([path, ...(await ask(path, fields()))]).toEqual([path, 403, expect.stringMatching(/permission/)]);
  }
  expect(await ask("templates/media", file(10))).toEqual([403, expect.stringMatching(/permission/)]);

  const { exp: _, ...claims } = jwt.decode(own.cookie.split("=")[1]!) as jwt.JwtPayload;
  own.cookie = `fm_session=${jwt.sign({ ...claims, exp: claims.iat! - 60 }, keysFor("console")[0]!)}`;
  for (const path of ["templates/visual-check", `templates/${id}/visual`, `media/${unknown}/copy`]) {
    expect([path, ...(await ask(path, fields()))]).toEqual([path, 401, ended]);
  }
  expect(await ask("templates/media", file(10))).toEqual([401, ended]);
  expect(await ask("media/library")).toEqual([401, ended]);
  own.cookie = "";
  expect((await ask("templates/media", file(10)))[0]).toBe(401);
});

test("plain text is saved as paragraphs and a list in the default layout, and previewed like that", async () => {
  const plain = { ...typed, body: "Hello,\r\n\r\nwe have\r\n- tea\r\n- milk\r\n[[unsubscribe_url]]" };
  const paragraphs = "<p>Hello,</p>\n<p>we have</p><ul>\n<li>tea</li>\n<li>milk</li>\n</ul>";
  expect((await browser.send(at("templates/preview"), plain)).html).toContain(paragraphs);
  const { location } = await browser.send(at("templates/new"), plain);
  const id = /templates\/([\w-]+)/.exec(location!)![1]!;
  expect((await read(id)).body).toContain(paragraphs);
  expect((await read(id)).body).toMatch(/^<!doctype html>/);
});

test("a button converts placeholders of other products and broken links, and saves nothing", async () => {
  const foreign = {
    ...typed,
    subject: "Hi *|FNAME|*",
    body: '<p>{{ .Subscriber.FirstName }}</p><a href="www.shop.example.com">x</a>',
    text_body: "%recipient.city%",
  };
  const { html } = await browser.send(at("templates/findings"), foreign);
  expect(html).toContain("is a placeholder of Mailchimp");
  expect(html).toContain('name="convert"');
  const clean = { ...typed, body: "<p>x</p>" };
  expect((await browser.send(at("templates/findings"), clean)).html).not.toContain('name="convert"');
  const id = await make();
  for (const path of [at("templates/new"), at(`templates/${id}`)]) {
    const page = await browser.send(path, { ...foreign, convert: "yes" });
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.html).toContain('value="Hi [[first_name]]"');
    expect(page.html).toContain(
      "&lt;p&gt;[[first_name]]&lt;/p&gt;&lt;a href=&quot;https://www.shop.example.com&quot;&gt;",
    );
    expect(page.html).toContain("\n[[city]]</textarea>");
    expect(page.html).toContain("Check the content, then save.");
  }
  expect((await read(id)).subject).not.toContain("first_name]] Hi");
  const mjml = await browser.send(at("templates/new"), {
    ...typed,
    body: "<mjml><mj-body></mj-body></mjml>",
    convert: "yes",
  });
  expect(mjml.html).toMatch(/value="mjml" selected/);
});
