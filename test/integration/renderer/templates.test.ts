import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { checkLinks } from "../../../services/renderer/check/check-links.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

const PATH = "/api/emails/templates/";

let app: App;
let company: TestCompany;
let other: TestCompany;
let filter: WebServer;
beforeAll(async () => {
  filter = await startWebServer();
  app = await startApp({
    services: ["gateway", "accounts", "renderer"],
    env: { ALLOW_PRIVATE_NETWORKS: "false", ALLOWED_PRIVATE_HOSTS: "127.0.0.1", SPAM_CHECK_URL: filter.url },
  });
  [company, other] = [await newCompany(app), await newCompany(app)];
});
afterAll(async () => {
  await app.stop();
  await filter.stop();
});

const input = { name: "June", subject: "Hi [[first_name]]", body: "<p>[[#if x]]y[[/if]]</p>" };
const NO_UNSUBSCRIBE = "No visible unsubscribe link: a footer with [[unsubscribe_url]] is added to each mail.";
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
      design: null,
      markdown: null,
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

  test("cause a warning about variables that nobody has, when saved and previewed", async () => {
    await query(
      "insert into subscribers (company_id, email, first_name, attributes) values ($1, 'a@b.example', 'Ann', $2)",
      [company.id, { city: "Liège", "a.b": 1, order: { no: 7 } }],
    );
    const body = `<p>[[fist_name]] [[city]] [[order.no]] [[a.b]] [[company.name]] [[#each items]][[this.x]] [[nick|default:x]][[/each]]</p>${LINK}`;
    const made = await create({ subject: "Hi [[email]] [[ctiy]]", body });
    const unknown = (name: string, meant?: string) =>
      `No subscriber has the variable [[${name}]].${meant ? ` Did you mean [[${meant}]]?` : " It stays empty unless the send gives a value."}`;
    const all = [unknown("ctiy", "city"), unknown("fist_name", "first_name"), unknown("items"), unknown("nick")];
    expect(made.warnings).toEqual(all);
    const changed = await company.api.patch(`${PATH}${made.id}/`, { subject: "Hi" });
    expect(changed.body.warnings).toEqual(all.slice(1));
    const shown = await company.api.post(`${PATH}${made.id}/preview/`, { variables: { items: [1], nick: "N" } });
    expect(shown.body.warnings).toEqual([all[1]]);
    expect((await create({ subject: "Hi", body: LINK })).warnings).toEqual([]);
    const otherCase = await create({ subject: "Hi [[EMAIL]]", body: `[[City|default:x]]${LINK.toUpperCase()}` });
    expect(otherCase.warnings).toEqual([]);
  });

  test("cause a warning if large or without a way to unsubscribe, but not in a receipt", async () => {
    const large = await create({ body: `<!-- ${LINK} --><p>${"x".repeat(105_000)}</p>` });
    expect(large.warnings).toEqual([expect.stringMatching(/^The HTML has 103 KB\. Gmail/), NO_UNSUBSCRIBE]);
    const shown = await company.api.post(`${PATH}${large.id}/preview/`, {});
    expect(shown.body.warnings).toEqual(large.warnings.map((text: string) => text.replace("103", "104")));
    const hidden = await create({ body: `[[#if x]]${LINK}[[/if]]`, template_type: "transactional", subject: "Hi" });
    expect(hidden.warnings.filter((text: string) => text === NO_UNSUBSCRIBE)).toEqual([]);
  });

  describe("cause a warning when saved, previewed and checked", () => {
    /** Summary of all four, which agree. */
    async function warningsOf(subject: string, body: string, more: object = {}): Promise<string[]> {
      const given = { subject, body: body + LINK, ...more };
      const made = await create(given);
      const [shown, unsaved, checked] = [
        await company.api.post(`${PATH}${made.id}/preview/`, {}),
        await company.api.post(`${PATH}preview/`, given),
        await company.api.post(`${PATH}check/`, { subject, body: body + LINK }),
      ];
      expect([shown.body.warnings, unsaved.body.warnings]).toEqual([made.warnings, made.warnings]);
      if (Object.keys(more).length === 0) expect(checked.body.warnings).toEqual(made.warnings);
      return made.warnings;
    }

    test("about placeholders of other products", async () => {
      const told = (text: string, ours: string) =>
        expect.stringMatching(
          new RegExp(
            `^"${text.replace(/[^\w ]/g, "\\$&")}" is a placeholder of .*Use ${ours.replace(/[^\w ]/g, "\\$&")} instead\\.$`,
          ),
        );
      expect(
        await warningsOf(
          "Hi *|FNAME|*",
          "<p>{{ .Subscriber.FirstName }} {{first_name}} [First name] ${name} %recipient.city%</p>",
        ),
      ).toEqual([
        told("*|FNAME|*", "[[first_name]]"),
        told("{{ .Subscriber.FirstName }}", "[[first_name]]"),
        told("{{first_name}}", "[[first_name]]"),
        told("${name}", "[[first_name]] [[last_name]]"),
        told("%recipient.city%", "[[city]]"),
        told("[First name]", "[[first_name]]"),
      ]);
      expect(
        await warningsOf("Hi", "<p>x</p>", { text_body: "*|X|* [[unsubscribe_url]]", preheader: "%FIRSTNAME%" }),
      ).toHaveLength(2);
    });

    test("about MJML that would be sent as HTML", async () => {
      expect(await warningsOf("Hi", "<mjml><mj-body></mj-body></mjml>")).toEqual([
        expect.stringMatching(/MJML.*template_mode/),
      ]);
    });

    test("about broken URLs, with the intended ones", async () => {
      const html =
        '<a href="www.shop.example.com">x</a><area href="htps://shop.example.com/"><img src="//img.example.com/a.png"><a href="page.html">y</a>';
      expect(await warningsOf("Hi", html)).toEqual([
        'The address "www.shop.example.com" does not open from an email. Use "https://www.shop.example.com" instead.',
        'The address "htps://shop.example.com/" does not open from an email. Use "https://shop.example.com/" instead.',
        'The address "//img.example.com/a.png" does not open from an email. Use "https://img.example.com/a.png" instead.',
        'The address "page.html" does not open from an email. Use the full address, starting with https://.',
      ]);
    });

    test("about a plain-text body, which is stored as it is", async () => {
      const body = "Hello\n\n- a\n- b\n[[unsubscribe_url]]";
      const made = await create({ subject: "Hi", body });
      expect(made).toMatchObject({ body, warnings: [expect.stringMatching(/no HTML tags/)] });
      expect((await create({ subject: "Hi", body: `Hello${LINK}` })).warnings).toEqual([]);
    });

    test("about people without a value, with their number, if the email would have a gap", async () => {
      await query(
        `insert into subscribers (company_id, email, first_name, status, attributes)
         select $1, n || '@gap.example', case when n < 3 then 'Bo' else '' end, case when n = 9 then 'unsubscribed' else 'active' end,
           case when n = 1 then '{"town": "Rome", "tags": ["a"]}' when n = 2 then '{"town": "", "tags": []}' else '{}' end::jsonb
         from generate_series(1, 9) n`,
        [company.id],
      );
      const gap = (people: string, name: string) =>
        expect.stringMatching(new RegExp(`^${people} no \\[\\[${name}\\]\\].*\\[\\[${name}\\|default:`));
      expect(await warningsOf("Hi [[first_name]]", "<p>[[town]] [[#each tags]][[this]][[/each]]</p>")).toEqual([
        gap("6 people have", "first_name"),
        gap("8 people have", "town"),
      ]);
      const guarded =
        "<p>[[first_name|default:there]] [[#if first_name]][[first_name]][[#else]]you[[/if]] [[email]] [[company.name]]</p>";
      expect(await warningsOf("Hi", guarded)).toEqual([]);
      expect(await warningsOf("Hi", "[[First_Name]] [[TOWN]]")).toEqual([
        gap("6 people have", "First_Name"),
        gap("8 people have", "TOWN"),
      ]);
      expect(await warningsOf("Hi", "[[#if town]][[first_name]][[/if]]")).toEqual([gap("6 people have", "first_name")]);
      expect((await create({ template_type: "transactional" })).warnings.join()).not.toContain("first_name");
      await query("delete from subscribers where company_id = $1 and email like '%@gap.example'", [company.id]);
    });
  });

  test("have a preview of unsaved content that equals the saved template's, including MJML and inlined styles", async () => {
    const given = {
      subject: "Hi [[first_name]]",
      body: "<mjml><mj-body><mj-section><mj-column><mj-text>Hello [[nick]]</mj-text></mj-column></mj-section></mj-body></mjml>",
      preheader: "For [[nick]]",
      text_body: "Hello [[nick]], in plain text",
      template_mode: "mjml",
    };
    const variables = { first_name: "Ann", nick: "A" };
    const before = (await company.api.get(PATH)).body.count;
    const shown = await company.api.post(`${PATH}preview/`, { ...given, variables });
    expect(shown.status).toBe(200);
    expect((await company.api.get(PATH)).body.count).toBe(before);
    expect(shown.body).toMatchObject({ subject: "Hi Ann", text: expect.stringContaining("Hello A, in plain text") });
    expect(shown.body.html).toContain("For A");
    const { id } = await create(given);
    expect((await company.api.post(`${PATH}${id}/preview/`, { variables })).body).toEqual(shown.body);
    const styled = { subject: "Hi", body: "<style>p{color:red}</style><p>x</p>", inline_css: true };
    expect((await company.api.post(`${PATH}preview/`, styled)).body.html).toMatch(/<p style="color: ?red;?">x/);
    const wrong = { ...given, subject: "[[", body: "<mjml><mj-body>\n<mj-nonsense/></mj-body></mjml>" };
    expect(await company.api.post(`${PATH}preview/`, wrong)).toMatchObject({
      status: 400,
      body: { subject: [expect.stringContaining("line 1")], body: [expect.stringContaining("line 2, column 1")] },
    });
  });

  test("refuse a change if they were saved since they were read, and stay unchanged", async () => {
    const { id, updated_at } = await create();
    const save = (name: string, unchanged_since = updated_at) =>
      company.api.patch(`${PATH}${id}/`, { name, unchanged_since });
    const answers = await Promise.all([save("one"), save("two")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [first] = answers.filter(({ status }) => status === 200);
    expect((await company.api.get(`${PATH}${id}/`)).body.name).toBe(first!.body.name);
    expect((await company.api.get(`${PATH}${id}/versions/`)).body).toHaveLength(2);
    expect(await save("three", first!.body.updated_at)).toMatchObject({ status: 200, body: { name: "three" } });
    expect((await company.api.patch(`${PATH}${id}/`, { unchanged_since: "yesterday" })).status).toBe(400);
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

  test("are 404 for another company", async () => {
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

describe("versions of a template", () => {
  const PLAIN = { preheader: null, text_body: null, inline_css: false, design: null, markdown: null };

  const versions = async (id: string) => (await company.api.get(`${PATH}${id}/versions/`)).body;
  const numbers = async (id: string) => (await versions(id)).map(({ version }: { version: number }) => version);

  test("are created by each accepted save, newest first, with the person who saved", async () => {
    const owner = client(app, { token: company.token });
    const { id } = await create({ subject: "One", body: "1" });
    expect((await owner.patch(`${PATH}${id}/?company=${company.id}`, { subject: "Two" })).text).toContain("Two");
    await company.api.patch(`${PATH}${id}/`, { subject: "[[#if" });
    await company.api.patch(`${PATH}${id}/`, { subject: "Two" });
    const [key] = await query<{ id: string; name: string }>("select id, name from api_keys where company_id = $1", [
      company.id,
    ]);
    const byKey = { created_at: expect.stringMatching(/Z$/), created_by: { id: key!.id, name: key!.name } };
    const byOwner = { ...byKey, created_by: { id: company.userId, name: company.email } };
    expect(await versions(id)).toEqual([
      { version: 3, subject: "Two", ...byKey },
      { version: 2, subject: "Two", ...byOwner },
      { version: 1, subject: "One", ...byKey },
    ]);
    const one = await company.api.get(`${PATH}${id}/versions/1/`);
    expect([one.status, one.body]).toEqual([200, { version: 1, subject: "One", body: "1", ...PLAIN, ...byKey }]);
  });

  test("that are restored bring back all that was saved, and become the newest version", async () => {
    const first = await create({ name: "A", subject: "One", body: `1${LINK}`, template_type: "transactional" });
    const { id } = first;
    await company.api.patch(`${PATH}${id}/`, {
      name: "B",
      subject: "Two",
      body: "2",
      template_mode: "visual",
      template_type: "marketing",
    });
    const { status, body } = await company.api.post(`${PATH}${id}/versions/1/restore/`);
    expect([status, body]).toEqual([200, { ...first, updated_at: expect.any(String) }]);
    const { warnings: _, ...now } = body;
    expect((await company.api.get(`${PATH}${id}/`)).body).toEqual(now);
    expect(await numbers(id)).toEqual([3, 2, 1]);
    expect((await company.api.get(`${PATH}${id}/versions/3/`)).body).toMatchObject({
      subject: "One",
      body: `1${LINK}`,
    });
  });

  test("include each content column of a template", async () => {
    const { id } = await create();
    const columns = await query<{ column_name: string }>(
      "select column_name from information_schema.columns where table_name = 'templates'",
    );
    const [{ content }] = (await query("select content from template_versions where template_id = $1", [id])) as [
      { content: object },
    ];
    const own = ["id", "company_id", "created_at", "updated_at"];
    expect([...Object.keys(content), ...own].toSorted()).toEqual(columns.map((c) => c.column_name).toSorted());
    // A version stored before the last column existed.
    await query("update template_versions set content = content - 'template_mode' where template_id = $1", [id]);
    await company.api.patch(`${PATH}${id}/`, { template_mode: "visual" });
    expect(await numbers(id)).toEqual([2, 1]);
    const { body } = await company.api.post(`${PATH}${id}/versions/1/restore/`);
    expect(body.template_mode).toBe("basic");
  });

  test("have a number each when saved at the same time, and none is missing", async () => {
    const { id } = await create({ body: "0" });
    const saves = Array.from({ length: 12 }, (_, n) => company.api.patch(`${PATH}${id}/`, { body: `${n}` }));
    expect((await Promise.all(saves)).map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(await numbers(id)).toEqual(Array.from({ length: 13 }, (_, n) => 13 - n));
  });

  test("include the template as it was before versions existed, and as saved by another release", async () => {
    const { id, updated_at } = await create({ subject: "Old" });
    await query("delete from template_versions where template_id = $1", [id]);
    const old = { version: 1, subject: "Old", created_at: updated_at, created_by: null };
    expect(await versions(id)).toEqual([old]);
    expect((await company.api.get(`${PATH}${id}/versions/1/`)).body).toEqual({ ...old, ...PLAIN, body: input.body });
    await company.api.post(`${PATH}${id}/versions/1/restore/`);
    expect(await numbers(id)).toEqual([2, 1]);
    await query("update templates set subject = 'Elsewhere' where id = $1", [id]);
    await company.api.patch(`${PATH}${id}/`, { subject: "New" });
    expect((await versions(id)).map(({ subject }: { subject: string }) => subject)).toEqual([
      "New",
      "Elsewhere",
      "Old",
      "Old",
    ]);
  });

  test("are kept up to the newest hundred", async () => {
    const { id } = await create();
    await query(
      `insert into template_versions (company_id, template_id, version, content)
       select company_id, template_id, n, content from template_versions, generate_series(2, 100) n where template_id = $1`,
      [id],
    );
    await company.api.patch(`${PATH}${id}/`, { body: "x" });
    expect(await numbers(id)).toEqual(Array.from({ length: 100 }, (_, n) => 101 - n));
    expect((await company.api.post(`${PATH}${id}/versions/1/restore/`)).status).toBe(404);
  });

  test("are 404 if the template is missing or another company's", async () => {
    const { id } = await create();
    const unknown = [`${newId()}/versions/`, `${newId()}/versions/1/`, `${id}/versions/2/`, `${id}/versions/x/`];
    for (const path of [...unknown, `${id}/versions/0/`, `${id}/versions/99999999999/`]) {
      expect([path, (await company.api.get(PATH + path)).status]).toEqual([path, 404]);
    }
    for (const path of [`${id}/versions/`, `${id}/versions/1/`]) {
      expect((await other.api.get(PATH + path)).status).toBe(404);
    }
    expect((await other.api.post(`${PATH}${id}/versions/1/restore/`)).status).toBe(404);
    await company.api.delete(`${PATH}${id}/`);
    expect((await company.api.get(`${PATH}${id}/versions/`)).status).toBe(404);
    expect(await query("select from template_versions where template_id = $1", [id])).toEqual([]);
  });
});

describe("the check of a template", () => {
  const NO_VARIABLE = "No subscriber has the variable [[nobody]]. It stays empty unless the send gives a value.";
  const check = (body: string, subject = "Hi") => company.api.post(`${PATH}check/`, { subject, body });
  let web: WebServer;
  beforeAll(async () => {
    web = await startWebServer();
  });
  afterAll(() => web.stop());
  beforeEach(() => {
    for (const server of [web, filter]) server.reset();
    filter.answer = { body: JSON.stringify({ score: 4.5, symbols: { MANY_WORDS: { score: 4.5, description: "d" } } }) };
  });
  const link = (path: string) => `<a href="${web.url}${path}">x</a>`;

  test("returns the warnings of saving, the size and the spam score, and saves nothing", async () => {
    const count = (await company.api.get(PATH)).body.count;
    const { status, body } = await check("<p>Grüße, [[nobody]]</p>", "Ünsere [[email]]");
    expect([status, body]).toEqual([
      200,
      {
        warnings: [NO_VARIABLE, NO_UNSUBSCRIBE],
        size: 26,
        findings: [expect.objectContaining({ rule: "language", severity: "warning", path: null })],
        links: [],
        spam: { score: 4.5, symbols: { MANY_WORDS: { score: 4.5, description: "d" } } },
      },
    ]);
    expect((await company.api.get(PATH)).body.count).toBe(count);
    const [asked] = filter.asked;
    expect(asked).toMatchObject({ method: "POST", url: "/checkv2", headers: { rcpt: "subscriber@example.com" } });
    expect(asked!.body).toMatch(/^From: [\s\S]*List-Unsubscribe: [\s\S]*Content-Type: multipart\/alternative/);
  });

  test("returns null as score if the filter fails or returns none", async () => {
    for (const answer of [
      { status: 500, body: "" },
      { body: "{}" },
      { body: "<html>" },
      { body: "x".repeat(1_100_000) },
    ]) {
      filter.answer = answer;
      expect([answer.body.slice(0, 9), (await check("a")).body.spam]).toEqual([answer.body.slice(0, 9), null]);
    }
    filter.answer = { status: 302, headers: { location: `${web.url}/checkv2` } };
    expect((await check("a")).body.spam).toBeNull();
    expect(web.asked).toEqual([]);
  });

  test("requests each link once, with GET if HEAD fails, and follows five redirects", async () => {
    web.on = ({ method, url }) => {
      const [, hops] = /^\/hops\/(\d)/.exec(url) ?? [];
      if (hops) return { status: 302, headers: { location: hops === "1" ? "/ok" : `/hops/${Number(hops) - 1}` } };
      if (url === "/no-head") return { status: method === "HEAD" ? 405 : 200, body: "y".repeat(1_000_000) };
      return { status: url.startsWith("/ok") ? 200 : 404 };
    };
    const paths = ["/ok?a=1&amp;b=2#c", "/no-head", "/gone", "/hops/5", "/hops/6", "/ok?a=1&amp;b=2#c"];
    const others = '<a href="mailto:a@b.example">m</a><a href="#x">x</a><a href="[[unsubscribe_url]]">u</a>';
    const { body } = await check(`${paths.map(link).join("")}${others}${link("/[[nobody]]")}`);
    expect(body.links).toEqual([
      { url: `${web.url}/ok?a=1&b=2#c`, status: 200, ok: true, kind: "link" },
      { url: `${web.url}/no-head`, status: 200, ok: true, kind: "link" },
      { url: `${web.url}/gone`, status: 404, ok: false, kind: "link" },
      { url: `${web.url}/hops/5`, status: 200, ok: true, kind: "link" },
      { url: `${web.url}/hops/6`, status: 302, ok: false, kind: "link" },
    ]);
    const whole = web.asked.filter(({ url }) => url.startsWith("/ok?"));
    expect(whole.map(({ method, url }) => `${method} ${url}`)).toEqual(["HEAD /ok?a=1&b=2"]);
  });

  test("checks image maps, images and backgrounds, too, and names their kinds", async () => {
    web.on = ({ url }) => ({ status: url.startsWith("/ok") ? 200 : 404 });
    const { body } = await check(
      `<td background="${web.url}/ok.png" style="background:url('${web.url}/style.png')"><img src="${web.url}/gone.png" usemap="#m"><img src="${web.url}/[[email]].png"><img src="cid:x"><img src="data:image/png;base64,AA"><map name="m"><area href="${web.url}/ok?x=1&amp;y=2"><area href="mailto:a@b.example"></map><!--[if mso]><v:fill src="${web.url}/ok.gif"/><![endif]-->`,
    );
    const link = (path: string, status: number, kind: string) => ({
      url: web.url + path,
      status,
      ok: status === 200,
      kind,
    });
    expect(body.links).toEqual([
      link("/ok?x=1&y=2", 200, "link"),
      link("/ok.png", 200, "image"),
      link("/style.png", 404, "image"),
      link("/gone.png", 404, "image"),
      link("/ok.gif", 200, "image"),
    ]);
  });

  test("requests nothing on a private network, directly or behind a redirect", async () => {
    const hidden = await startWebServer("127.0.0.2");
    web.answer = { status: 302, headers: { location: hidden.url } };
    const { body } = await check(`<a href="${hidden.url}">1</a><a href="http://localhost/">2</a>${link("/away")}`);
    expect(body.links.map(({ status, ok }: { status: null; ok: boolean }) => [status, ok])).toEqual(
      Array(3).fill([null, false]),
    );
    web.answer = { status: 302, headers: { location: "file:///etc/passwd" } };
    expect((await check(link("/file"))).body.links[0]).toMatchObject({ status: 302, ok: false });
    expect(hidden.asked).toEqual([]);
    await hidden.stop();
  });

  test("gives no status for a server that does not answer, and is not delayed by it beyond the deadline", async () => {
    const ending = new AbortController();
    web.on = ({ url }) => {
      if (url !== "/silent") return {};
      ending.abort();
      return new Promise<never>(() => {});
    };
    const links = [`${web.url}/ok`, `${web.url}/silent`, `${web.url}/late`];
    const [, silent, ...others] = await checkLinks(company.id, links, ending.signal);
    expect([silent, others.length]).toEqual([{ url: links[1], status: null, ok: false }, 1]);
  });

  test("requests a hundred links at most", async () => {
    const { body } = await check(Array.from({ length: 120 }, (_, n) => link(`/${n}`)).join(""));
    expect(body.links).toHaveLength(100);
    expect(new Set(web.asked.filter(({ url }) => /^\/\d+$/.test(url)).map(({ url }) => url)).size).toBe(100);
  });

  test("refuses syntax errors like a save, and requests nothing", async () => {
    const { status, body } = await check(`${link("/")}[[#if x]]`, "[[");
    const saved = await company.api.post(PATH, { name: "x", subject: "[[", body: `${link("/")}[[#if x]]` });
    expect([status, body]).toEqual([400, saved.body]);
    expect((await company.api.post(`${PATH}check/`, { subject: "x" })).body).toHaveProperty("body");
    expect([...web.asked, ...filter.asked]).toEqual([]);
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

describe("MJML and styles", () => {
  const mjml = (content: string) =>
    `<mjml>\n<mj-body>\n<mj-section><mj-column>${content}</mj-column></mj-section></mj-body></mjml>`;
  const text = `<mj-text css-class="a">Hi [[first_name]] ${LINK}</mj-text>`;
  const storedHtml = async (id: string) =>
    (await query<{ html: string | null }>("select html from templates where id = $1", [id]))[0]!.html;
  const shown = async (id: string) =>
    (await company.api.post(`${PATH}${id}/preview/`, { variables: { first_name: "<Ann>" } })).body;

  test("an MJML template keeps its MJML, and is previewed as the resulting HTML", async () => {
    const made = await create({ template_mode: "mjml", body: mjml(text), preheader: "For [[first_name]]" });
    expect(made).toMatchObject({
      body: mjml(text),
      template_mode: "mjml",
      preheader: "For [[first_name]]",
      warnings: [],
    });
    const { html, text: plain } = await shown(made.id);
    expect(html).toMatch(
      /^<!doctype html>[\s\S]*<body[^>]*><div style="display:none[^>]*>For &lt;Ann&gt;[\s\S]*Hi &lt;Ann&gt;/,
    );
    expect(plain).toMatch(/^Hi <Ann> Unsubscribe/);
  });

  test("MJML errors name their line, even if only the mode changes", async () => {
    const answer = await company.api.post(PATH, {
      ...input,
      subject: "[[",
      template_mode: "mjml",
      body: mjml("<mj-txt/>"),
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { subject: [expect.any(String)], body: ["Unknown element <mj-txt> at line 3, column 24."] },
    });
    const { id } = await create();
    expect(await company.api.patch(`${PATH}${id}/`, { template_mode: "mjml" })).toMatchObject({
      status: 400,
      body: { body: ["An MJML template must start with <mjml> at line 1, column 1."] },
    });
    expect((await company.api.post(PATH, { ...input, preheader: "[[", text_body: "a\n[[/if]]" })).body).toEqual({
      preheader: [expect.stringMatching(/never closed/)],
      text_body: [expect.stringMatching(/line 2/)],
    });
  });

  test("mj-include never reads or fetches anything", async () => {
    for (const path of [
      "/etc/passwd",
      "../../../package.json",
      `http://127.0.0.1:${new URL(app.url).port}/openapi.json`,
    ]) {
      const given = { ...input, template_mode: "mjml", body: mjml(`<mj-include path="${path}" type="html" />`) };
      const { status, body } = await company.api.post(PATH, given);
      expect({ status, body }).toEqual({
        status: 400,
        body: { body: [expect.stringMatching(/is not supported.*line 3/)] },
      });
    }
  });

  test("MJML whose HTML is over 102 KB causes a warning, and over a million characters it is refused", async () => {
    const many = (count: number) => mjml(`<mj-text>x ${LINK}</mj-text>`.repeat(count));
    expect((await create({ template_mode: "mjml", body: many(400) })).warnings).toEqual([
      expect.stringMatching(/^The HTML has 1\d\d KB\. Gmail/),
    ]);
    const answer = await company.api.post(PATH, { ...input, template_mode: "mjml", body: many(4_000) });
    expect(answer).toMatchObject({
      status: 400,
      body: { body: ["The resulting HTML is longer than 1000000 characters."] },
    });
  });

  test("inline_css inlines styles, follows each change, and is undone when switched off", async () => {
    const body = `<style>.a{color:red} @media print{.a{color:blue}}</style><p class="a">x ${LINK}</p>`;
    const inlined = '<p style="color: red;" class="a">';
    const { id, ...made } = await create({ body, inline_css: true });
    expect(made).toMatchObject({ body, inline_css: true });
    expect((await shown(id)).html).toMatch(
      /^<style>\n@media print\{.a\{color:blue\}\}\n<\/style><p style="color: red;" class="a">/,
    );
    await company.api.patch(`${PATH}${id}/`, { body: body.replace("red", "green") });
    expect((await shown(id)).html).toContain(inlined.replace("red", "green"));
    await company.api.patch(`${PATH}${id}/`, { name: "N" });
    expect(await storedHtml(id)).toContain("color: green;");
    await company.api.patch(`${PATH}${id}/`, { inline_css: false });
    expect(await storedHtml(id)).toBeNull();
    expect((await shown(id)).html).toContain('.a{color:green} @media print{.a{color:blue}}</style><p class="a">');
    const both = await create({ template_mode: "mjml", body: mjml(`<mj-raw>${body}</mj-raw>`), inline_css: true });
    expect((await shown(both.id)).html).toMatch(/<p style="[^"]*color: red;" class="a">x/);
  });

  test("concurrent changes store HTML made of the body, mode and styles that are stored with it", async () => {
    const { id } = await create({ body: "<style>.a{color:red}</style><p class=a>0</p>" });
    const changes = Array.from({ length: 8 }, (_, i) =>
      i % 2 === 0 ? { inline_css: i % 4 === 0 } : { body: `<style>.a{color:red}</style><p class=a>${i}</p>` },
    );
    const answers = await Promise.all(changes.map((change) => company.api.patch(`${PATH}${id}/`, change)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { body, inline_css } = (await company.api.get(`${PATH}${id}/`)).body;
    const html = await storedHtml(id);
    expect(html === null ? null : html.replace(/ style="[^"]*"/, "")).toBe(
      inline_css ? body.replace(".a{color:red}", "") : null,
    );
  });

  test("text_body is shown unchanged in the preview, and null derives it again", async () => {
    const { id } = await create({ text_body: "Dear [[first_name]] & all", template_type: "transactional" });
    expect((await shown(id)).text).toBe("Dear <Ann> & all");
    const { body } = await company.api.patch(`${PATH}${id}/`, { text_body: null, preheader: null });
    expect(body).toMatchObject({ text_body: null, preheader: null });
    expect((await shown(id)).text).not.toContain("Dear");
  });
});

describe("a preview", () => {
  const preview = (id: string, variables?: unknown) =>
    company.api.post(`${PATH}${id}/preview/`, variables === undefined ? {} : { variables });

  test("shows the email of a recipient with these variables, untracked", async () => {
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

  test("shows the footer that emails of a marketing template get", async () => {
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

  test("is refused if it would grow without limit", async () => {
    const depth = 6;
    const { id } = await create({ body: `${"[[#each x]]".repeat(depth)}y${"[[/each]]".repeat(depth)}` });
    const answer = await preview(id, { x: Array.from({ length: 100 }, (_, i) => i) });
    expect(answer).toMatchObject({
      status: 400,
      body: { variables: [expect.stringMatching(/more than 500000 steps/)] },
    });
  });

  test("refuses variables that are not an object", async () => {
    expect((await preview((await create()).id, "text")).body).toEqual({
      variables: ['Expected a dictionary of items but got type "str".'],
    });
  });

  test("handles 10,000 tags: none of its steps passes them as arguments of one call", async () => {
    const { id } = await create({ subject: "Hi", body: "[[[first_name]]]".repeat(10_000) });
    const { status, body } = await company.api.post(`${PATH}${id}/preview/`, { variables: { first_name: "a" } });
    expect([status, body.html?.replace(/<[^>]*>|\s/g, "").startsWith("a".repeat(10_000))]).toEqual([200, true]);
  });
});
