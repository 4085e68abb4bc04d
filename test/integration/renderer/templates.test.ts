import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/templates/";

let app: App;
let company: TestCompany;
let other: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "renderer"] });
  [company, other] = [await newCompany(app), await newCompany(app)];
});
afterAll(() => app.stop());

const input = { name: "June", subject: "Hi [[first_name]]", body: "<p>[[#if x]]y[[/if]]</p>" };
const NO_UNSUBSCRIBE = "No visible way to unsubscribe: a footer with [[unsubscribe_url]] is added to each mail.";
const LINK = '<a href="[[unsubscribe_url]]">Unsubscribe</a>';
const create = async (given: object = {}) => (await company.api.post(PATH, { ...input, ...given })).body;

describe("templates", () => {
  test("are created with defaults and read back", async () => {
    const { status, body } = await company.api.post(PATH, { name: "June", subject: "Hi" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "June",
      subject: "Hi",
      body: "",
      preheader: null,
      text_body: null,
      inline_css: false,
      template_mode: "basic",
      template_type: "marketing",
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      warnings: [NO_UNSUBSCRIBE],
    });
    const { warnings: _, ...template } = body;
    expect((await company.api.get(`${PATH}${body.id}/`)).body).toEqual(template);
  });

  test("are changed field by field; null and read-only fields are ignored", async () => {
    const made = await create();
    const { status, body } = await company.api.patch(`${PATH}${made.id}/`, {
      body: "new",
      template_mode: "visual",
      id: newId(),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...made,
      warnings: [NO_UNSUBSCRIBE],
      body: "new",
      template_mode: "visual",
      updated_at: expect.any(String),
    });
    expect((await company.api.patch(`${PATH}${made.id}/`, {})).body).toEqual(body);
    expect((await company.api.patch(`${PATH}${made.id}/`, { body: "" })).body.body).toBe("");
  });

  test("saving and preview warn of variables that nobody has", async () => {
    await query("insert into subscribers (company_id, email, attributes) values ($1, 'a@b.example', $2)", [
      company.id,
      { city: "Liège", "a.b": 1, order: "x" },
    ]);
    const body = `<p>[[fist_name]] [[city]] [[order.no]] [[a.b]] [[company.name]] [[#each items]][[this.x]] [[nick|default:x]][[/each]]</p>${LINK}`;
    const made = await create({ subject: "Hi [[email]] [[ctiy]]", body });
    const unknown = (name: string, meant?: string) =>
      `No subscriber has the variable [[${name}]].${meant ? ` Did you mean [[${meant}]]?` : " Only receivers of a send that bring it have it."}`;
    const all = [unknown("ctiy", "city"), unknown("fist_name", "first_name"), unknown("items"), unknown("nick")];
    expect(made.warnings).toEqual(all);
    const changed = await company.api.patch(`${PATH}${made.id}/`, { subject: "Hi" });
    expect(changed.body.warnings).toEqual(all.slice(1));
    const shown = await company.api.post(`${PATH}${made.id}/preview/`, { variables: { items: [1], nick: "N" } });
    expect(shown.body.warnings).toEqual([all[1]]);
    expect((await create({ subject: "Hi", body: LINK })).warnings).toEqual([]);
  });

  test("saving and preview warn of a large mail and of a missing way to unsubscribe, but of none in a receipt", async () => {
    const large = await create({ body: `<!-- ${LINK} --><p>${"x".repeat(105_000)}</p>` });
    expect(large.warnings).toEqual([expect.stringMatching(/^The HTML has 103 KB\. Gmail/), NO_UNSUBSCRIBE]);
    const shown = await company.api.post(`${PATH}${large.id}/preview/`, {});
    expect(shown.body.warnings).toEqual(large.warnings.map((text: string) => text.replace("103", "104")));
    const hidden = await create({ body: `[[#if x]]${LINK}[[/if]]`, template_type: "transactional", subject: "Hi" });
    expect(hidden.warnings.filter((text: string) => text === NO_UNSUBSCRIBE)).toEqual([]);
  });

  test("are deleted for good", async () => {
    const { id } = await create();
    expect((await company.api.delete(`${PATH}${id}/`)).status).toBe(204);
    for (const answer of [await company.api.get(`${PATH}${id}/`), await company.api.delete(`${PATH}${id}/`)]) {
      expect(answer.status).toBe(404);
    }
  });

  test("are listed newest first, searched, ordered and filtered", async () => {
    const lister = await newCompany(app);
    for (const [name, template_type] of [
      ["b", "marketing"],
      ["a", "transactional"],
      ["c", "marketing"],
    ]) {
      await lister.api.post(PATH, { name, subject: `Subject of ${name}`, template_type });
    }
    const names = async (query: Record<string, string | number>) =>
      (await lister.api.get(PATH, { query })).body.results.map((template: { name: string }) => template.name);
    expect(await names({})).toEqual(["c", "a", "b"]);
    expect(await names({ ordering: "name" })).toEqual(["a", "b", "c"]);
    expect(await names({ ordering: "-name", page_size: 2 })).toEqual(["c", "b"]);
    expect(await names({ search: "OF A" })).toEqual(["a"]);
    expect(await names({ template_type: "transactional" })).toEqual(["a"]);
    expect((await lister.api.get(PATH, { query: { ordering: "body" } })).status).toBe(400);
  });

  test("of another company do not exist", async () => {
    const { id } = await create();
    const path = `${PATH}${id}/`;
    const answers = [
      await other.api.get(path),
      await other.api.patch(path, { name: "stolen" }),
      await other.api.delete(path),
      await other.api.post(`${path}preview/`, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await company.api.get(path)).body.name).toBe("June");
  });
});

describe("errors of a template", () => {
  test("are all reported at once", async () => {
    const { status, body } = await company.api.post(PATH, {
      subject: "[[",
      body: "a\n [[/if]]",
      template_mode: "x",
      template_type: "y",
    });
    expect(status).toBe(400);
    expect(body).toEqual({
      name: ["This field is required."],
      subject: ["[[ is never closed at line 1, column 1."],
      body: ["[[/if]] has no beginning at line 2, column 2."],
      template_mode: ['"x" is not a valid choice.'],
      template_type: ['"y" is not a valid choice.'],
    });
  });

  test.each([
    ["name", "", "This field may not be blank."],
    ["name", "x".repeat(256), "Ensure this field has no more than 255 characters."],
    ["subject", "  ", "This field may not be blank."],
    ["subject", "a\r\nBcc: x@y.example", "Line breaks and control characters are not allowed."],
    ["subject", null, "This field may not be null."],
    ["subject", "x".repeat(999), "Ensure this field has no more than 998 characters."],
    ["body", 5, "Not a valid string."],
    ["body", "x".repeat(1_000_001), "Ensure this field has no more than 1000000 characters."],
    ["body", "[[#each x]]", "[[#each …]] is never closed at line 1, column 1."],
  ])("%s %j", async (field, value, sentence) => {
    const { id } = await create();
    for (const answer of [
      await company.api.post(PATH, { ...input, [field]: value }),
      await company.api.patch(`${PATH}${id}/`, { [field]: value }),
    ]) {
      expect({ status: answer.status, errors: answer.body[field] }).toMatchObject({
        status: 400,
        errors: expect.arrayContaining([sentence]),
      });
    }
  });
});

describe("preview", () => {
  const preview = (id: string, variables?: unknown) =>
    company.api.post(`${PATH}${id}/preview/`, variables === undefined ? {} : { variables });

  test("shows what a recipient with these variables gets, untracked", async () => {
    const body =
      '<p>[[first_name]] &amp; [[#each items]]<a href="https://example.com/[[this]]">[[this]]</a>[[/each]]</p>[[[raw]]]';
    const { id } = await create({ body, template_type: "transactional" });
    const answer = await preview(id, { first_name: "<Ann>", items: ["a", "b"], raw: "<i>r</i>" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      subject: "Hi <Ann>",
      html: '<p>&lt;Ann&gt; &amp; <a href="https://example.com/a">a</a><a href="https://example.com/b">b</a></p><i>r</i>',
      text: "<Ann> & a (https://example.com/a)b (https://example.com/b)\n\nr",
      warnings: [],
    });
  });

  test("of a marketing template shows the footer that its mails get", async () => {
    const { body } = await preview((await create()).id);
    expect(body).toMatchObject({
      subject: "Hi",
      html: expect.stringMatching(/unsubscribe/),
      text: expect.stringMatching(/Unsubscribe/),
    });
  });

  test("has a sample address, or the given one", async () => {
    const { id } = await create({ body: "[[email]]", template_type: "transactional" });
    expect((await preview(id)).body.html).toBe("subscriber@example.com");
    expect((await preview(id, { email: "ann@example.com" })).body.html).toBe("ann@example.com");
  });

  test("that would grow without limit is refused", async () => {
    const depth = 6;
    const { id } = await create({ body: `${"[[#each x]]".repeat(depth)}y${"[[/each]]".repeat(depth)}` });
    const answer = await preview(id, { x: Array.from({ length: 100 }, (_, i) => i) });
    expect(answer).toMatchObject({
      status: 400,
      body: { variables: [expect.stringMatching(/more than 500000 steps/)] },
    });
  });

  test("refuses variables that are no object", async () => {
    expect((await preview((await create()).id, "text")).body).toEqual({
      variables: ['Expected a dictionary of items but got type "str".'],
    });
  });

  test("of 10,000 tags are previewed: no step takes them as the arguments of one call", async () => {
    const { id } = await create({ subject: "Hi", body: "[[[first_name]]]".repeat(10_000) });
    const { status, body } = await company.api.post(`${PATH}${id}/preview/`, { variables: { first_name: "a" } });
    expect([status, body.html?.replace(/<[^>]*>|\s/g, "").startsWith("a".repeat(10_000))]).toEqual([200, true]);
  });
});
