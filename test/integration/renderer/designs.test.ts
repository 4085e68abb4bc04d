import fc from "fast-check";
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { designs } from "../../support/designs.ts";

const PATH = "/api/emails/templates/";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "renderer"] });
  company = await newCompany(app);
});
afterAll(() => app.stop());

const inColumn = (...blocks: object[]) => ({ version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] });
const hello = (text = "Hello [[first_name]]") => inColumn({ type: "heading", text }, { type: "footer" });
const input = { name: "June", subject: "Hi [[first_name]]", design: hello() };
const create = async (given: object = {}) => (await company.api.post(PATH, { ...input, ...given })).body;

describe("a template's design", () => {
  test("comes back unchanged; body and text part are made from it, lists leave it out", async () => {
    const made = await create();
    expect(made).toMatchObject({ design: input.design, template_mode: "visual", text_body: null, warnings: [] });
    expect(made.body).toMatch(/^<!doctype html>[\s\S]*<h1[^>]*>Hello \[\[first_name\]\]<\/h1>/i);
    const { body: read } = await company.api.get(`${PATH}${made.id}/`);
    expect(read.design).toEqual(input.design);
    const { results } = (await company.api.get(PATH, { query: { search: "June" } })).body;
    expect(results[0]).not.toHaveProperty("design");
    const shown = (await company.api.post(`${PATH}${made.id}/preview/`, { variables: { first_name: "<Ann>" } })).body;
    expect(shown.html).toContain("Hello &lt;Ann&gt;");
    expect(shown.text).toMatch(/^Hello <Ann>\n\n/);
    const unsaved = { ...input, variables: { first_name: "<Ann>" } };
    expect((await company.api.post(`${PATH}preview/`, unsaved)).body).toEqual(shown);
    const own = (await company.api.patch(`${PATH}${made.id}/`, { text_body: "Own text" })).body;
    expect(own).toMatchObject({ design: input.design, text_body: "Own text" });
    expect((await company.api.post(`${PATH}${made.id}/preview/`, {})).body.text).toMatch(/^Own text/);
  });

  test("is replaced by a new body, with a warning; the version before keeps it and can be restored", async () => {
    const { id, body: html } = await create();
    const path = `${PATH}${id}/`;
    // Editors that know no designs send all fields back.
    const same = (await company.api.patch(path, { subject: "New", body: html, template_mode: "visual" })).body;
    expect(same).toMatchObject({ subject: "New", design: input.design, warnings: [] });
    const changed = (await company.api.patch(path, { body: "<p>[[unsubscribe_url]]</p>" })).body;
    expect(changed).toMatchObject({ design: null, body: "<p>[[unsubscribe_url]]</p>", template_mode: "visual" });
    expect(changed.warnings[0]).toBe("The new body replaces the design. The version before this one keeps it.");
    expect((await company.api.get(`${path}versions/2/`)).body).toMatchObject({ design: input.design });
    expect((await company.api.get(`${path}versions/3/`)).body).toMatchObject({ design: null });
    const restored = (await company.api.post(`${path}versions/2/restore/`)).body;
    expect(restored).toMatchObject({ design: input.design, body: html, subject: "New" });
    expect((await company.api.patch(path, { design: null, body: "<p>Own</p>" })).body).toMatchObject({
      design: null,
      body: "<p>Own</p>",
    });
    const again = (await company.api.patch(path, { design: hello("Again") })).body;
    expect(again).toMatchObject({ design: hello("Again"), template_mode: "visual" });
    expect(again.body).toContain("Again");
    expect((await company.api.patch(path, { design: null })).body).toMatchObject({ design: null, body: again.body });
  });

  test.each([
    [
      { design: inColumn({ type: "heading", text: 5 }) },
      { design: ["blocks[0].columns[0].blocks[0].text: Not a valid string."] },
    ],
    [{ design: { version: 9, blocks: [] } }, { design: ["version: This version is not known."] }],
    [{ design: [] }, { design: ['Expected a dictionary of items but got type "list".'] }],
    [{ body: "<p>A</p>" }, { design: ["Give either design or body, not both."] }],
    [
      { template_mode: "mjml" },
      { template_mode: ["A template with a design is `visual`. Give a body, too, to replace the design."] },
    ],
    [
      { design: inColumn({ type: "saved", id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" }) },
      { design: ["blocks[0].columns[0].blocks[0].id: There is no such saved block."] },
    ],
    [
      { design: inColumn({ type: "text", content: { type: "doc", content: [{ type: "script" }] } }) },
      { design: ["blocks[0].columns[0].blocks[0].content.content[0].type: There is no such kind of block here."] },
    ],
  ])("a fault is a 400 that names the path: %j", async (given, errors) => {
    for (const path of [PATH, `${PATH}preview/`]) {
      const { status, body } = await company.api.post(path, { ...input, ...given });
      expect([status, body]).toEqual([400, errors]);
    }
  });

  test("is checked off the main thread where it is large, with the same sentences", async () => {
    const html = `<p>${"x".repeat(20_000)}</p>`;
    expect((await create({ design: inColumn({ type: "html", html }) })).body).toContain(html);
    const { status, body } = await company.api.post(PATH, {
      ...input,
      design: inColumn({ type: "html", html: `${html}[[#if a]]` }),
    });
    expect([status, body.design]).toEqual([
      400,
      [expect.stringMatching(/^blocks\[0\]\.columns\[0\]\.blocks\[0\]\.html: /)],
    ]);
  });
});

describe("a template's Markdown", () => {
  const markdown = "# Hello [[first_name]]\n\n[[#if city]]\nIn **[[city]]**\n[[/if]]\n\n[Leave]([[unsubscribe_url]])";
  const given = { name: "July", subject: "Hi", markdown };
  const make = async (more: object = {}) => (await company.api.post(PATH, { ...given, ...more })).body;

  test("comes back unchanged; body and text part are made from it, lists leave it out", async () => {
    const made = await make();
    expect(made).toMatchObject({ markdown, design: null, template_mode: "basic", text_body: null });
    expect(made.warnings).toEqual([
      "No subscriber has the variable [[city]]. It stays empty unless the send gives a value.",
    ]);
    expect(made.body).toMatch(
      /^<!doctype html>[\s\S]*<h1 style="[^"]*font-family: ?Arial[^"]*">Hello \[\[first_name\]\]<\/h1>/i,
    );
    expect((await company.api.get(`${PATH}${made.id}/`)).body.markdown).toBe(markdown);
    const { results } = (await company.api.get(PATH, { query: { search: "July" } })).body;
    expect(results[0]).not.toHaveProperty("markdown");
    const variables = { first_name: "<Ann>", city: "Rome" };
    const shown = (await company.api.post(`${PATH}${made.id}/preview/`, { variables })).body;
    expect(shown.html).toMatch(/Hello &lt;Ann&gt;[\s\S]*<strong>Rome<\/strong>/);
    expect(shown.text).toMatch(/^# Hello <Ann>\n\nIn \*\*Rome\*\*\n/);
    expect((await company.api.post(`${PATH}preview/`, { ...given, variables })).body).toEqual(shown);
    // The frame's own tables get no lines.
    expect(made.body.match(/border-bottom:/g)).toBeNull();
    const html = await make({ markdown: "Hi <b>there</b>" });
    expect((await company.api.post(`${PATH}${html.id}/preview/`, {})).body.text).toMatch(/^Hi there/);
  });

  test("is replaced by a body or a design, with a warning; a version restores it, and null keeps the body", async () => {
    const { id, body: html } = await make();
    const path = `${PATH}${id}/`;
    expect((await company.api.patch(path, { subject: "New", body: html })).body).toMatchObject({
      subject: "New",
      markdown,
    });
    const replaced = (await company.api.patch(path, { body: "<p>[[unsubscribe_url]]</p>" })).body;
    expect(replaced).toMatchObject({ markdown: null, body: "<p>[[unsubscribe_url]]</p>", template_mode: "basic" });
    expect(replaced.warnings[0]).toBe("The new body replaces the Markdown. The version before this one keeps it.");
    expect((await company.api.get(`${path}versions/2/`)).body).toMatchObject({ markdown, body: html });
    expect((await company.api.get(`${path}versions/3/`)).body).toMatchObject({ markdown: null });
    expect((await company.api.post(`${path}versions/2/restore/`)).body).toMatchObject({ markdown, body: html });
    const design = (await company.api.patch(path, { design: hello() })).body;
    expect(design).toMatchObject({ markdown: null, design: hello(), template_mode: "visual" });
    expect(design.warnings[0]).toBe("The new design replaces the Markdown. The version before this one keeps it.");
    const back = (await company.api.patch(path, { markdown: "Again" })).body;
    expect(back).toMatchObject({ markdown: "Again", design: null, template_mode: "basic" });
    expect(back.warnings[0]).toBe("The new Markdown replaces the design. The version before this one keeps it.");
    expect((await company.api.patch(path, { markdown: null })).body).toMatchObject({ markdown: null, body: back.body });
  });

  test.each([
    [{ body: "<p>A</p>" }, { markdown: ["Give either markdown or body, not both."] }],
    [{ design: hello() }, { markdown: ["Give either markdown or design, not both."] }],
    [
      { template_mode: "mjml" },
      { template_mode: ["A template with Markdown is `basic`. Give a body, too, to replace the Markdown."] },
    ],
    [{ markdown: "Hello\n\n[[#if x]]" }, { markdown: [expect.stringContaining("at line 3, column 1.")] }],
    [{ markdown: 5 }, { markdown: ["Not a valid string."] }],
    [{ markdown: ">".repeat(600) }, { markdown: [expect.stringMatching(/nested deeper than 500 levels\.$/)] }],
  ])("a fault is a 400 with its place in the Markdown: %#", async (more, errors) => {
    for (const path of [PATH, `${PATH}preview/`]) {
      const { status, body } = await company.api.post(path, { ...given, ...more });
      expect([status, body]).toEqual([400, errors]);
    }
  });
});

test.each([
  ["Markdown", { markdown: "# Hello [[first_name]]" }, { markdown: "# Bye" }],
  ["a design", { design: hello() }, { design: inColumn({ type: "heading", text: "Bye" }) }],
])(
  "a template with %s accepts its own unchanged body back, and a changed source replaces that body",
  async (_, source, other) => {
    const path = `${PATH}${(await company.api.post(PATH, { name: "Trip", subject: "Hi", ...source })).body.id}/`;
    const read = (await company.api.get(path)).body;
    const kept = await company.api.patch(path, { ...read, name: "Round trip" });
    expect(kept).toMatchObject({ status: 200, body: { ...source, name: "Round trip", body: read.body } });
    const changed = await company.api.patch(path, { ...read, ...other });
    expect(changed).toMatchObject({ status: 200, body: { ...other, body: expect.stringContaining("Bye") } });
    expect((await company.api.patch(path, { ...read, body: "<p>Other</p>" })).status).toBe(400);
  },
);

test("any design comes back unchanged, also from a version, and from a restored version and its copy", async () => {
  const own = await newCompany(app, { plan: "unlimited" });
  await fc.assert(
    fc.asyncProperty(designs, async (design) => {
      const made = await own.api.post(PATH, { ...input, design });
      expect([made.status, made.body.design]).toEqual([201, design]);
      const path = `${PATH}${made.body.id}/`;
      const { body: read } = await own.api.get(path);
      expect(read.design).toEqual(design);
      expect((await own.api.patch(path, { body: "<p>HTML</p>" })).body.design).toBeNull();
      expect((await own.api.get(`${path}versions/1/`)).body.design).toEqual(design);
      const restored = (await own.api.post(`${path}versions/1/restore/`)).body;
      expect(restored).toMatchObject({ design, body: read.body });
      const copy = await own.api.post(PATH, { ...input, design: restored.design });
      expect([copy.body.design, copy.body.body]).toEqual([design, read.body]);
    }),
    { numRuns: 12, interruptAfterTimeLimit: 8_000, markInterruptAsFailure: false },
  );
}, 30_000);

test("a design is checked like a body, and each link names its place in the tree", async () => {
  const check = (given: object) => company.api.post(`${PATH}check/`, { subject: "Hi", ...given });
  const design = inColumn(
    { type: "button", text: "Shop", href: "https://shop.invalid/books" },
    { type: "html", html: '<p><a href="https://shop.invalid/tea">Tea</a> [[fist_name]]</p>' },
  );
  const { status, body } = await check({ design });
  expect([status, body.links]).toEqual([
    200,
    [
      expect.objectContaining({ url: "https://shop.invalid/books", path: "blocks[0].columns[0].blocks[0].href" }),
      expect.objectContaining({ url: "https://shop.invalid/tea", path: "blocks[0].columns[0].blocks[1].html" }),
    ],
  ]);
  expect(body.warnings).toEqual((await create({ subject: "Hi", design })).warnings);
  expect(body.warnings).toContainEqual(expect.stringContaining("[[fist_name]]"));
  const findings = body.findings as { kind: string; rule: string; path: string | null; clients: string[] }[];
  const at = (rule: string) => findings.filter((one) => one.rule === rule).map(({ path }) => path);
  expect(at("language")).toEqual([null]);
  const faulty = inColumn(
    { type: "heading", text: "Pale", color: "#eeeeee" },
    { type: "html", html: "<video src='a.mp4'></video>" },
    { type: "button", text: "Here", href: "http://127.0.0.1:1/" },
  );
  const whole = (await check({ design: faulty })).body;
  const inBlock = (no: number) => `blocks[0].columns[0].blocks[${no}]`;
  expect(whole.findings).toMatchObject([
    { kind: "link", rule: "link", severity: "error", path: inBlock(2) },
    { kind: "accessibility", rule: "contrast", severity: "error", path: inBlock(0), clients: [] },
    { kind: "support", rule: "<video>", path: inBlock(1), clients: expect.arrayContaining(["gmail", "outlook"]) },
    { rule: "language" },
    { rule: "link-text", severity: "warning", path: inBlock(2) },
  ]);
  const quick = (await check({ design: faulty, quick: true })).body;
  expect(quick).toMatchObject({ links: [], spam: null, findings: whole.findings.slice(1) });
  expect((await check({ body: '<img src="https://a.example/a.png">', quick: true })).body.findings).toMatchObject([
    { rule: "alt", path: null },
  ]);
  const long = (await check({ body: `<p lang="en">${"a ".repeat(60_000)}[[unsubscribe_url]]</p>`, quick: true })).body;
  expect(JSON.stringify(long).match(/Gmail shows the first 102 KB/g)).toHaveLength(1);
  expect((await check({ design: inColumn({ type: "heading", text: 5 }) })).body).toEqual({
    design: ["blocks[0].columns[0].blocks[0].text: Not a valid string."],
  });
  expect((await check({ design, body: "<p>A</p>" })).status).toBe(400);
  expect((await check({})).body).toEqual({ body: ["Give body, design or markdown."] });
  const markdown = await check({ markdown: "# Tea\n\n[Green](https://shop.invalid/tea) [[fist_name]]", quick: true });
  expect(markdown).toMatchObject({ status: 200, body: { findings: [{ rule: "language" }] } });
  expect(markdown.body.warnings).toContainEqual(expect.stringContaining("[[fist_name]]"));
  expect((await check({ markdown: "[[#if x]]" })).body).toEqual({ markdown: [expect.any(String)] });
  expect((await check({ markdown: "A", body: "<p>A</p>" })).status).toBe(400);
});

test("updating designs gives those a new version whose mail the branding changes, and names those that cannot be made", async () => {
  const own = await newCompany(app);
  const make = async (given: object) => (await own.api.post(PATH, { ...input, ...given })).body;
  const logo = await make({ design: inColumn({ type: "header" }) });
  const plain = await make({ design: inColumn({ type: "divider", color: "#123456" }), text_body: "T" });
  const markdown = await make({ design: undefined, markdown: "# Hello\n\n[Leave]([[unsubscribe_url]])" });
  const broken = await make({ name: "Broken" });
  await query("update templates set design = jsonb_set(design, '{version}', '9') where id = $1", [broken.id]);
  const people = client(app, { token: own.token });
  const branding = { name: "Lantern & Co", color: "#7a1f3d", heading_font: "georgia", button_radius: 0 };
  expect((await people.patch(`/api/companies/${own.id}/`, { branding })).status).toBe(200);
  const update = async () => (await own.api.post(`${PATH}update-designs/`, {})).body;
  const failed = [{ id: broken.id, name: "Broken", errors: ["version: This version is not known."] }];
  expect(await update()).toEqual({ updated: 2, unchanged: 1, failed });
  expect(await update()).toEqual({ updated: 0, unchanged: 3, failed });
  const { body } = await own.api.get(`${PATH}${logo.id}/`);
  expect(body.body).toContain("Lantern &amp; Co");
  expect(body.body).toMatch(/Georgia[^"]*[^>]*color:#7a1f3d/);
  expect((await own.api.get(`${PATH}${markdown.id}/`)).body.body).toMatch(/<h1 style="[^"]*Georgia/);
  const versions = async (id: string) => (await own.api.get(`${PATH}${id}/versions/`)).body.length;
  expect([await versions(logo.id), await versions(plain.id)]).toEqual([2, 1]);
});

test("a saved block changes wherever it stands; one in use is deleted only with copies in its place", async () => {
  const own = await newCompany(app);
  const SAVED = "/api/emails/saved-blocks/";
  const heading = (text: string) => [{ type: "heading", text }];
  const made = await own.api.post(SAVED, { name: " Hello ", blocks: heading("One") });
  expect([made.status, made.body]).toMatchObject([201, { name: "Hello", blocks: heading("One") }]);
  const { id } = made.body;
  const design = inColumn({ type: "if", variable: "vip", blocks: [{ type: "saved", id: id.toUpperCase() }] });
  const template = (await own.api.post(PATH, { ...input, design })).body;
  expect(template.body).toContain("One");
  const refused = [
    { blocks: [{ type: "saved", id }] },
    { blocks: [{ type: "heading", text: 5 }] },
    { blocks: inColumn({ type: "saved", id }).blocks },
  ];
  const errors = await Promise.all(refused.map(async (given) => (await own.api.patch(`${SAVED}${id}/`, given)).body));
  expect(errors).toEqual([
    { blocks: ["blocks[0]: A saved block cannot contain another one."] },
    { blocks: ["blocks[0].text: Not a valid string."] },
    { blocks: ["blocks[0].columns[0].blocks[0]: A saved block cannot contain another one."] },
  ]);
  const changed = (await own.api.patch(`${SAVED}${id}/`, { blocks: heading("Two") })).body;
  expect(changed).toMatchObject({ name: "Hello", templates: { updated: 1, unchanged: 0, failed: [] } });
  const read = async () => (await own.api.get(`${PATH}${template.id}/`)).body;
  expect(await read()).toMatchObject({ design, body: expect.stringContaining("Two") });
  const alone = { version: 1, blocks: [{ type: "saved", id }] };
  expect((await own.api.post(PATH, { ...input, design: alone })).body).toEqual({
    design: ["blocks[0].id: This saved block has no section, so it must be in a column."],
  });
  const other = await newCompany(app);
  expect((await other.api.post(PATH, { ...input, design })).status).toBe(400);
  const kept = await own.api.delete(`${SAVED}${id}/`);
  expect([kept.status, kept.body.detail]).toEqual([
    409,
    'Templates use this block: "June". With `detach=true` they keep a copy.',
  ]);
  expect((await own.api.delete(`${SAVED}${id}/`, { query: { detach: "true" } })).status).toBe(204);
  expect((await read()).design).toEqual(inColumn({ type: "if", variable: "vip", blocks: heading("Two") }));
  expect((await own.api.get(`${SAVED}${id}/`)).status).toBe(404);
});
