import { query, queryOne } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { call } from "../../../services/call.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { newId } from "../../../services/lib/ids.ts";
import type { Document } from "../../../services/lib/shapes.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { http, newWorld, type World } from "./world.ts";

const json = http({ accept: "application/json" });
const bodyOf = (document: Document) => JSON.parse(document.body as string);

describe("recipients' pages", () => {
  let app: App;
  let world: World;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts", "subscribers", "campaigns", "renderer", "tracking"] });
  });
  beforeEach(async () => {
    world = await newWorld();
  });
  afterAll(() => app.stop());

  const mail = () => world.mails[0]!;
  const show = (meta: Caller = http()) =>
    call(app.broker, "tracking.unsubscribePage", { sent_email_id: mail().id }, { meta });
  const unsubscribe = (body: object = {}, meta: Caller = http({ method: "POST" })) =>
    call(app.broker, "tracking.unsubscribe", { sent_email_id: mail().id, ...body }, { meta });
  const events = () =>
    query("select type, metadata, sent_email_id, recipient from email_events where company_id = $1", [world.companyId]);
  const statusOf = async () =>
    (await queryOne<{ status: string }>("select status from subscribers where id = $1", [mail().subscriberId]))!.status;
  const preferencesToken = () => personToken("preferences", world.companyId, mail().subscriberId);

  describe("the unsubscribe page", () => {
    test("shows a form on GET without any change", async () => {
      const { body, content_type, headers } = await show();
      expect(content_type).toBe("text/html; charset=utf-8");
      expect(body).toContain('<form method="post">');
      expect(body).toContain("Ärger &amp; Söhne");
      expect(body).toContain("Main Street 1");
      expect(headers?.["content-security-policy"]).toContain("default-src 'none'");
      expect(headers?.["set-cookie"]).toBeUndefined();
      expect(await statusOf()).toBe("active");
      expect(await events()).toEqual([]);
    });

    test("unsubscribes once on POST: suppression, status, one event; repeating it is fine", async () => {
      const one = await unsubscribe(
        { "List-Unsubscribe": "One-Click" },
        http({ method: "POST", userAgent: "", accept: "" }),
      );
      expect(one.status ?? 200).toBe(200);
      await unsubscribe();
      await Promise.all([unsubscribe(), unsubscribe({ from: "page" })]);
      expect(await statusOf()).toBe("unsubscribed");
      expect(await events()).toEqual([
        { type: "unsubscribed", metadata: { method: "one_click" }, sent_email_id: mail().id, recipient: mail().email },
      ]);
      const blocked = await query("select kind from suppressions where company_id = $1", [world.companyId]);
      expect(blocked).toEqual([{ kind: "unsubscribed" }]);
    });

    test("recognises its own form, and returns JSON to JSON", async () => {
      expect((await unsubscribe({ from: "page" })).body).toContain("You are unsubscribed");
      expect(await events()).toMatchObject([{ metadata: { method: "page" } }]);
      expect(bodyOf(await unsubscribe({}, http({ method: "POST", accept: "application/json" })))).toEqual({
        detail: "Unsubscribed.",
        email: mail().email,
      });
    });

    test("is a page with status 404, or a JSON problem, for an unknown message", async () => {
      const ask = (meta: Caller) => call(app.broker, "tracking.unsubscribePage", { sent_email_id: newId() }, { meta });
      expect(await ask(http({ acceptLanguage: "de" }))).toMatchObject({
        status: 404,
        content_type: "text/html; charset=utf-8",
      });
      await expect(ask(json)).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    test("reveals no further credentials: no link to the preferences, before or after", async () => {
      expect((await show()).body).not.toContain("/preferences/");
      expect((await unsubscribe({ from: "page" })).body).not.toContain("/preferences/");
    });

    test("is in the reader's language, Arabic from right to left, English for all others", async () => {
      for (const [acceptLanguage, lang, dir] of [
        ["de-CH,de;q=0.9,en;q=0.5", "de", "ltr"],
        ["pt, fr;q=0.7", "fr", "ltr"],
        ["es-419", "es", "ltr"],
        ["ar", "ar", "rtl"],
        ["ja", "en", "ltr"],
      ]) {
        const { body, headers } = await show(http({ acceptLanguage }));
        expect(body).toContain(`<html lang="${lang}" dir="${dir}">`);
        expect(headers?.["content-language"]).toBe(lang);
      }
    });

    test("shows a hostile company name as text, and a hostile website not as a link", async () => {
      await query("update companies set name = $2, website = $3 where id = $1", [
        world.companyId,
        '<script>alert("1")</script>{{ 7777 * 7 }}',
        "javascript:alert(1)",
      ]);
      const { body } = await show();
      expect(body).not.toContain("<script");
      expect(body).not.toContain("54439");
      expect(body).not.toContain("javascript:");
    });
  });

  describe("the choice to leave only this list", () => {
    let listId: string;
    beforeEach(async () => {
      listId = newId();
      await query(
        "insert into lists (id, company_id, name, visibility, public_name) values ($1, $2, 'news-2026-b', 'public', 'News <1>')",
        [listId, world.companyId],
      );
      await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
        world.companyId,
        listId,
        mail().subscriberId,
      ]);
      await query("update campaigns set list_id = $2 where id = $1", [world.campaignId, listId]);
    });
    const ONLY = { from: "page", only_this_list: "true" };
    const sizeOf = async (list: string) =>
      (await queryOne<{ n: number }>("select count_of($1, 'list_members', $2) n", [world.companyId, list]))!.n;
    const makePrivate = () => query("update lists set visibility = 'private' where id = $1", [listId]);
    const suppressions = () => query("select kind from suppressions where company_id = $1", [world.companyId]);

    test("is offered with the list's public name, and leaves only that list: no suppression, no event", async () => {
      const { body } = await show();
      expect(body).toMatch(/<button type="submit" class="second">Only from this list: .?News &lt;1&gt;.?<\/button>/);
      expect((body as string).match(/<form method="post"/g)).toHaveLength(2);
      expect(body).not.toContain("news-2026-b");
      expect(await sizeOf(listId)).toBe(1);
      for (let n = 0; n < 2; n++) {
        const left = await unsubscribe(ONLY);
        expect(left.status ?? 200).toBe(200);
        expect(left.body).toContain("You are unsubscribed from this list");
        expect(left.body).toContain("News &lt;1&gt;");
      }
      expect([await sizeOf(listId), await statusOf()]).toEqual([0, "active"]);
      expect([await suppressions(), await events()]).toEqual([[], []]);
      expect((await show()).body).not.toContain("News");
    });

    test("does not limit a later one-click of the same message to the list, also with the field in its body", async () => {
      await unsubscribe({ ...ONLY, "List-Unsubscribe": "One-Click" }, http({ method: "POST", accept: "" }));
      expect(await statusOf()).toBe("unsubscribed");
      expect(await sizeOf(listId)).toBe(1);
      expect(await events()).toMatchObject([{ type: "unsubscribed", metadata: { method: "one_click" } }]);
      await query("delete from suppressions where company_id = $1", [world.companyId]);
      await query("update subscribers set status = 'active' where company_id = $1", [world.companyId]);
      await unsubscribe(ONLY);
      expect(await statusOf()).toBe("active");
      await unsubscribe({ "List-Unsubscribe": "One-Click" });
      expect(await statusOf()).toBe("unsubscribed");
      expect(await suppressions()).toEqual([{ kind: "unsubscribed" }]);
    });

    test("is not offered for a private list; a button shown earlier still works, without naming it", async () => {
      await makePrivate();
      expect((await show()).body).not.toMatch(/only_this_list|News|news-2026-b/);
      const { body } = await unsubscribe(ONLY);
      expect(body).toContain("You are unsubscribed from this list");
      expect(body).not.toMatch(/News|news-2026-b/);
      expect([await sizeOf(listId), await statusOf()]).toEqual([0, "active"]);
    });

    test("is not offered for a message without a list; a program gets a 400, nothing changes", async () => {
      await query("update campaigns set list_id = null where id = $1", [world.campaignId]);
      expect((await show()).body).not.toContain("only_this_list");
      expect((await unsubscribe(ONLY)).body).toContain(">Unsubscribe</button>");
      const asJson = http({ method: "POST", accept: "application/json" });
      await expect(unsubscribe({ only_this_list: true }, asJson)).rejects.toMatchObject({ code: "BAD_REQUEST" });
      expect([await sizeOf(listId), await statusOf(), await events()]).toEqual([1, "active", []]);
    });

    test("does not affect another company's list of the same person, and a program gets JSON", async () => {
      const other = await newWorld();
      await query("update subscribers set email = $2 where id = $1", [other.mails[0]!.subscriberId, mail().email]);
      const theirs = newId();
      await query("insert into lists (id, company_id, name, visibility) values ($1, $2, 'Theirs', 'public')", [
        theirs,
        other.companyId,
      ]);
      await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
        other.companyId,
        theirs,
        other.mails[0]!.subscriberId,
      ]);
      const answer = await unsubscribe({ only_this_list: true }, http({ method: "POST", accept: "application/json" }));
      expect(bodyOf(answer)).toEqual({ detail: "Unsubscribed from the list.", email: mail().email });
      expect(
        await query("select list_id from list_members where left_at is not null and list_id = any ($1)", [
          [listId, theirs],
        ]),
      ).toEqual([{ list_id: listId }]);
    });

    test("settles a message in doubt, like any of its links", async () => {
      await query("update sent_emails set status = $2, sent_at = null where campaign_no = $1 and seq = 1", [
        world.campaignNo,
        SENT_EMAIL_STATUS.unknown,
      ]);
      await unsubscribe(ONLY);
      const [row] = await query<{ status: number }>(
        "select status from sent_emails where campaign_no = $1 and seq = 1",
        [world.campaignNo],
      );
      expect(row!.status).toBe(SENT_EMAIL_STATUS.sent);
    });
  });

  describe("a company's branding", () => {
    const brand = (branding: object) =>
      query("update companies set branding = $2 where id = $1", [world.companyId, JSON.stringify(branding)]);

    test("words, logo, colours and language are applied to the page", async () => {
      await brand({
        name: "Lantern",
        logo_url: "https://cdn.example:8443/l.png",
        color: "#7a1f3d",
        footer_text: "Harbour Street 1",
        language: "de",
      });
      const { body, headers } = await show(http({ acceptLanguage: "ja" }));
      expect(body).toContain('<html lang="de" dir="ltr">');
      expect(body).toContain('<img src="https://cdn.example:8443/l.png" alt=""');
      expect(body).toContain("Lantern</header>");
      expect(body).toContain("Harbour Street 1");
      expect(body).toContain("--accent:#7a1f3d;");
      for (const replaced of ["Ärger", "Main Street"]) expect(body).not.toContain(replaced);
      expect(headers?.["content-security-policy"]).toContain("; img-src https://cdn.example:8443; ");
      expect((await show(http({ acceptLanguage: "fr" }))).headers?.["content-language"]).toBe("fr");
    });

    test("stored values are escaped, and do not extend the page's policy", async () => {
      const { headers: plain } = await show();
      const hostile = '"></style><script>alert(1)</script>{{ 7777 * 7 }}';
      await brand({
        name: hostile,
        logo_url: "https://a;script-src/'unsafe-inline'",
        color: hostile,
        background: `#ffffff;}${hostile}`,
        footer_text: hostile,
        language: "__proto__",
      });
      const { body, headers } = await show();
      expect(body).not.toMatch(/<script|54439|<img/);
      expect((body as string).match(/<\/style>/g)).toHaveLength(2);
      const policy = (text?: string) => text!.replace(/style-src [^;]*/, "style-src");
      expect(policy(headers?.["content-security-policy"])).toBe(policy(plain?.["content-security-policy"]));
    });
  });

  describe("the preferences", () => {
    let lists: string[];
    beforeEach(async () => {
      lists = [newId(), newId()];
      await query(
        `insert into lists (id, company_id, name, visibility, public_name, public_description)
         values ($1, $3, 'Offers', 'public', '', ''), ($2, $3, 'news-2026-b', 'public', 'News', 'Once a <month>')`,
        [...lists, world.companyId],
      );
      await query(
        "insert into list_members (company_id, list_id, subscriber_id) select $1, l, $2 from unnest($3::uuid[]) l",
        [world.companyId, mail().subscriberId, lists],
      );
    });
    const get = (meta: Caller, token = preferencesToken()) =>
      call(app.broker, "tracking.preferencesPage", { token }, { meta });
    const put = (change: object, meta: Caller = http({ method: "PUT", accept: "application/json" })) =>
      call(app.broker, "tracking.updatePreferences", { token: preferencesToken(), ...change }, { meta });

    test("are available as JSON and as a page", async () => {
      expect(bodyOf(await get(json))).toEqual({
        email: mail().email,
        first_name: "Ann",
        last_name: "",
        subscribed: true,
        lists: [
          { id: lists[1], name: "News", subscribed: true },
          { id: lists[0], name: "Offers", subscribed: true },
        ],
      });
      const { body } = await get(http());
      expect(body).toContain('value="Ann"');
      expect((body as string).match(/ checked/g)).toHaveLength(3);
    });

    test("show public lists only, by their public names, joined or not", async () => {
      const [house, more] = [newId(), newId()];
      await query(
        `insert into lists (id, company_id, name, visibility, public_name)
         values ($1, $3, 'VIP, pays late', 'private', 'Secret'), ($2, $3, 'More', 'public', '')`,
        [house, more, world.companyId],
      );
      await query("insert into list_members (company_id, list_id, subscriber_id) values ($1, $2, $3)", [
        world.companyId,
        house,
        mail().subscriberId,
      ]);
      expect(bodyOf(await get(json)).lists).toMatchObject([
        { name: "More", subscribed: false },
        { name: "News" },
        { name: "Offers" },
      ]);
      const { body } = await get(http());
      expect(body).toContain("Once a &lt;month&gt;");
      for (const hidden of ["VIP", "Secret", "news-2026-b"]) expect(body).not.toContain(hidden);
      const form = { from: "page", subscribed: "on", list: [more] };
      await put(form, http({ method: "POST" }));
      expect(bodyOf(await get(json)).lists.map(({ subscribed }: { subscribed: boolean }) => subscribed)).toEqual([
        true,
        false,
        false,
      ]);
      await put({ lists: [{ id: house, subscribed: false }] });
      const members = await query<{ list_id: string }>(
        "select list_id from list_members where company_id = $1 and subscriber_id = $2 and left_at is null",
        [world.companyId, mail().subscriberId],
      );
      expect(members.map(({ list_id }) => list_id).toSorted()).toEqual([house, more].toSorted());
      expect(await query("select count_of($1, 'list_members', $2) n", [world.companyId, more])).toEqual([{ n: 1 }]);
    });

    test("change only the fields that a PUT has", async () => {
      const changed = bodyOf(await put({ first_name: "Anna", lists: [{ id: lists[0], subscribed: false }] }));
      expect(changed).toMatchObject({ first_name: "Anna", subscribed: true });
      expect(changed.lists).toMatchObject([{ subscribed: true }, { subscribed: false }]);
      expect(await events()).toEqual([]);
      const back = bodyOf(
        await put({
          lists: [
            { id: lists[0], subscribed: true },
            { id: newId(), subscribed: true },
          ],
        }),
      );
      expect(back.lists).toHaveLength(2);
      expect(back.lists.every(({ subscribed }: { subscribed: boolean }) => subscribed)).toBe(true);
    });

    test("let people return who unsubscribed, were deleted and imported again", async () => {
      await query("insert into suppressions (company_id, email, kind) values ($1, $2, 'unsubscribed')", [
        world.companyId,
        mail().email.toUpperCase(),
      ]);
      expect(bodyOf(await get(json)).subscribed).toBe(false);
      expect(bodyOf(await put({ subscribed: true })).subscribed).toBe(true);
      expect(await query("select from suppressions where company_id = $1", [world.companyId])).toEqual([]);
    });

    test("unsubscribe, and subscribe again", async () => {
      expect(bodyOf(await put({ subscribed: false })).subscribed).toBe(false);
      await put({ subscribed: false });
      expect(await events()).toMatchObject([
        { type: "unsubscribed", metadata: { method: "preferences" }, sent_email_id: mail().id },
      ]);
      expect(bodyOf(await put({ subscribed: true })).subscribed).toBe(true);
      expect(await query("select from suppressions where company_id = $1", [world.companyId])).toEqual([]);
    });

    test("do not lift the company's own suppression", async () => {
      await put({ subscribed: false });
      await query("update suppressions set kind = 'complained' where company_id = $1", [world.companyId]);
      await put({ subscribed: true });
      expect(await query("select kind from suppressions where company_id = $1", [world.companyId])).toEqual([
        { kind: "complained" },
      ]);
    });

    test("treat unticked boxes of the page's form as no", async () => {
      const form = { from: "page", first_name: "Ann", last_name: "Lee", subscribed: "on", list: lists[1] };
      const { body } = await put(form, http({ method: "POST" }));
      expect(body).toContain("Your preferences are saved.");
      expect(bodyOf(await get(json))).toMatchObject({
        last_name: "Lee",
        subscribed: true,
        lists: [{ subscribed: true }, { subscribed: false }],
      });
      await put({ from: "page" }, http({ method: "POST" }));
      expect(await statusOf()).toBe("unsubscribed");
    });

    test("refuse tokens of another kind and damaged ones", async () => {
      const confirm = personToken("confirm", world.companyId, mail().subscriberId);
      for (const token of [confirm, `${preferencesToken().slice(0, -2)}xx`, "nonsense"]) {
        await expect(get(json, token)).rejects.toMatchObject({ code: "NOT_FOUND" });
      }
    });
  });

  describe("the confirmation page", () => {
    const inAnHour = () => new Date(Date.now() + 3_600_000);
    const token = (expiresAt = inAnHour()) => personToken("confirm", world.companyId, mail().subscriberId, expiresAt);
    beforeEach(() => query("update subscribers set status = 'unconfirmed' where company_id = $1", [world.companyId]));

    test("asks on GET and confirms on POST, and repeating it is fine", async () => {
      const asked = await call(app.broker, "tracking.confirmPage", { token: token() }, { meta: http() });
      expect(asked.body).toContain("Yes, subscribe me");
      expect(await statusOf()).toBe("unconfirmed");
      for (let i = 0; i < 2; i++) {
        const done = await call(app.broker, "tracking.confirm", { token: token() }, { meta: http({ method: "POST" }) });
        expect(done.body).toContain("confirmed");
      }
      expect(await statusOf()).toBe("active");
    });

    test("is 410 with an expired link, and 404 with a damaged one", async () => {
      const expired = token(new Date(Date.now() - 1_000));
      expect(await call(app.broker, "tracking.confirmPage", { token: expired }, { meta: http() })).toMatchObject({
        status: 410,
      });
      await expect(call(app.broker, "tracking.confirm", { token: expired }, { meta: json })).rejects.toMatchObject({
        code: "GONE",
      });
      await expect(call(app.broker, "tracking.confirm", { token: "x" }, { meta: json })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      expect(await statusOf()).toBe("unconfirmed");
    });
  });

  test("view in browser shows the message in a sandbox without scripts", async () => {
    const document = await call(app.broker, "tracking.view", { sent_email_id: mail().id }, { meta: http() });
    expect(document.body).toContain("Hi ");
    expect(document.headers?.["content-security-policy"]).toMatch(/default-src 'none'.*sandbox/);
    expect(document.headers?.["content-security-policy"]).not.toContain("allow-scripts");
  });
});
