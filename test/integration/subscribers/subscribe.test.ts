import { query, queryOne } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { emailQuotaExceeded } from "../../../services/lib/errors.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";
const DAY_MS = 86_400_000;

let app: App;
let company: TestCompany;
let mailed: { subscriber_id: string; confirm_url: string; companyId?: string }[] = [];
let mailFails: Error | undefined;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"], env: { TRUST_PROXY: "1" } });
  // Stands in for the campaigns service: records what would be sent.
  app.broker.createService({
    name: "campaigns",
    actions: {
      sendConfirmation(ctx: { params: { subscriber_id: string; confirm_url: string }; meta: { companyId?: string } }) {
        if (mailFails) throw mailFails;
        mailed.push({ ...ctx.params, companyId: ctx.meta.companyId });
        return { campaign_id: SOME_ID };
      },
    },
  });
});
beforeEach(async () => {
  company = await newCompany(app);
  mailed = [];
  mailFails = undefined;
});
afterAll(() => app.stop());

const subscribe = (given: object, companyId = company.id) =>
  client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${companyId}/`, given);

const found = (email: string) =>
  queryOne<{ id: string; status: string; first_name: string; last_name: string }>(
    "select id, status, first_name, last_name from subscribers where company_id = $1 and email_key = lower($2)",
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
const tokenOf = (url: string) => /\/confirm\/([^/]+)\/$/.exec(url)![1]!;
const confirm = (token: string) => call(app.broker, "subscribers.confirm", { token });

describe("public subscribe", () => {
  test("adds a subscriber, also to a list, and answers the same the second time", async () => {
    const list = (await company.api.post("/api/emails/lists/", { name: "L" })).body.id;
    const given = { email: " Ann@example.com ", first_name: "Ann", last_name: "Lee", list_id: list };
    const first = await subscribe(given);
    expect(first.status).toBe(201);
    expect(await found("ann@example.com")).toMatchObject({ status: "active", first_name: "Ann", last_name: "Lee" });
    const again = await subscribe({ email: "ANN@example.com" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await company.api.get(`/api/emails/lists/${list}/`)).body.subscriber_count).toBe(1);
    expect(mailed).toEqual([]);
  });

  test("fills in a blank name and never changes an existing one", async () => {
    await subscribe({ email: "a@example.com", first_name: "Ann" });
    await subscribe({ email: "a@example.com", first_name: "Mallory", last_name: "Lee" });
    expect(await found("a@example.com")).toMatchObject({ first_name: "Ann", last_name: "Lee" });
  });

  test("lifts an unsubscribe, never a bounce, a complaint or the owner's block", async () => {
    for (const kind of ["unsubscribed", "bounced", "complained", "manual"]) {
      await subscribe({ email: `${kind}@example.com` });
      await block(`${kind}@example.com`, kind);
    }
    await query(
      "update subscribers set status = split_part(email, '@', 1) where company_id = $1 and email ~ '^(unsub|bounced)'",
      [company.id],
    );
    for (const kind of ["unsubscribed", "bounced", "complained", "manual"]) {
      expect((await subscribe({ email: `${kind}@example.com` })).status).toBe(201);
    }
    expect((await found("unsubscribed@example.com"))?.status).toBe("active");
    expect((await found("bounced@example.com"))?.status).toBe("bounced");
    expect((await blocks()).map(({ kind }) => kind).toSorted()).toEqual(["bounced", "complained", "manual"]);
  });

  test("an unknown company is 404; invalid fields are reported", async () => {
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

  test("a new subscriber is unconfirmed until the mailed link is followed, which can be done twice", async () => {
    await subscribe({ email: "a@example.com" });
    const { id } = (await found("a@example.com"))!;
    expect((await found("a@example.com"))?.status).toBe("unconfirmed");
    expect(mailed).toEqual([
      {
        subscriber_id: id,
        companyId: company.id,
        confirm_url: expect.stringMatching(/^http:\/\/.+\/api\/emails\/public\/confirm\/[\w-]+\/$/),
      },
    ]);
    const token = tokenOf(mailed[0]!.confirm_url);
    const answer = { company_id: company.id, subscriber_id: id, email: "a@example.com" };
    expect(await confirm(token)).toEqual(answer);
    expect((await found("a@example.com"))?.status).toBe("active");
    expect(await confirm(token)).toEqual(answer);
  });

  test("the answer is the same for unknown, active, unsubscribed and bounced addresses", async () => {
    const unknown = await subscribe({ email: "a@example.com" });
    for (const status of ["active", "unsubscribed", "bounced"]) {
      await setStatus(status);
      const { status: code, body } = await subscribe({ email: "a@example.com" });
      expect([code, body]).toEqual([201, unknown.body]);
    }
  });

  test("one mail a minute for an address, none if it is active, bounced or blocked", async () => {
    await subscribe({ email: "a@example.com" });
    await subscribe({ email: "a@example.com" });
    expect(mailed).toHaveLength(1);
    await laterBy("2 minutes");
    await subscribe({ email: "a@example.com" });
    expect(mailed).toHaveLength(2);
    for (const status of ["active", "bounced"]) {
      await laterBy("2 minutes");
      await setStatus(status);
      await subscribe({ email: "a@example.com" });
      expect((await found("a@example.com"))?.status).toBe(status);
    }
    await setStatus("unconfirmed");
    await block("a@example.com", "complained");
    await subscribe({ email: "a@example.com" });
    expect(mailed).toHaveLength(2);
  });

  test("an unsubscribe is lifted by the confirmation, not by the request", async () => {
    await subscribe({ email: "a@example.com" });
    await laterBy("2 minutes");
    await setStatus("unsubscribed");
    await block("a@example.com", "unsubscribed");
    await subscribe({ email: "a@example.com" });
    expect(await blocks()).toHaveLength(1);
    expect((await found("a@example.com"))?.status).toBe("unconfirmed");
    await confirm(tokenOf(mailed[1]!.confirm_url));
    expect(await blocks()).toEqual([]);
    expect((await found("a@example.com"))?.status).toBe("active");
  });

  test("an old link does not undo an unsubscribe that came after it", async () => {
    await subscribe({ email: "a@example.com" });
    const token = tokenOf(mailed[0]!.confirm_url);
    await confirm(token);
    await setStatus("unsubscribed");
    await block("a@example.com", "unsubscribed");
    // A "confirmed" page would be wrong.
    await expect(confirm(token)).rejects.toMatchObject({ code: "GONE" });
    expect((await found("a@example.com"))?.status).toBe("unsubscribed");
    expect(await blocks()).toHaveLength(1);
  });

  test("an active subscriber is added to a list by the link in the mail, not by the public form", async () => {
    const list_id: string = (await company.api.post("/api/emails/lists/", { name: "L" })).body.id;
    const members = async () => (await company.api.get(`/api/emails/lists/${list_id}/`)).body.subscriber_count;
    const unknown = await subscribe({ email: "a@example.com" });
    await confirm(tokenOf(mailed[0]!.confirm_url));
    await laterBy("2 minutes");
    const wish = await subscribe({ email: "a@example.com", list_id });
    expect([wish.status, wish.body, await members()]).toEqual([201, unknown.body, 0]);
    expect(await found("a@example.com")).toMatchObject({ status: "active" });
    for (let i = 0; i < 2; i++) await confirm(tokenOf(mailed[1]!.confirm_url));
    expect(await members()).toBe(1);

    await laterBy("2 minutes");
    await subscribe({ email: "a@example.com", list_id });
    expect(mailed).toHaveLength(2);
    await query("update list_members set left_at = now() where company_id = $1", [company.id]);
    await subscribe({ email: "a@example.com", list_id });
    expect([mailed.length, await members()]).toEqual([3, 0]);
  });

  test("a subscriber who unsubscribed, was deleted and imported again is reactivated by the link", async () => {
    await subscribe({ email: "a@example.com" });
    await setStatus("active");
    await block("a@example.com", "unsubscribed");
    await laterBy("2 minutes");
    await subscribe({ email: "a@example.com" });
    await confirm(tokenOf(mailed[1]!.confirm_url));
    expect([(await found("a@example.com"))?.status, await blocks()]).toEqual(["active", []]);
  });

  test("an address gets at most five confirmations a day, however often they are requested", async () => {
    await subscribe({ email: "a@example.com" });
    const { id } = (await found("a@example.com"))!;
    const mailedAt = (at: string) =>
      query(
        `with c as (insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id,
             is_internal, created_at)
           select gen_random_uuid(), $1, 'Confirmation', 'custom', 'completed', gen_random_uuid(), gen_random_uuid(), true,
             now() - $3::interval
           from generate_series(1, 5) returning id)
         insert into sent_emails (company_id, campaign_id, seq, subscriber_id, email)
         select $1, id, 1, $2, 'a@example.com' from c`,
        [company.id, id, at],
      );
    await mailedAt("25 hours");
    await laterBy("2 minutes");
    await subscribe({ email: "a@example.com" });
    expect(mailed).toHaveLength(2);
    await mailedAt("23 hours");
    await laterBy("2 minutes");
    expect((await subscribe({ email: "a@example.com" })).status).toBe(201);
    expect(mailed).toHaveLength(2);
  });

  test("a mail that could not be created is an error, and the next attempt need not wait", async () => {
    const wish = { company_id: company.id, email: "a@example.com" };
    mailFails = new Error("There is no way to mail");
    await expect(call(app.broker, "subscribers.subscribe", wish)).rejects.toThrow("no way to mail");
    mailFails = undefined;
    expect((await subscribe(wish)).status).toBe(201);
    expect(mailed).toHaveLength(1);
  });

  test("a company that cannot send gives the same public answer", async () => {
    mailFails = emailQuotaExceeded(10);
    const unknown = await subscribe({ email: "a@example.com" });
    await setStatus("active");
    const known = await subscribe({ email: "a@example.com" });
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    expect(known.status).toBe(201);
  });

  test("a forged token or a deleted subscriber is 404, an expired token 410", async () => {
    await subscribe({ email: "a@example.com" });
    const { id } = (await found("a@example.com"))!;
    const token = tokenOf(mailed[0]!.confirm_url);
    await expect(confirm(`${token.slice(0, -2)}AA`)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(confirm("x")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(confirm(personToken("preferences", company.id, id))).rejects.toMatchObject({ code: "NOT_FOUND" });
    const expired = personToken("confirm", company.id, id, new Date(Date.now() - DAY_MS));
    await expect(confirm(expired)).rejects.toMatchObject({ code: "GONE" });
    await company.api.delete(`/api/emails/subscribers/${id}/`);
    await expect(confirm(token)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
