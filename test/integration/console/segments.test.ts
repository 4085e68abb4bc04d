/** Segments and imports in the console, as a browser without JavaScript sees them. */
import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, type Shown, signIn } from "../../support/console-browser.ts";
import { until } from "../campaigns/world.ts";

const E = "/api/emails";

let app: App;
let company: TestCompany;
let browser: ConsoleBrowser;
let list: string;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  browser = await signIn(app, company);
  list = (await company.api.post(`${E}/lists/`, { name: "Readers" })).body.id;
  for (const [n, city] of ["London", "Rome", "London"].entries()) {
    const lists = n === 0 ? [list] : [];
    await company.api.post(`${E}/subscribers/`, { email: `p${n}@x.org`, attributes: { city }, lists });
  }
});
afterAll(() => app.stop());

const at = (path: string, of = company) => `/app/${of.id}/${path}`;

/** Returns all fields of the form with this action, as a browser would send them. */
function fieldsOf({ html }: Shown, action: string): Record<string, string> {
  const form = html.split(`action="${action}"`)[1]!.split("</form>")[0]!;
  const fields: Record<string, string> = {};
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  const text = (html: string) =>
    html
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, "name");
    const type = attribute(tag, "type");
    if (!name || ((type === "radio" || type === "checkbox") && !tag.includes(" checked"))) continue;
    fields[name] = text(attribute(tag, "value") ?? (type === "checkbox" ? "on" : ""));
  }
  for (const [, head, options] of form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const chosen = /<option value="([^"]*)" selected/.exec(options!) ?? /<option value="([^"]*)"/.exec(options!);
    fields[attribute(head!, "name")!] = chosen![1]!;
  }
  for (const [, head, value] of form.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)) {
    fields[attribute(head!, "name")!] = text(value!);
  }
  return fields;
}

describe("segments", () => {
  /** Returns the builder's page after this button, with these fields changed. */
  const press = async (shown: Shown, path: string, button: string, changes: Record<string, string> = {}) =>
    browser.send(at(path), { ...fieldsOf(shown, at(path)), ...changes, do: button });

  test("are built rule by rule, counted before they are saved, and saved in the API's form", async () => {
    const path = "segments/new";
    let shown = await browser.open(at(path));
    expect(shown).toMatchObject({ status: 200, title: "New segment" });
    shown = await press(shown, path, "refresh", { "r.0.field": "attribute" });
    expect(shown.html).toContain('<option value="city" label="City">');
    shown = await press(shown, path, "add", { "r.0.name": "city", "r.0.choice": "equals", "r.0.value": "london" });
    shown = await press(shown, path, "refresh", { "r.1.field": "list" });
    shown = await press(shown, path, "refresh", { "r.1.choice": "not_in" });
    shown = await press(shown, path, "count");
    expect(shown.html).toContain("once the rules are complete");
    const box = { [`r.1.pick.${list}`]: "on" };
    shown = await press(shown, path, "count", box);
    expect(shown.html).toContain("1 subscriber matches.");
    expect(shown.html).toContain("p2@x.org</a>");
    expect((await company.api.get(`${E}/segments/`)).body.count).toBe(0);
    const refused = await press(shown, path, "save", { ...box, "r.0.value": "" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("A value is required for equals.");
    const saved = await press(refused, path, "save", { "r.0.value": "london", name: "Londoners" });
    expect(saved).toMatchObject({ status: 303 });
    const { results } = (await company.api.get(`${E}/segments/`)).body;
    expect(results).toMatchObject([
      {
        name: "Londoners",
        rules: {
          match: "all",
          conditions: [
            { field: "attributes.city", operator: "equals", value: "london" },
            { field: "list", operator: "not_in", value: [list] },
          ],
        },
      },
    ]);
    expect(saved.location).toBe(`${at(`segments/${results[0].id}`)}?notice=saved`);
    expect((await browser.open(at(`segments/${results[0].id}/count`))).html).toContain('<strong id="count">1<');
  });

  test("keep a rule that the builder cannot show, through renaming and an added rule", async () => {
    const conditions = [
      { field: "created_at", operator: "after", value: "2020-05-01T10:00:00+02:00" },
      { field: "email", operator: "ends_with", value: `x.org"<b>` },
    ];
    const { id } = (await company.api.post(`${E}/segments/`, { name: "Old", rules: { match: "any", conditions } }))
      .body;
    const path = `segments/${id}`;
    const shown = await browser.open(at(path));
    expect(shown.html).toContain("2020-05-01T10:00:00+02:00");
    expect(shown.html).not.toContain("<b>");
    const saved = await press(shown, path, "save", { name: "New" });
    expect(saved).toMatchObject({ status: 303 });
    expect((await company.api.get(`${E}/segments/${id}/`)).body).toMatchObject({
      name: "New",
      rules: { match: "any", conditions },
    });
    const without = await press(await browser.open(at(path)), path, "remove.1");
    await press(without, path, "save");
    expect((await company.api.get(`${E}/segments/${id}/`)).body.rules.conditions).toEqual([conditions[0]]);
  });

  test("show where they are used before they are deleted", async () => {
    const rules = { conditions: [{ field: "email", operator: "contains", value: "@" }] };
    const { id } = (await company.api.post(`${E}/segments/`, { name: "Used", rules })).body;
    await company.api.post(`${E}/drafts/`, { name: "Autumn", kind: "to-list", body: { segment_id: id } });
    const asked = await browser.open(at(`segments/${id}/delete`));
    expect(asked.html).toContain("Draft “Autumn”");
    expect((await company.api.get(`${E}/segments/${id}/`)).status).toBe(200);
    expect(await browser.send(at(`segments/${id}/delete`))).toMatchObject({ status: 303 });
    expect((await company.api.get(`${E}/segments/${id}/`)).status).toBe(404);
  });
});

describe("an import", () => {
  const csv = "Kontakt;Ort\nnew@x.org;Köln\np0@x.org;Bonn\nnobody;Ulm\n";
  const file = (text: string, name = "people.csv") => new File([text], name);
  const over = async (path: string) =>
    until(
      () => browser.open(path),
      ({ html }) => !html.includes("<progress"),
    );

  test("maps columns, is tried first, and puts the people on a new list", async () => {
    const { location, status } = await browser.attach(at("import"), file(csv));
    expect(status).toBe(303);
    const choosing = await browser.open(location!);
    expect(choosing).toMatchObject({ status: 200, title: "people.csv" });
    expect(choosing.html).toContain("separated by semicolon");
    expect(choosing.html).toContain("Köln");
    // The column is recognised by its values; its name is meaningless.
    expect(fieldsOf(choosing, location!)).toMatchObject({ "column.0": "email", "column.1": "attribute" });
    const fields = { ...fieldsOf(choosing, location!), "attribute.1": "city", list: "new" };
    const nameless = await browser.send(location!, { ...fields, do: "try", new_list: " " });
    expect(nameless.status).toBe(400);
    expect(nameless.html).toContain("Give the new list a name.");
    const looked = await browser.send(location!, { ...fields, do: "look" });
    expect(fieldsOf(looked, location!)).toMatchObject({ "column.0": "email", "attribute.1": "city" });
    const tried = await browser.send(location!, { ...fields, do: "try", new_list: "Autumn fair" });
    const result = await over(tried.location!);
    expect(result.html).toMatch(/What would happen[\s\S]*Import 2 rows now/);
    expect(result.html).toContain(">Enter a valid email address.<");
    expect((await company.api.get(`${E}/subscribers/`, { query: { search: "new@" } })).body.count).toBe(0);
    expect((await company.api.get(`${E}/lists/`, { query: { search: "Autumn" } })).body.count).toBe(0);

    const start = `${location}/start`;
    const started = await browser.send(start, fieldsOf(result, start));
    const done = await over(started.location!);
    expect(done.html).toContain("Import finished");
    const [made] = (await company.api.get(`${E}/lists/`, { query: { search: "Autumn" } })).body.results;
    expect(made).toMatchObject({ name: "Autumn fair", subscriber_count: 2 });
    const [person] = (await company.api.get(`${E}/subscribers/`, { query: { search: "new@" } })).body.results;
    expect(person.attributes).toEqual({ city: "Köln" });
    const refused = await browser.open(`${location}/refused`);
    expect(refused.headers.get("content-disposition")).toBe('attachment; filename="refused-rows.csv"');
    expect(refused.html).toBe("row,email,error\r\n4,nobody,email: Enter a valid email address.\r\n");
    expect(await browser.send(start)).toMatchObject({ status: 400 });
    expect((await browser.open(at("import"))).html).toContain("1 new, 1 existing, 1 skipped");
  });

  test("of an image is refused at once; duplicates in the file and missing addresses are named as such", async () => {
    await browser.open(at("import"));
    const jpeg = new File([Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF", "latin1")], "shelf.csv");
    const refused = await browser.attach(at("import"), jpeg);
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining("This is not a CSV file.")]);
    const twice = "email,name\ntwo@dup.org,A\ntwo@dup.org,B\nTWO@dup.org,C\n,Nobody\n";
    const { location } = await browser.attach(at("import"), file(twice, "twice.csv"));
    const fields = fieldsOf(await browser.open(location!), location!);
    for (const [on_conflict, shown] of [
      ["update", ["1", "0", "2", "1"]],
      ["skip", ["1", "0", "2", "1"]],
    ] as const) {
      await browser.send(location!, { ...fields, on_conflict, do: "try" });
      const { html } = await over(location!);
      const tiles = [...html.matchAll(/<dt>([^<]+)<\/dt>\s*<dd[^>]*>(\d+)/g)].map(([, name, n]) => [name, n]);
      expect(tiles.slice(1)).toEqual([
        ["New subscribers", shown[0]],
        ["Existing subscribers", shown[1]],
        ["Duplicates in the file", shown[2]],
        ["Skipped rows", shown[3]],
      ]);
      expect(html).toContain("No email address");
    }
  });

  test("that cannot be read gives the reason, and can be corrected without a second upload", async () => {
    const { location } = await browser.attach(at("import"), file('email,n\na@x.org,"1\n', "<b>.csv"));
    const choosing = await browser.open(location!);
    expect(choosing.html).not.toContain("<b>");
    const fields = { ...fieldsOf(choosing, location!), charset: "utf-16le" };
    await browser.send(location!, { ...fields, do: "try" });
    const failed = await over(location!);
    expect(failed.html).toContain("Nothing was imported");
    const again = await browser.open(`${location}?columns=1`);
    await browser.send(location!, { ...fieldsOf(again, location!), charset: "utf-8", do: "try" });
    expect((await over(location!)).html).toContain("What would happen");
    expect(await browser.send(`${location}/discard`)).toMatchObject({ status: 303 });
    expect((await browser.open(location!)).status).toBe(404);
  });

  test("shows the first line of a file without a header as a person, offers a new list, and can be undone", async () => {
    const { location } = await browser.attach(
      at("import"),
      file("una@y.org,Una,03/04/2000,yes\ndos@y.org,Dos,31/12/1999,no\n", "no-header.csv"),
    );
    const choosing = await browser.open(location!);
    expect(choosing.html).toContain("The first line has an email address, so it looks like a person.");
    const fields = fieldsOf(choosing, location!);
    expect(fields).toMatchObject({ header: "no", list: "new", new_list: "no-header", "column.0": "email" });
    const chosen = { ...fields, "column.1": "first_name", "column.2": "attribute", "attribute.2": "birthday" };
    const tried = await browser.send(location!, { ...chosen, do: "try", date_order: "mdy" });
    const result = await over(tried.location!);
    expect(result.html).toMatch(/birthday<\/dt><dd>date \(2 rows\)<\/dd>/);
    const start = `${location}/start`;
    const done = await over((await browser.send(start, fieldsOf(result, start))).location!);
    expect(done.html).toContain("Undo this import");
    const una = async () => (await company.api.get(`${E}/subscribers/`, { query: { search: "una@" } })).body;
    expect((await una()).results[0]).toMatchObject({ first_name: "Una", attributes: { birthday: "2000-03-04" } });
    const undone = await browser.send(`${location}/undo`);
    expect(undone.status).toBe(303);
    expect((await browser.open(undone.location!)).html).toContain("Import undone.");
    expect((await una()).count).toBe(0);
  });

  test("shows an error at its field if there is no file", async () => {
    const { status, html } = await browser.attach(at("import"), file(""));
    expect([status, html.includes("<main")]).toEqual([400, true]);
  });
});

test("a viewer sees both without forms, and gets 403 for every write, also for a count", async () => {
  const mine = await newCompany(app);
  const rules = { conditions: [{ field: "attributes.city", operator: "in", value: ["Rome", "Bonn"] }] };
  const { id } = (await mine.api.post(`${E}/segments/`, { name: "Mine", rules })).body;
  const held = (await mine.api.post(`${E}/imports/`, fileForm("email\na@x.org\n", "a.csv"))).body.id;
  await query("update memberships set role = 'viewer' where company_id = $1", [mine.id]);
  const viewer = await signIn(app, mine);
  for (const path of ["segments", `segments/${id}`, `segments/${id}/count`, "import", `import/${held}`]) {
    const { status, html } = await viewer.open(at(path, mine));
    expect([path, status, /method="post"(?! action="\/app\/logout")/.test(html)]).toEqual([path, 200, false]);
  }
  expect((await viewer.open(at(`segments/${id}`, mine))).html).toContain("City is one of “Rome”, “Bonn”");
  for (const path of ["segments/new", `segments/${id}/delete`]) {
    expect(await viewer.open(at(path, mine))).toMatchObject({ status: 403, title: "You may not do this" });
  }
  const writes = ["segments/new", `segments/${id}`, `segments/${id}/delete`].concat(
    ["", "/start", "/undo", "/discard"].map((rest) => `import/${held}${rest}`),
  );
  for (const path of writes) {
    for (const wanted of ["count", "look", "save"]) {
      expect([path, (await viewer.send(at(path, mine), { do: wanted })).status]).toEqual([path, 403]);
    }
  }
  const file = new File(["email\nb@x.org\n"], "b.csv");
  expect((await viewer.attach(at("import", mine), file)).status).toBe(403);
});

test("another company's segments and imports are 404", async () => {
  const other = await newCompany(app);
  const rules = { conditions: [{ field: "email", operator: "contains", value: "@" }] };
  const { id } = (await other.api.post(`${E}/segments/`, { name: "Theirs", rules })).body;
  for (const path of [`segments/${id}`, `segments/${id}/count`, `segments/${id}/delete`, `import/${newId()}`]) {
    expect([path, (await browser.open(at(path))).status]).toEqual([path, 404]);
  }
  for (const path of [`segments/${id}`, `segments/${id}/delete`, `import/${newId()}`, `import/${newId()}/start`]) {
    expect([path, (await browser.send(at(path), { do: "count" })).status]).toEqual([path, 404]);
  }
});
