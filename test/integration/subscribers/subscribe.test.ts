import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { confirmableUntil } from "../../../models/statements/ask-to-confirm.ts";
import { markUnsubscribed } from "../../../models/statements/unsubscribe.ts";
import { call } from "../../../services/call.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { msToNextStep } from "../../../services/lib/uniform-timing.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const query_ = pg.Client.prototype.query;
const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";
const DAY_MS = 86_400_000;

let app: App;
let company: TestCompany;

beforeAll(async () => {
  // The campaigns service is not started, so that emails stay queued.
  app = await startApp({ services: ["accounts", "subscribers", "gateway", "tracking"], env: { TRUST_PROXY: "1" } });
});
beforeEach(async () => {
  company = await newCompany(app);
});
afterAll(() => app.stop());

const subscribe = (given: object, companyId = company.id) =>
  client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${companyId}/`, given);

const found = (email: string) =>
  queryOne<{ id: string; status: string; first_name: string; last_name: string }>(
    "select id, status, first_name, last_name from subscribers where company_id = $1 and email_key = address_key($2)",
    [company.id, email],
  );
const setStatus = (status: string) =>
  query("update subscribers set status = $2 where company_id = $1", [company.id, status]);
const block = (email: string, kind: string) =>
  query("insert into suppressions (company_id, email, kind) values ($1, $2, $3)", [company.id, email, kind]);
const blocks = () => query<{ kind: string }>("select kind from suppressions where company_id = $1", [company.id]);
const doubleOptIn = () => query("update companies set double_opt_in = true where id = $1", [company.id]);
const laterBy = (interval: string) =>
  query("update subscribers set confirm_mailed_at = confirm_mailed_at - $2::interval where company_id = $1", [
    company.id,
    interval,
  ]);
const queued = () =>
  query<{ subscriber_id: string; asked_at: Date }>(
    "select subscriber_id, asked_at from unsent_confirmations where company_id = $1",
    [company.id],
  );
/** Token of the queued email, which is then marked as sent. */
async function mailedToken(): Promise<string> {
  const [mail] = await query<{ subscriber_id: string; asked_at: Date }>(
    "delete from unsent_confirmations where company_id = $1 returning subscriber_id, asked_at",
    [company.id],
  );
  return personToken("confirm", company.id, mail!.subscriber_id, confirmableUntil(mail!.asked_at));
}
const unsubscribe = (email: string) => transaction((on) => markUnsubscribed(on, { companyId: company.id, email }));
const newList = async (name = "L"): Promise<string> => (await company.api.post("/api/emails/lists/", { name })).body.id;
const members = async (list: string) => (await company.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count;
const confirm = (token: string) => call(app.broker, "subscribers.confirm", { token });

/** Submits a form from another site, like a browser. */
const submit = (given: Record<string, string>, headers: Record<string, string> = {}) =>
  client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${company.id}/`, new URLSearchParams(given), {
    headers: { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ...headers },
  });
const forms = (attributes: string[], hosts: string[] = []) =>
  query("update companies set form_attributes = $2, form_hosts = $3 where id = $1", [company.id, attributes, hosts]);
const attributesOf = async (email: string) =>
  (
    await queryOne<{ attributes: object }>(
      "select attributes from subscribers where company_id = $1 and email_key = address_key($2)",
      [company.id, email],
    )
  )?.attributes;

describe("a public form", () => {
  test("is answered with a page in the visitor's language, the same for everybody", async () => {
    const first = await submit({ email: "ann@example.com" }, { "Accept-Language": "de" });
    expect([first.status, first.headers.get("content-type")]).toEqual([201, "text/html; charset=utf-8"]);
    expect(first.text).toContain("Vielen Dank");
    expect((await submit({ email: "ann@example.com" }, { "Accept-Language": "de" })).text).toBe(first.text);
    await doubleOptIn();
    expect((await submit({ email: "<b>@example.com" })).status).toBe(400);
    expect((await submit({ email: "bob@example.com" })).text).toContain("click the link to confirm");
    expect(await found("bob@example.com")).toMatchObject({ status: "unconfirmed" });
  });

  test("explains the error of a misspelled field", async () => {
    const answer = await submit({ email: "ann", frist_name: "Ann" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("Enter a valid email address");
    expect(answer.text).toContain("Did you mean &quot;first_name&quot;?");
  });

  test("is shown again after an error in the visitor's language, with the input and errors beside the fields", async () => {
    await forms(["city"], ["example.org"]);
    const list = await newList("Private");
    const given = { email: '"><b>ann', first_name: "Ann & Co", city: "Liège", list_id: list };
    const answer = await submit({ ...given, redirect_url: "https://example.org/a" }, { "Accept-Language": "de" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(answer.headers.get("content-security-policy")).toContain("form-action 'self' https://example.org;");
    const page = answer.text;
    expect(page).toContain('<html lang="de" dir="ltr">');
    expect(page).toContain("<style>");
    expect(page).toMatch(
      /Geben Sie eine gültige E-Mail-Adresse ein[^<]*<\/p>\s*<input type="email" id="field-0"[^>]*aria-invalid="true"/,
    );
    for (const value of ["&quot;&gt;&lt;b&gt;ann", "Ann &amp; Co", "Liège", list, "https://example.org/a"]) {
      expect(page).toContain(`value="${value}"`);
    }
    expect(page).not.toContain("Private");
    const strays = await submit({ email: "ann@example.com", redirect_url: "https://evil.example/" });
    expect([strays.status, strays.text.includes("form_hosts"), strays.text.includes("evil.example")]).toEqual([
      400,
      true,
      false,
    ]);
    expect(await found("ann@example.com")).toBeUndefined();
    expect((await submit({ email: "" }, { "Accept-Language": "ar" })).text).toContain("أدخل عنوان بريدك");
  });

  test("has a hosted page whose form subscribes; without a company or list it is a page with 404", async () => {
    await forms(["city"]);
    const list = await newList("Readers");
    await query("update lists set visibility = 'public', public_name = 'Letters' where id = $1", [list]);
    const visitor = client(app, { ip: someIp() });
    const headers = { Accept: "text/html", "Accept-Language": "fr" };
    const path = `/api/emails/public/subscribe/${company.id}/`;
    const page = await visitor.get(`${path}?list=${list}`, { headers });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<html lang="fr" dir="ltr">');
    expect(page.text).toContain("Letters");
    const names = [...page.text.matchAll(/ name="([a-z_0-9]+)"/g)].map(([, name]) => name);
    expect(names.slice(-6)).toEqual(["list_id", "email", "first_name", "last_name", "city", "contact_url_2"]);
    expect((await submit({ email: "ann@example.com", list_id: list, contact_url_2: "" })).status).toBe(201);
    expect(await members(list)).toBe(1);
    for (const missing of [`${path}?list=${SOME_ID}`, path.replace(company.id, SOME_ID)]) {
      const answer = await visitor.get(missing, { headers });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    }
  });

  test("shows the exceeded limit on the page itself", async () => {
    const ip = someIp();
    const headers = { Accept: "text/html", "Accept-Language": "es" };
    const send = () =>
      client(app, { ip }).post(
        `/api/emails/public/subscribe/${company.id}/`,
        new URLSearchParams({ email: "ann@example.com" }),
        { headers },
      );
    for (let n = 0; n < 3; n++) expect((await send()).status).toBe(201);
    const answer = await send();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
    expect(answer.text).toContain("Espere un minuto");
    expect(answer.text).toContain('name="email"');
  });

  test("returns JSON to a script", async () => {
    const answer = await submit({ email: "ann@example.com" }, { Accept: "*/*" });
    expect(answer).toMatchObject({ status: 201, body: { detail: "Thank you." } });
  });

  test("redirects to the given address, on hosts that the company allows only", async () => {
    await forms([], ["example.org", "shop.example:8080"]);
    const lead = (redirect_url: string) => submit({ email: "ann@example.com", redirect_url });
    for (const url of ["https://example.org/thanks?a=b", "http://shop.example:8080/"]) {
      const answer = await lead(url);
      expect([answer.status, answer.headers.get("location"), answer.text]).toEqual([303, url, ""]);
    }
    const strays = [
      "https://evil.example/",
      "https://example.org.evil.example/",
      "https://example.org@evil.example/",
      "javascript:alert(1)//example.org",
      "//example.org/",
      "https://shop.example/",
      "https:/\\evil.example/",
    ];
    for (const url of strays) expect([url, (await lead(url)).status]).toEqual([url, 400]);
    const asJson = await subscribe({ email: "ann@example.com", redirect_url: "https://example.org/" });
    expect(asJson).toMatchObject({ status: 201, body: { detail: "Thank you." } });
  });

  test("sets declared attributes, after confirmation if the subscriber lacks them", async () => {
    await forms(["city", "topics", "no"]);
    expect((await submit({ email: "ann@example.com", city: "Liège", no: "" })).status).toBe(201);
    expect(await attributesOf("ann@example.com")).toEqual({ city: "Liège" });
    await subscribe({ email: "ann@example.com", city: "Elsewhere", topics: ["a", "b"], no: 7 });
    expect(await attributesOf("ann@example.com")).toEqual({ city: "Liège" });
    await confirm(await mailedToken());
    expect(await attributesOf("ann@example.com")).toEqual({ city: "Liège", topics: ["a", "b"], no: 7 });
    const wrong = await subscribe({ email: "x", city: { a: 1 }, colour: "red", ctiy: "L" });
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        email: ["Enter a valid email address."],
        city: ["Not a valid string."],
        colour: ["Unknown field."],
        ctiy: ['Unknown field. Did you mean "city"?'],
      },
    ]);
  });

  test("gives the same response if its hidden field is filled in, and nothing happens", async () => {
    const list = await newList();
    const given = { email: "bot@example.com", list_id: list };
    const page = await submit({ ...given, website: "https://spam.example" });
    const json = await subscribe({ ...given, website: "x" });
    for (const website of [{ toString: null }, {}, [["x"]], [{ toString: null }]]) {
      expect(await subscribe({ ...given, website })).toMatchObject({ status: json.status, body: json.body });
    }
    expect((await submit({ ...given, contact_url_2: "x" })).text).toBe(page.text);
    expect(await subscribe({ ...given, contact_url_2: "x" })).toMatchObject({ status: json.status, body: json.body });
    expect(await found("bot@example.com")).toBeUndefined();
    expect(await members(list)).toBe(0);
    const dropped = await call(app.broker, "subscribers.droppedSignUps", {}, { meta: { companyId: company.id } });
    expect(dropped).toEqual({ count: 8, last_at: expect.any(String) });
    expect((await submit({ ...given, website: "" })).text).toBe(page.text);
    expect(await found("bot@example.com")).toBeDefined();
    expect((await subscribe(given)).body).toEqual(json.body);
  });
});

describe("public subscribe", () => {
  test("adds a subscriber, optionally to a list, with the same answer the second time", async () => {
    const list = (await company.api.post("/api/emails/lists/", { name: "L" })).body.id;
    const given = { email: " Ann@example.com ", first_name: "Ann", last_name: "Lee", list_id: list };
    const first = await subscribe(given);
    expect(first.status).toBe(201);
    expect(await found("ann@example.com")).toMatchObject({ status: "active", first_name: "Ann", last_name: "Lee" });
    const again = await subscribe({ email: "ANN@example.com" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await members(list)).toBe(1);
    expect(await queued()).toEqual([]);
  });

  test("notifies webhooks of people who subscribed and who confirmed, once for each change", async () => {
    await query(
      "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values (uuid_v7(), $1, 'https://x', '{subscribed,confirmed}', '')",
      [company.id],
    );
    const list = await newList();
    const notified = () =>
      query<{ payload: object }>(
        "select payload - 'id' - 'timestamp' as payload from (select payload::jsonb, id from webhook_deliveries where company_id = $1) d order by id",
        [company.id],
      );
    await subscribe({ email: "ann@example.com" });
    await subscribe({ email: "Ann@example.com" });
    await subscribe({ email: "ann@example.com", list_id: list });
    await subscribe({ email: "ann@example.com", list_id: list });
    const { id } = (await found("ann@example.com"))!;
    const nothing = { sent_email_id: null, campaign_id: null };
    const subscribed = { type: "subscribed", recipient: "ann@example.com", ...nothing };
    const expected: object[] = [
      { payload: { ...subscribed, metadata: { subscriber_id: id, lists: [] } } },
      { payload: { ...subscribed, metadata: { subscriber_id: id, lists: [list] } } },
    ];
    expect(await notified()).toEqual(expected);
    await unsubscribe("ann@example.com");
    await subscribe({ email: "ann@example.com", list_id: list });
    expect(await notified()).toEqual(expected);
    const token = await mailedToken();
    await confirm(token);
    await confirm(token);
    const metadata = { subscriber_id: id, lists: [list] };
    expected.push({ payload: { ...subscribed, type: "confirmed", metadata } });
    expect(await notified()).toEqual(expected);
  });

  test("does not change a known subscriber until confirmation, then fills in blank fields", async () => {
    const list = await newList();
    const evil = "you won! https://evil.example/win";
    for (const optIn of [false, true]) {
      await query("update companies set double_opt_in = $2, form_attributes = '{city}' where id = $1", [
        company.id,
        optIn,
      ]);
      const email = `ann-${optIn}@example.com`;
      await company.api.post("/api/emails/subscribers/", { email, last_name: "Lee" });
      const { updated_at } = (await company.api.get(`/api/emails/subscribers/?search=${email}`)).body.results[0];
      await subscribe({ email, first_name: evil, last_name: "Mallory", city: evil, list_id: list });
      expect(await found(email)).toMatchObject({ status: "active", first_name: "", last_name: "Lee" });
      expect([updated_at, await attributesOf(email)]).toEqual([updated_at, {}]);
      // The mailbox owner's request replaces what others entered.
      await subscribe({ email, first_name: "Ann", last_name: "Smith", city: "Bonn" });
      expect(await found(email)).toMatchObject({ first_name: "", last_name: "Lee" });
      await confirm(await mailedToken());
      expect(await found(email)).toMatchObject({ status: "active", first_name: "Ann", last_name: "Lee" });
      expect(await attributesOf(email)).toEqual({ city: "Bonn" });
    }
  });

  test("sets the attribute by a field in another case, unless two match", async () => {
    await forms(["City", "Shop"]);
    expect((await subscribe({ email: "case@example.com", city: "Bonn", Shop: "yes", SHOP: "no" })).status).toBe(400);
    expect((await subscribe({ email: "case@example.com", city: "Bonn", Shop: "yes" })).status).toBe(201);
    expect(await attributesOf("case@example.com")).toEqual({ City: "Bonn", Shop: "yes" });
    expect((await subscribe({ email: "two@example.com", city: "Bonn", CITY: "Ulm" })).status).toBe(400);
  });

  test("is not confirmed by a used link of an earlier request", async () => {
    await doubleOptIn();
    await subscribe({ email: "a@example.com" });
    const token = await mailedToken();
    await confirm(token);
    await subscribe({ email: "a@example.com", first_name: "Mallory" });
    await laterBy("1 minute");
    await confirm(token);
    expect(await found("a@example.com")).toMatchObject({ status: "active", first_name: "" });
  });

  test("neither changes a suppressed person nor sends them a confirmation", async () => {
    await subscribe({ email: "a@example.com" });
    await setStatus("bounced");
    await subscribe({ email: "a@example.com", first_name: "Ann" });
    expect([await queued(), (await found("a@example.com"))?.first_name]).toEqual([[], ""]);
  });

  test("lifts no suppression: not an unsubscribe by link, a bounce, a complaint or the owner's own", async () => {
    const list = await newList();
    for (const kind of ["unsubscribed", "bounced", "complained", "manual"]) {
      await subscribe({ email: `${kind}@example.com` });
      await block(`${kind}@example.com`, kind);
    }
    await query(
      "update subscribers set status = split_part(email, '@', 1) where company_id = $1 and email ~ '^(unsub|bounced)'",
      [company.id],
    );
    for (const kind of ["unsubscribed", "bounced", "complained", "manual"]) {
      expect(await subscribe({ email: `${kind}@example.com`, list_id: list })).toMatchObject({
        status: 201,
        body: { detail: "Thank you." },
      });
    }
    expect((await found("unsubscribed@example.com"))?.status).toBe("unsubscribed");
    expect((await found("bounced@example.com"))?.status).toBe("bounced");
    expect(await blocks()).toHaveLength(4);
    expect(await members(list)).toBe(0);
    expect(await queued()).toMatchObject([{ subscriber_id: (await found("unsubscribed@example.com"))!.id }]);

    await confirm(await mailedToken());
    expect((await found("unsubscribed@example.com"))?.status).toBe("active");
    expect((await blocks()).map(({ kind }) => kind).toSorted()).toEqual(["bounced", "complained", "manual"]);
    expect(await members(list)).toBe(1);
  });

  test("is not lifted by old links, or by links sent before an unsubscribe", async () => {
    await subscribe({ email: "a@example.com" });
    await unsubscribe("a@example.com");
    await subscribe({ email: "a@example.com" });
    const token = await mailedToken();
    await unsubscribe("a@example.com");
    await confirm(token);
    expect((await found("a@example.com"))?.status).toBe("active");
    await unsubscribe("a@example.com");
    await expect(confirm(token)).rejects.toMatchObject({ code: "GONE" });
    expect((await found("a@example.com"))?.status).toBe("unsubscribed");
    expect(await blocks()).toEqual([{ kind: "unsubscribed" }]);
  });

  test("runs the same statements for every address, sends nothing itself and answers after a fixed time", async () => {
    const list = await newList();
    await subscribe({ email: "unsubscribed@example.com" });
    await unsubscribe("unsubscribed@example.com");
    await subscribe({ email: "active@example.com" });
    await subscribe({ email: "bounced@example.com" });
    await query("update subscribers set status = 'bounced' where company_id = $1 and email ~ '^bounced'", [company.id]);
    // Ignores background statements.
    const inTheCall = new AsyncLocalStorage<true>();
    const statements = async (email: string) => {
      const texts: string[] = [];
      const spy = jest.spyOn(pg.Client.prototype, "query").mockImplementation(function (
        this: pg.Client,
        ...given: unknown[]
      ) {
        const [first] = given as unknown as [string | { text: string }];
        const text = typeof first === "string" ? first : first.text;
        // Ignores plan lookups, which are cached for a second.
        const counts = /subscribers|list_|unsent|suppressions/.test(text) && !/"planRow"/.test(text);
        if (counts && inTheCall.getStore()) texts.push(text);
        return query_.apply(this, given as never);
      } as never);
      const wish = { company_id: company.id, email, list_id: list };
      await inTheCall.run(true, () => call(app.broker, "subscribers.subscribe", wish)).finally(() => spy.mockRestore());
      return texts;
    };
    const unknown = await statements("unknown@example.com");
    expect(unknown.length).toBeGreaterThan(1);
    for (const kind of ["unknown", "active", "unsubscribed", "bounced"]) {
      const began = performance.now();
      expect(await statements(`${kind}@example.com`)).toEqual(unknown);
      // The work takes some 10 ms. Timers may fire a millisecond early.
      expect(performance.now() - began).toBeGreaterThan(48);
    }
    expect([0, 0.5, 8.6, 22.8, 49.9].map((ms) => ms + msToNextStep(0, ms))).toEqual([50, 50, 50, 50, 50]);
    expect(51 + msToNextStep(0, 51)).toBe(100);
  });

  test("is 404 for an unknown company; invalid fields are reported", async () => {
    expect((await subscribe({ email: "a@example.com" }, SOME_ID)).status).toBe(404);
    expect((await subscribe({ email: "a@example.com" }, "x")).status).toBe(404);
    expect(await subscribe({ email: "a@" })).toMatchObject({
      status: 400,
      body: { email: ["Enter a valid email address."] },
    });
    const foreign = (await (await newCompany(app)).api.post("/api/emails/lists/", { name: "L" })).body.id;
    expect(await subscribe({ email: "a@example.com", list_id: foreign })).toMatchObject({
      status: 400,
      body: { list_id: [`Invalid pk "${foreign}" - object does not exist.`] },
    });
    expect(await found("a@example.com")).toBeUndefined();
  });
});

describe("double opt-in", () => {
  beforeEach(doubleOptIn);

  test("leaves a new subscriber unconfirmed until the link is followed, which can be repeated", async () => {
    await subscribe({ email: "a@example.com" });
    const { id } = (await found("a@example.com"))!;
    expect((await found("a@example.com"))?.status).toBe("unconfirmed");
    expect(await queued()).toMatchObject([{ subscriber_id: id }]);
    const token = await mailedToken();
    const answer = { company_id: company.id, subscriber_id: id, email: "a@example.com" };
    expect(await confirm(token)).toEqual(answer);
    expect((await found("a@example.com"))?.status).toBe("active");
    expect(await confirm(token)).toEqual(answer);
  });

  test("gives the same response for unknown, active, unsubscribed and bounced addresses", async () => {
    const unknown = await subscribe({ email: "a@example.com" });
    for (const status of ["active", "unsubscribed", "bounced"]) {
      await setStatus(status);
      const { status: code, body } = await subscribe({ email: "a@example.com" });
      expect([code, body]).toEqual([201, unknown.body]);
    }
  });

  test("sends one email in 24 hours per mailbox, in any spelling, until it is confirmed; none if it is active, bounced or suppressed", async () => {
    await subscribe({ email: "a@b\u00fccher.example" });
    const token = await mailedToken();
    await laterBy("23 hours 59 minutes");
    await subscribe({ email: "a@xn--bcher-kva.example" });
    expect(await queued()).toEqual([]);
    await laterBy("2 minutes");
    await subscribe({ email: "A@b\u00fccher.example" });
    expect(await queued()).toHaveLength(1);
    await mailedToken();
    for (const status of ["active", "bounced"]) {
      await laterBy("25 hours");
      await setStatus(status);
      await subscribe({ email: "a@b\u00fccher.example" });
      expect((await found("a@b\u00fccher.example"))?.status).toBe(status);
    }
    await setStatus("unconfirmed");
    await block("a@b\u00fccher.example", "complained");
    await subscribe({ email: "a@b\u00fccher.example" });
    expect(await queued()).toEqual([]);

    await query("delete from suppressions where company_id = $1", [company.id]);
    await confirm(token);
    await unsubscribe("a@b\u00fccher.example");
    await subscribe({ email: "a@b\u00fccher.example" });
    expect(await queued()).toHaveLength(1);
  });

  test("lifts an unsubscribe only by its confirmation", async () => {
    await subscribe({ email: "a@example.com" });
    await confirm(await mailedToken());
    await unsubscribe("a@example.com");
    await subscribe({ email: "a@example.com" });
    expect(await blocks()).toHaveLength(1);
    expect((await found("a@example.com"))?.status).toBe("unsubscribed");
    await confirm(await mailedToken());
    expect(await blocks()).toEqual([]);
    expect((await found("a@example.com"))?.status).toBe("active");
  });

  test("does not undo a later unsubscribe by an old link", async () => {
    await subscribe({ email: "a@example.com" });
    const token = await mailedToken();
    await unsubscribe("a@example.com");
    // A page that says "confirmed" would be wrong.
    await expect(confirm(token)).rejects.toMatchObject({ code: "GONE" });
    expect((await found("a@example.com"))?.status).toBe("unsubscribed");
    expect(await blocks()).toHaveLength(1);
  });

  test("adds an active subscriber to lists by one link for all of them, not by the public form", async () => {
    const [one, two] = [await newList("One"), await newList("Two")];
    const unknown = await subscribe({ email: "a@example.com" });
    await confirm(await mailedToken());
    const wish = await subscribe({ email: "a@example.com", list_id: one });
    expect([wish.status, wish.body, await members(one)]).toEqual([201, unknown.body, 0]);
    expect(await found("a@example.com")).toMatchObject({ status: "active" });
    await subscribe({ email: "a@example.com", list_id: two });
    expect(await queued()).toHaveLength(1);
    const token = await mailedToken();
    for (let i = 0; i < 2; i++) await confirm(token);
    expect([await members(one), await members(two)]).toEqual([1, 1]);

    await subscribe({ email: "a@example.com", list_id: one });
    expect(await queued()).toEqual([]);
    const three = await newList("Three");
    await subscribe({ email: "a@example.com", list_id: three });
    await query("update list_wishes set asked_at = asked_at - interval '8 days' where company_id = $1", [company.id]);
    await confirm(await mailedToken());
    expect(await members(three)).toBe(0);
    await query("update list_members set left_at = now() where company_id = $1", [company.id]);
    await subscribe({ email: "a@example.com", list_id: one });
    expect([(await queued()).length, await members(one)]).toEqual([1, 0]);
  });

  test("reactivates by its link a subscriber who unsubscribed, was deleted and imported again", async () => {
    await subscribe({ email: "a@example.com" });
    await confirm(await mailedToken());
    await block("a@example.com", "unsubscribed");
    await subscribe({ email: "a@example.com" });
    await confirm(await mailedToken());
    expect([(await found("a@example.com"))?.status, await blocks()]).toEqual(["active", []]);
  });

  test("is 404 with a forged token or a deleted subscriber, and 410 with an expired token", async () => {
    await subscribe({ email: "a@example.com" });
    const { id } = (await found("a@example.com"))!;
    const token = await mailedToken();
    await expect(confirm(`${token.slice(0, -2)}AA`)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(confirm("x")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(confirm(personToken("preferences", company.id, id))).rejects.toMatchObject({ code: "NOT_FOUND" });
    const expired = personToken("confirm", company.id, id, new Date(Date.now() - DAY_MS));
    await expect(confirm(expired)).rejects.toMatchObject({ code: "GONE" });
    await company.api.delete(`/api/emails/subscribers/${id}/`);
    await expect(confirm(token)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("double opt-in of a list", () => {
  const newServer = () =>
    query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email)
       values (uuid_v7(), $1, 'S', 'localhost', 25, 'news@example.com')`,
      [company.id],
    );
  const listWith = async (double_opt_in: boolean | null, name = "L"): Promise<string> => {
    const id = await newList(name);
    await query("update lists set double_opt_in = $3 where company_id = $1 and id = $2", [
      company.id,
      id,
      double_opt_in,
    ]);
    return id;
  };
  const listsOf = async (email: string): Promise<string[]> =>
    (await company.api.get(`/api/emails/subscribers/${(await found(email))!.id}/`)).body.lists;

  test("needs an SMTP configuration, and null restores the company's setting", async () => {
    const sentence = "An SMTP configuration is needed to send confirmation mails. Create one first.";
    const refused = { status: 400, body: { double_opt_in: [sentence] } };
    const wanted = { name: "L", double_opt_in: true };
    expect(await company.api.post("/api/emails/lists/", wanted)).toMatchObject(refused);
    const off = await company.api.post("/api/emails/lists/", { name: "Off", double_opt_in: false });
    expect(off).toMatchObject({ status: 201, body: { double_opt_in: false } });
    expect(await company.api.patch(`/api/emails/lists/${off.body.id}/`, { double_opt_in: true })).toMatchObject(
      refused,
    );
    await newServer();
    const on = await company.api.post("/api/emails/lists/", wanted);
    expect(on).toMatchObject({ status: 201, body: { double_opt_in: true } });
    expect((await company.api.patch(`/api/emails/lists/${on.body.id}/`, { name: "M" })).body.double_opt_in).toBe(true);
    expect((await company.api.patch(`/api/emails/lists/${on.body.id}/`, { double_opt_in: null })).body).toMatchObject({
      double_opt_in: null,
    });
    const { results } = (await company.api.get("/api/emails/lists/")).body;
    expect(results.map((list: { double_opt_in: unknown }) => list.double_opt_in).toSorted()).toEqual([false, null]);
  });

  test("uses the list's setting, else the company's; the response tells which, even to a bot that filled the hidden field", async () => {
    const asks = { detail: "Thank you. Please follow the link in the email we sent you to confirm." };
    const [on, off, open] = [await listWith(true, "On"), await listWith(false, "Off"), await listWith(null, "Open")];
    const statusWith = async (email: string, list_id: string) => {
      const { body } = await subscribe({ email, list_id });
      expect((await subscribe({ email: `bot-${email}`, list_id, website: "x" })).body).toEqual(body);
      return [body, (await found(email))?.status];
    };
    expect(await statusWith("a@example.com", on)).toEqual([asks, "unconfirmed"]);
    expect(await statusWith("b@example.com", open)).toEqual([{ detail: "Thank you." }, "active"]);
    await doubleOptIn();
    expect(await statusWith("c@example.com", off)).toEqual([{ detail: "Thank you." }, "active"]);
    expect(await statusWith("d@example.com", open)).toEqual([asks, "unconfirmed"]);
  });

  test("keeps an active subscriber active, who joins such lists only by the one link that confirms all of them", async () => {
    const [one, two, off] = [await listWith(true, "One"), await listWith(true, "Two"), await listWith(null, "Off")];
    await subscribe({ email: "a@example.com", list_id: off });
    for (const list_id of [one, two]) await subscribe({ email: "a@example.com", list_id });
    expect(await found("a@example.com")).toMatchObject({ status: "active" });
    expect(await listsOf("a@example.com")).toEqual([off]);
    expect(await queued()).toHaveLength(1);
    await confirm(await mailedToken());
    expect((await listsOf("a@example.com")).toSorted()).toEqual([one, two, off].toSorted());
  });

  test("keeps status and suppression of unsubscribed people until the link is used, whatever list they request", async () => {
    const [on, off] = [await listWith(true, "On"), await listWith(false, "Off")];
    await subscribe({ email: "a@example.com" });
    await unsubscribe("a@example.com");
    for (const list_id of [off, on]) await subscribe({ email: "a@example.com", list_id });
    expect([(await found("a@example.com"))?.status, (await blocks()).length]).toEqual(["unsubscribed", 1]);
    expect(await listsOf("a@example.com")).toEqual([]);
    expect(await queued()).toHaveLength(1);
    await confirm(await mailedToken());
    expect([(await found("a@example.com"))?.status, await blocks()]).toEqual(["active", []]);
    expect((await listsOf("a@example.com")).toSorted()).toEqual([on, off].toSorted());
  });

  test("keeps a pending list pending when the subscriber becomes active by another list", async () => {
    const [on, off, own] = [await listWith(true, "On"), await listWith(false, "Off"), await listWith(true, "Own")];
    for (const list_id of [on, own]) await subscribe({ email: "a@example.com", list_id });
    const { id } = (await found("a@example.com"))!;
    await company.api.post("/api/emails/subscribers/bulk-update-lists/", { subscriber_ids: [id], add_to_lists: [own] });
    await subscribe({ email: "a@example.com", list_id: off });
    expect(await found("a@example.com")).toMatchObject({ status: "active" });
    expect((await listsOf("a@example.com")).toSorted()).toEqual([off, own].toSorted());
    await confirm(await mailedToken());
    expect((await listsOf("a@example.com")).toSorted()).toEqual([on, off, own].toSorted());
  });

  test("is cancelled by leaving the list on the preferences page", async () => {
    const on = await listWith(true);
    await query("update lists set visibility = 'public' where company_id = $1 and id = $2", [company.id, on]);
    await subscribe({ email: "a@example.com" });
    await subscribe({ email: "a@example.com", list_id: on });
    const { id } = (await found("a@example.com"))!;
    const path = `/api/emails/public/preferences/${personToken("preferences", company.id, id)}/`;
    const left = await client(app, { ip: someIp() }).put(path, { lists: [{ id: on, subscribed: false }] });
    expect(left.status).toBe(200);
    await confirm(await mailedToken());
    expect(await members(on)).toBe(0);
  });
});
