/** Subscribers, lists and suppressions in the console, as a browser without JavaScript sees them. */
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type ConsoleBrowser, signIn } from "../../support/console-browser.ts";

let app: App;
let company: TestCompany;
let browser: ConsoleBrowser;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  browser = await signIn(app, company);
  await browser.open(at());
});
afterAll(() => app.stop());

const at = (path = "") => `/app/${company.id}${path && `/${path}`}`;
const newList = async (name: string) => (await company.api.post("/api/emails/lists/", { name })).body.id as string;
const newPerson = async (given: object) =>
  (await company.api.post("/api/emails/subscribers/", given)).body.id as string;
const person = async (id: string) => (await company.api.get(`/api/emails/subscribers/${id}/`)).body;

/** Returns the form with this action, as submitted by a person who only presses its button. */
function fieldsOf(html: string, action: string): Record<string, string> {
  const start = html.indexOf(`action="${action}"`);
  expect(start).toBeGreaterThan(0);
  const form = html.slice(start, html.indexOf("</form>", start));
  return Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
}

/** Follows the redirect after a write to the page with the notice. */
async function done(sent: Promise<{ status: number; location: string | null }>) {
  const { status, location } = await sent;
  expect(status).toBe(303);
  return browser.open(location!);
}

describe("a person", () => {
  test("who already exists is not overwritten by the form for new subscribers; the form links to that person", async () => {
    const id = await newPerson({ email: "Ann@example.com", first_name: "Ann", last_name: "Ash" });
    const list = await newList("Not joined");
    await browser.open(at("subscribers"));
    const again = { email: " ann@EXAMPLE.com", first_name: "Bob", last_name: "", list };
    const { status, html } = await browser.send(at("subscribers"), again);
    expect(status).toBe(400);
    expect(html).toContain(`Ann@example.com is already a subscriber. <a href="${at(`subscribers/${id}`)}">Open</a>`);
    expect(html).toContain('value="Bob"');
    expect(await person(id)).toMatchObject({ first_name: "Ann", last_name: "Ash", lists: [] });
    await company.api.delete(`/api/emails/subscribers/${id}/`);
    await company.api.delete(`/api/emails/lists/${list}/`);
  });

  test("is suppressed on the person's page, after a question", async () => {
    const id = await newPerson({ email: "enough@example.com" });
    const { html } = await browser.open(at(`subscribers/${id}`));
    expect(html).toContain("Suppress enough@example.com?");
    const { html: after } = await done(browser.send(at(`subscribers/${id}/suppress`)));
    expect(after).toContain("enough@example.com gets no more email.");
    expect(after).not.toContain("Suppress enough@example.com?");
    expect((await person(id)).suppression).toMatchObject({ kind: "manual" });
    await company.api.delete(`/api/emails/subscribers/${id}/`);
  });

  test("has attributes with readable names, never raw keys", async () => {
    const id = await newPerson({ email: "label@example.com", attributes: { favourite_colour: "red" } });
    const { html } = await browser.open(at(`subscribers/${id}`));
    expect(html).toMatch(/<label for="attribute\.0">Favourite colour<\/label>/);
    expect(html.replaceAll('value="favourite_colour"', "")).not.toContain("favourite_colour");
    const segment = await browser.open(at("segments/new"));
    expect(segment.html).toContain('<option value="favourite_colour" label="Favourite colour">');
    await company.api.patch(`/api/companies/${company.id}/`, { form_attributes: ["favourite_colour"] });
    const { id: list } = (await company.api.post("/api/emails/lists/", { name: "Labels", is_public: true })).body;
    expect((await browser.open(at(`lists/${list}/form`))).html).toContain("Favourite colour&lt;br&gt;&lt;input name=");
    const publicForm = await fetch(`${app.url}/api/emails/public/subscribe/${company.id}/?list_id=${list}`);
    expect(await publicForm.text()).toContain("Favourite colour");
    await company.api.patch(`/api/companies/${company.id}/`, { form_attributes: [] });
    await company.api.delete(`/api/emails/subscribers/${id}/`);
    await company.api.delete(`/api/emails/lists/${list}/`);
  });

  test("keeps the types of attributes, fields that were not edited, and concurrent changes", async () => {
    const attributes = { city: "Oslo", orders: 3, vip: false, since: "2026-01-31", tags: ["a", "b"], note: "as it is" };
    const id = await newPerson({ email: "ada@example.com", attributes });
    const path = at(`subscribers/${id}`);
    const shown = await browser.open(path);
    const hidden = fieldsOf(shown.html, path);
    const untouched = Object.entries(hidden).map(([name, value]) => [name.replace(/\.was$/, ".value"), value]);
    const form: Record<string, string> = { ...Object.fromEntries(untouched), ...hidden };
    const fieldOf = (name: string) =>
      Object.keys(form)
        .find((key) => form[key] === name)!
        .replace(/\.name$/, "");
    await company.api.patch(`/api/emails/subscribers/${id}/`, { attributes: { note: "changed by a program" } });
    const typed = {
      ...form,
      first_name: "Ada",
      last_name: "",
      [`${fieldOf("city")}.value`]: "Oslo",
      [`${fieldOf("orders")}.value`]: "4,5",
      [`${fieldOf("vip")}.value`]: "true",
      [`${fieldOf("since")}.value`]: "2026-02-01",
      [`${fieldOf("tags")}.value`]: "a\r\nc\r\n",
      [`${fieldOf("tags")}.was`]: "a\r\nb",
      [`${fieldOf("note")}.value`]: "as it is",
      "new.name": "points",
      "new.kind": "number",
      "new.value": "12",
    };
    const saved = await done(browser.send(path, typed));
    expect(saved.html).toContain("Saved.");
    expect(await person(id)).toMatchObject({
      first_name: "Ada",
      attributes: {
        city: "Oslo",
        orders: 4.5,
        vip: true,
        since: "2026-02-01",
        tags: ["a", "c"],
        note: "changed by a program",
        points: 12,
      },
    });
    const wrong = await browser.send(path, { ...typed, [`${fieldOf("orders")}.value`]: "many", "new.name": "city" });
    expect(wrong.status).toBe(400);
    expect(wrong.html).toContain("Enter a number");
    expect(wrong.html).toContain('value="many"');
    expect(wrong.html).toContain("There is an attribute city already");
    await done(browser.send(path, { ...form, [`${fieldOf("vip")}.gone`]: "on" }));
    expect((await person(id)).attributes).not.toHaveProperty("vip");
  });

  test("is taken off a list, and put back by the notice's button; the page shows the dates of joining and leaving", async () => {
    const list = await newList("Readers <b>");
    const id = await newPerson({ email: "grace@example.com", lists: [list] });
    const path = at(`subscribers/${id}`);
    expect((await browser.open(path)).html).toMatch(/On the list since \d+ \w+ \d{4}, \d\d:\d\d UTC/);
    const gone = await done(browser.send(`${path}/off-list`, { list }));
    expect(gone.html).toContain("Removed from Readers &lt;b&gt;.");
    expect((await person(id)).lists).toEqual([]);
    await done(browser.send(`${path}/on-list`, fieldsOf(gone.html, `${path}/on-list`)));
    expect((await person(id)).lists).toEqual([list]);
    await query("update list_members set left_at = now() where subscriber_id = $1", [id]);
    expect((await browser.open(path)).html).toContain("Left on the preferences page");
    const { body } = await company.api.get(`/api/emails/subscribers/${id}/lists/`);
    expect(body).toEqual([
      {
        id: list,
        name: "Readers <b>",
        state: "left",
        joined_at: expect.any(String),
        left_at: expect.any(String),
        asked_at: null,
      },
    ]);
  });

  test("whose confirmation is pending has a label for it", async () => {
    const list = await newList("Confirmed");
    const id = await newPerson({ email: "joan@example.com" });
    await query("insert into list_wishes (company_id, subscriber_id, list_id) values ($1, $2, $3)", [
      company.id,
      id,
      list,
    ]);
    expect((await browser.open(at(`subscribers/${id}`))).html).toContain("not confirmed yet");
    const { body } = await company.api.get(`/api/emails/subscribers/${id}/lists/`);
    expect(body).toMatchObject([{ id: list, state: "waiting", joined_at: null, asked_at: expect.any(String) }]);
  });

  test("has every event on the timeline once, page by page; only http links can be followed", async () => {
    const id = await newPerson({ email: "alan@example.com" });
    await query(
      `insert into email_events (company_id, type, recipient, metadata, created_at)
       select $1, 'clicked', 'alan@example.com', jsonb_build_object('url', case when n = 50 then 'javascript:alert(1)' else 'https://example.com/' || n end),
         now() - interval '1 minute' * n from generate_series(50, 1, -1) n`,
      [company.id],
    );
    const seen: string[] = [];
    let next: string | undefined = at(`subscribers/${id}`);
    for (let pages = 0; next !== undefined; pages++) {
      expect(pages).toBeLessThan(3);
      const { html, status } = await browser.open(next);
      expect(status).toBe(200);
      seen.push(...[...html.matchAll(/example\.com\/(\d+)<\/a>/g)].map(([, n]) => n!));
      expect(html).not.toContain('href="javascript');
      next = /href="([^"]+)#history" rel="next"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen.length).toBe(49);
    expect(new Set(seen).size).toBe(49);
  });

  test("can be exported as a file; erasing requires the typed address and shows counts first", async () => {
    const id = await newPerson({ email: "kay@example.com" });
    await query("insert into email_events (company_id, type, recipient) values ($1, 'opened', 'kay@example.com')", [
      company.id,
    ]);
    const path = at(`subscribers/${id}`);
    const data = await browser.open(`${path}/data`);
    expect(data.headers.get("content-disposition")).toBe('attachment; filename="person.json"');
    expect(JSON.parse(data.html)).toMatchObject({ subscriber: { email: "kay@example.com" } });
    expect((await browser.open(path)).html).toContain("0 emails, 1 event, variables");
    const wrong = await browser.send(`${path}/erase`, { email: "kay@example.org" });
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.html).toContain("This is another address.");
    expect((await person(id)).email).toBe("kay@example.com");
    const erased = await done(browser.send(`${path}/erase`, { email: " KAY@example.com" }));
    expect(erased.html).toContain("Erased: 0 emails, 1 event.");
    expect((await browser.open(path)).status).toBe(404);
  });
});

describe("several people", () => {
  let list: string;
  let picks: Record<string, string>;
  const path = () => at("subscribers/bulk");
  beforeAll(async () => {
    list = await newList("Several");
    const ids = [];
    for (const n of [1, 2, 3])
      ids.push(await newPerson({ email: `several${n}@example.com`, lists: n === 1 ? [list] : [] }));
    picks = Object.fromEntries(ids.map((id) => [`pick.${id}`, "on"]));
  });
  const membersOf = async () => (await company.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count;

  test("are added to a list and removed from it with counts, and back", async () => {
    const back = "search=several";
    const added = await done(browser.send(path(), { ...picks, do: "add", list, back }));
    expect(added.html).toContain("2 subscribers added to Several; 1 was on it already.");
    expect(added.html).toContain('value="several"');
    const removed = await done(browser.send(path(), { ...picks, do: "remove", list, back }));
    expect(removed.html).toContain("3 subscribers removed from Several.");
    expect(await membersOf()).toBe(0);
    await done(browser.send(path(), fieldsOf(removed.html, path())));
    expect(await membersOf()).toBe(3);
  });

  test("are refused with a sentence if nobody or no list is chosen, or somebody is of another company", async () => {
    expect((await browser.send(path(), { do: "add", list })).html).toContain("Nobody is selected.");
    expect((await browser.send(path(), { ...picks, do: "add" })).html).toContain("Choose a list.");
    const other = await newCompany(app);
    const strange = (await other.api.post("/api/emails/subscribers/", { email: "x@example.com" })).body.id;
    expect(await browser.send(path(), { [`pick.${strange}`]: "on", do: "add", list })).toMatchObject({ status: 400 });
    expect(await membersOf()).toBe(3);
  });

  test("are deleted after a confirmation with their number", async () => {
    const asked = await browser.send(path(), { ...picks, do: "delete", back: "search=several" });
    expect(asked).toMatchObject({ status: 200, title: "Delete 3 subscribers?" });
    expect(await membersOf()).toBe(3);
    const deleted = await done(browser.send(path(), fieldsOf(asked.html, path())));
    expect(deleted.html).toContain("3 subscribers deleted.");
    expect(await membersOf()).toBe(0);
  });

  test("on a page are all selected without JavaScript, and filters download as CSV", async () => {
    await newPerson({ email: "picked@example.com", lists: [list] });
    const all = await browser.open(at(`subscribers?list=${list}&picked=page`));
    expect(all.html).toMatch(/name="pick\.[0-9a-f-]+" checked/);
    const csv = await browser.open(at(`subscribers/export?list=${list}`));
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.html).toContain("picked@example.com");
    expect(csv.html).not.toContain("ada@example.com");
  });

  test("who are selected are exported alone, without people of another company", async () => {
    const id = await newPerson({ email: "ticked@example.com" });
    const other = await newCompany(app);
    const strange = (await other.api.post("/api/emails/subscribers/", { email: "strange@example.com" })).body.id;
    const csv = await browser.send(path(), { [`pick.${id}`]: "on", [`pick.${strange}`]: "on", do: "export" });
    expect(csv.headers.get("content-disposition")).toBe('attachment; filename="subscribers.csv"');
    expect(csv.html.trim().split("\r\n").slice(1)).toEqual([expect.stringContaining("ticked@example.com")]);
  });

  test("are sorted by a click on a heading, a second click reverses it; filters and selection links keep the order", async () => {
    const emails = ["sorted-b@example.com", "sorted-a@example.com", "sorted-c@example.com"];
    for (const email of emails) await newPerson({ email });
    const links = (html: string) =>
      [...html.matchAll(/aria-sort="(\w+)"|href="([^"]*ordering=[^"]*)">Email address/g)].map(
        ([, sort, href]) => sort ?? href!.replaceAll("&amp;", "&"),
      );
    const order = (html: string) => [...html.matchAll(/aria-label="Select sorted-(\w)@/g)].map(([, letter]) => letter);
    const first = await browser.open(at("subscribers?search=sorted-&status=active&page=1"));
    expect(order(first.html)).toEqual(["c", "a", "b"]);
    const [up, standard] = links(first.html);
    expect(standard).toBe("descending");
    const rising = await browser.open(up!);
    expect(order(rising.html)).toEqual(["a", "b", "c"]);
    expect(rising.html).toContain("status=active&amp;ordering=email&amp;picked=page");
    const [sort, down] = links(rising.html);
    expect(sort).toBe("ascending");
    expect(order((await browser.open(down!)).html)).toEqual(["c", "b", "a"]);
    expect((await browser.open(at("subscribers?ordering=nonsense"))).status).toBe(200);
  });

  test("found by a search are selected across pages; each button shows their number and affects exactly them", async () => {
    const emails = Array.from({ length: 45 }, (_, n) => `forty${n}@example.com`);
    await query("insert into subscribers (company_id, email) select $1, unnest($2::text[])", [company.id, emails]);
    const target = await newList("Forty-five");
    const first = await browser.open(at("subscribers?search=forty"));
    expect(first.html).toContain("Select all 45");
    const second = await browser.open(at("subscribers?search=forty&picked=all&page=2"));
    for (const button of ["Add 45 to list", "Remove 45 from list", "Suppress 45 …", "Delete 45 …"]) {
      expect(second.html).toContain(`>${button}</button>`);
    }
    expect(second.html).toContain("Export 45");
    const choice = { ...fieldsOf(second.html, path()), list: target };
    expect((await done(browser.send(path(), { ...choice, do: "add" }))).html).toContain(
      "45 subscribers added to Forty-five.",
    );
    expect((await done(browser.send(path(), { ...choice, do: "remove" }))).html).toContain(
      "45 subscribers removed from Forty-five.",
    );
    const csv = await browser.open(at("subscribers/export?search=forty"));
    expect(csv.html.trim().split("\r\n")).toHaveLength(46);
    for (const [work, title, said] of [
      ["suppress", "Suppress 45 subscribers?", "45 subscribers suppressed."],
      ["delete", "Delete 45 subscribers?", "45 subscribers deleted."],
    ] as const) {
      const asked = await browser.send(path(), { ...choice, do: work });
      expect(asked.title).toBe(title);
      expect((await done(browser.send(path(), fieldsOf(asked.html, path())))).html).toContain(said);
    }
    expect((await company.api.get("/api/emails/subscribers/", { query: { search: "picked" } })).body.count).toBe(1);
  });
});

describe("a list", () => {
  test("is created, edited, shown with its form, filled by address, and deleted after showing its count", async () => {
    const made = await done(browser.send(at("lists"), { name: "News & more" }));
    expect(made.title).toBe("News &amp; more");
    const [, id] = /action="[^"]*\/lists\/([0-9a-f-]{36})\/add"/.exec(made.html)!;
    const path = at(`lists/${id}`);
    const settings = { name: "News", public: "on", public_name: "The news", archive: "on", double_opt_in: "no" };
    await done(browser.send(`${path}/settings`, settings));
    expect((await company.api.get(`/api/emails/lists/${id}/`)).body).toMatchObject({
      name: "News",
      visibility: "public",
      public_name: "The news",
      archive: true,
      double_opt_in: false,
    });
    const refused = await browser.send(`${path}/settings`, { ...settings, double_opt_in: "yes" });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.html).toMatch(/id="wrong-double_opt_in"/);
    expect((await browser.send(`${path}/add`, { email: "no address" })).status).toBe(400);
    const added = await done(browser.send(`${path}/add`, { email: "news@example.com" }));
    expect(added.html).toContain("news@example.com is on the list.");
    const asked = await browser.open(`${path}/settings`);
    expect(asked.html).toContain("1 subscriber is removed from the list and kept on file.");
    const gone = await done(browser.send(`${path}/delete`, fieldsOf(asked.html, `${path}/delete`)));
    expect(gone.html).toContain("List “News” deleted.");
    expect((await browser.open(path)).status).toBe(404);
  });

  test("has a form that subscribes a person when copied", async () => {
    const list = await newList("Copied");
    const { html } = await browser.open(at(`lists/${list}/form`));
    const [, code] = /<textarea class="code"[^>]*>\n([^<]*)<\/textarea>/.exec(html)!;
    const form = code!
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    const [, action] = /action="([^"]+)"/.exec(form)!;
    expect(form).toContain(`name="list_id" value="${list}"`);
    const fields = [...form.matchAll(/name="([^"]+)"/g)].map(([, name]) => name);
    expect(fields).toEqual(["list_id", "email", "first_name", "last_name", "contact_url_2"]);
    expect(form).toMatch(
      /<p hidden aria-hidden="true">.* tabindex="-1" autocomplete="off" data-1p-ignore data-lpignore="true" data-bwignore="true"/,
    );
    const body = new URLSearchParams({
      list_id: list,
      email: "copied@example.com",
      first_name: "",
      last_name: "",
      contact_url_2: "",
    });
    const sent = await fetch(`${app.url}${new URL(action!).pathname}`, {
      method: "POST",
      body,
      headers: { accept: "text/html" },
    });
    expect(sent.status).toBeLessThan(300);
    expect((await company.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count).toBe(1);
    expect(html).toContain(`/api/emails/public/subscribe/${company.id}/?list=${list}`);
    expect(html).not.toContain("dropped because");
    body.set("contact_url_2", "https://spam.example");
    await fetch(`${app.url}${new URL(action!).pathname}`, { method: "POST", body });
    expect((await browser.open(at(`lists/${list}/form`))).html).toContain("1 sign-up through your forms dropped");
  });
});

describe("a suppression", () => {
  const path = () => at("suppressions");

  test("that is lifted is restored completely by the notice's button, with the person's status", async () => {
    const id = await newPerson({ email: "gone@example.com" });
    const given = { email: "gone@example.com", kind: "unsubscribed", reason: 'By "phone"' };
    await company.api.post("/api/emails/suppressions/", given);
    const { html } = await browser.open(`${path()}?search=gone&kind=unsubscribed`);
    const [, action] = /action="([^"]+\/lift)"/.exec(html)!;
    const lifted = await done(browser.send(action!));
    expect(lifted.html).toContain("gone@example.com can get email again.");
    expect((await person(id)).status).toBe("active");
    const fields = fieldsOf(lifted.html, path());
    await done(browser.send(path(), { ...fields, reason: fields.reason!.replaceAll("&quot;", '"') }));
    expect((await company.api.get("/api/emails/suppressions/?search=gone")).body.results).toMatchObject([given]);
    expect((await person(id)).status).toBe("unsubscribed");
  });

  test("is shown on the person's page and in lists of people, with a link to it", async () => {
    const id = await newPerson({ email: "ada@sub.blocked.example" });
    expect((await browser.open(at(`subscribers/${id}`))).html).not.toContain("Suppressed");
    await company.api.post("/api/emails/suppressions/", { domain: "blocked.example" });
    const { html } = await browser.open(at(`subscribers/${id}`));
    expect(html).toContain("Suppressed manually. No email has been sent to this address since");
    const [, found] = /href="([^"]+\/suppressions\?search=[^"]+)"/.exec(html)!;
    expect((await browser.open(found!)).html).toContain("blocked.example");
    expect((await browser.open(`${at("subscribers")}?search=ada@sub`)).html).toContain(
      'status-suppressed">Suppressed<',
    );
  });

  test("can be imported as a file, with counts and the unusable rows, and downloaded again", async () => {
    await browser.open(path());
    const file = new File(["email,reason\nfile1@example.com,Asked\nnot an address,\n"], "stop.csv", {
      type: "text/csv",
    });
    const imported = await browser.attach(`${path()}/import`, file);
    expect(imported.status).toBe(200);
    expect(imported.html).toContain("2 rows read: 1 suppressed, 0 suppressed before.");
    expect(imported.html).toContain("1 row could not be used");
    expect((await browser.open(`${path()}/export`)).html).toContain("file1@example.com");
    const wrong = await browser.attach(`${path()}/import`, new File(["a,b\n1,2\n"], "stop.csv", { type: "text/csv" }));
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.html).toMatch(/id="wrong-file"/);
  });
});

test("no page promises an email if the service sends none of its own", async () => {
  await query("update users set email_verified_at = null where email = $1", [company.email]);
  const { html } = await browser.open("/app/account");
  expect(html).toContain("your address can&#39;t be confirmed");
  expect(html).not.toContain("/app/account/verify");
  expect((await browser.open(at("settings/members"))).html).toContain("You get a link to send to them.");
  expect((await browser.open("/app/forgotten")).html).toContain("This server can&#39;t send password emails.");
});

test("a crafted link cannot put text on a page", async () => {
  for (const result of ["x", "A".repeat(200)]) {
    const { status, html } = await browser.open(at(`subscribers?result=${result}`));
    expect(status).toBe(200);
    expect(html).not.toContain("outcome");
  }
});

test("another company's person and list are 404", async () => {
  const other = await newCompany(app);
  const id = (await other.api.post("/api/emails/subscribers/", { email: "x@example.com" })).body.id;
  const list = (await other.api.post("/api/emails/lists/", { name: "Theirs" })).body.id;
  expect((await browser.open(at(`subscribers/${id}`))).status).toBe(404);
  expect((await browser.open(at(`subscribers/${id}/data`))).status).toBe(404);
  expect((await browser.open(at(`lists/${list}`))).status).toBe(404);
  expect((await browser.send(at(`lists/${list}/delete`), { sure: "yes" })).status).toBe(404);
});

test("a viewer reads the pages, sees no form that writes, and gets 403 for every write and download", async () => {
  const list = await newList("Seen");
  const id = await newPerson({ email: "seen@example.com", lists: [list], attributes: { city: "Rome" } });
  const { body: suppression } = await company.api.post("/api/emails/suppressions/", { domain: "seen.example" });
  await query("update memberships set role = 'viewer' where company_id = $1", [company.id]);
  try {
    for (const page of ["subscribers", `subscribers/${id}`, "lists", `lists/${list}`, "suppressions"]) {
      const { status, html } = await browser.open(at(page));
      expect({ page, status }).toEqual({ page, status: 200 });
      expect(html.match(/<form[^>]*method="post"[^>]*>/g)).toHaveLength(1);
      expect(html).not.toContain("/export");
      expect(html).not.toContain("/data");
    }
    const pick = { [`pick.${id}`]: "on", list };
    const writes: [string, Record<string, string>][] = [
      ["subscribers", { email: "x@example.com" }],
      ...["add", "remove", "delete", "delete-for-good"].map((work): [string, Record<string, string>] => [
        "subscribers/bulk",
        { ...pick, do: work },
      ]),
      [`subscribers/${id}`, { first_name: "X" }],
      ...["on-list", "off-list", "delete", "erase"].map((work): [string, Record<string, string>] => [
        `subscribers/${id}/${work}`,
        { list },
      ]),
      ["lists", { name: "X" }],
      [`lists/${list}/settings`, { name: "X" }],
      [`lists/${list}/add`, { email: "x@example.com" }],
      [`lists/${list}/delete`, {}],
      ["suppressions", { what: "x.example" }],
      [`suppressions/${suppression.id}/lift`, {}],
    ];
    for (const [page, fields] of writes) {
      expect({ page, ...fields, status: (await browser.send(at(page), fields)).status }).toEqual({
        page,
        ...fields,
        status: 403,
      });
    }
    const file = new File(["email\nx@example.com\n"], "x.csv");
    expect((await browser.attach(at("suppressions/import"), file)).status).toBe(403);
    for (const page of ["subscribers/export", "suppressions/export", `subscribers/${id}/data`]) {
      expect({ page, status: (await browser.open(at(page))).status }).toEqual({ page, status: 403 });
    }
  } finally {
    await query("update memberships set role = 'owner' where company_id = $1", [company.id]);
  }
  expect((await person(id)).first_name).toBe("");
});
