/**
 * Invitations, verified addresses, passwords, sessions and two-factor authentication over HTTP, with real system
 * emails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { SystemMail } from "../../../models/system-mail.ts";
import { User } from "../../../models/user.ts";
import { beginAttempt } from "../../../services/accounts/people/login-limits.ts";
import { call } from "../../../services/call.ts";
import { config } from "../../../services/lib/config.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Answer, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { totpCode, totpStep } from "../../support/totp.ts";

const PASSWORD = "correct horse battery";
const OTHER = "quite another staple";
const seen = ({ status, body }: Answer) => [status, body];

let app: App;
let smtp: SmtpServer;
let number = 0;

beforeAll(async () => {
  smtp = await startSmtpServer();
  app = await startApp({
    services: ["accounts", "gateway"],
    env: { SYSTEM_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, SYSTEM_FROM: "accounts@service.example" },
  });
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
});

/** Waits for emails, and sends those that the service would send within a second. */
async function until<T>(what: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 50_000; Date.now() < deadline; await sleep(50)) {
    await app.broker.call("accounts.sendSystemMail");
    const found = await what();
    if (found !== undefined) return found;
  }
  throw new Error("It did not happen in time");
}

const anyone = () => client(app, { ip: someIp() });
const person = (token: string) => client(app, { token });
const someAddress = () => `person-${process.pid}-${++number}@example.net`;
const login = (email: string, password = PASSWORD, more: object = {}) =>
  anyone().post("/api/auth/login/", { email, password, ...more });

/** Token of the newest email to this address that links to this page. */
async function mailed(email: string, page: string): Promise<string> {
  const find = () =>
    smtp.messages.findLast(({ to, raw }) => to.includes(email) && textOf(raw).includes(`/app/${page}?token=`));
  const { raw } = await until(async () => find());
  return new RegExp(`/app/${page}\\?token=([\\w-]+)`).exec(textOf(raw))![1]!;
}
const textOf = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

async function invited(company: TestCompany, email = someAddress(), role = "member") {
  const answer = await person(company.token).post(`/api/companies/${company.id}/members/`, { email, role });
  return { email, answer, token: answer.status === 201 ? await mailed(email, "invitation") : "" };
}
const accept = (token: string, body: object = {}, bearer?: string) =>
  (bearer ? person(bearer) : anyone()).post(`/api/auth/invitations/${token}/`, body);

describe("an invitation", () => {
  test("gives the same response for known and unknown people, and includes no link if an email contains it", async () => {
    const company = await newCompany(app);
    const user = await newCompany(app);
    const answers = [await invited(company, user.email), await invited(company)].map(({ answer }) => answer);
    for (const { status, body } of answers) {
      expect([status, Object.keys(body).toSorted()]).toEqual([201, ["email", "expires_at", "id", "role", "status"]]);
      expect(body.status).toBe("invited");
    }
    const { results } = (await person(company.token).get(`/api/companies/${company.id}/members/`)).body;
    const open = results.filter(({ status }: { status: string }) => status === "invited");
    expect(open.map(({ first_name, user_id }: Record<string, unknown>) => [first_name, user_id])).toEqual([
      ["", null],
      ["", null],
    ]);
  });

  test("makes a new person a member and verifies the address", async () => {
    const company = await newCompany(app);
    const { email, token } = await invited(company, undefined, "admin");
    expect(seen(await accept(token))).toEqual([400, { password: ["This field is required."] }]);
    expect(seen(await accept(token, { password: "password123456" }))).toEqual([
      400,
      { password: ["This password is too common."] },
    ]);
    const { status, body } = await accept(token, { password: PASSWORD, first_name: "Grace" });
    expect([status, body.company]).toEqual([200, expect.objectContaining({ id: company.id, role: "admin" })]);
    const me = (await person(body.access).get("/api/auth/me/")).body;
    expect(me).toEqual({
      user: expect.objectContaining({ email, first_name: "Grace", email_verified: true, totp_enabled: false }),
      companies: [expect.objectContaining({ id: company.id, role: "admin" })],
    });
    expect((await login(email)).status).toBe(200);
    expect(seen(await accept(token, { password: PASSWORD }))[0]).toBe(410);
  });

  test("is valid for its own address only", async () => {
    const [company, user, other] = [await newCompany(app), await newCompany(app), await newCompany(app)];
    const { token } = await invited(company, user.email);
    expect((await accept(token, {}, other.token)).status).toBe(403);
    const { status, body } = await accept(token, {}, user.token);
    expect([status, body.user.id, body.company.role]).toEqual([200, user.userId, "member"]);
  });

  test("takes over an unverified account that someone else registered with the address", async () => {
    const [company, squatter] = [await newCompany(app), await newCompany(app)];
    const { refresh } = (await login(squatter.email, squatter.password)).body;
    const { token } = await invited(company, squatter.email, "admin");
    const { body } = await accept(token, { password: OTHER });
    expect(body.user.id).toBe(squatter.userId);
    expect((await anyone().post("/api/auth/token/refresh/", { refresh })).status).toBe(401);
    expect((await person(squatter.token).get("/api/auth/me/")).status).toBe(401);
    expect((await person(squatter.token).get(`/api/companies/${company.id}/`)).status).toBe(401);
    expect((await login(squatter.email, squatter.password)).status).toBe(401);
    expect((await login(squatter.email, OTHER)).status).toBe(200);
  });

  test("does not change the password of a verified account, which signs in instead", async () => {
    const [company, user] = [await newCompany(app), await newCompany(app)];
    await User.update({ emailVerifiedAt: new Date() }, { where: { id: user.userId } });
    const { token } = await invited(company, user.email);
    expect((await accept(token, { password: OTHER })).status).toBe(401);
    expect((await login(user.email, user.password)).status).toBe(200);
    expect((await accept(token, {}, user.token)).status).toBe(200);
  });

  test("is 404 if invented, and 410 if replaced, withdrawn, expired, or if its inviter has left", async () => {
    const company = await newCompany(app);
    const owner = person(company.token);
    const members = `/api/companies/${company.id}/members/`;
    expect((await accept("made-up", { password: PASSWORD })).status).toBe(404);
    const first = await invited(company);
    const second = await owner.post(members, { email: first.email, role: "viewer" });
    expect((await accept(first.token, { password: PASSWORD })).status).toBe(410);
    expect((await owner.delete(`${members}${second.body.id}/`)).status).toBe(204);
    expect((await owner.get(members)).body.count).toBe(1);

    const expired = await invited(company);
    await query("update invitations set expires_at = now() where id = $1", [expired.answer.body.id]);
    expect((await accept(expired.token, { password: PASSWORD })).status).toBe(410);

    const admin = await newCompany(app);
    await Membership.create({ companyId: company.id, userId: admin.userId, role: "admin" });
    const third = await invited({ ...company, token: admin.token });
    expect((await owner.delete(`${members}${admin.userId}/`)).status).toBe(204);
    expect((await accept(third.token, { password: PASSWORD })).status).toBe(410);
  });

  test("accepted twice concurrently creates one membership", async () => {
    const company = await newCompany(app);
    const { token } = await invited(company);
    const both = await Promise.all([accept(token, { password: PASSWORD }), accept(token, { password: PASSWORD })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
    expect(await Membership.count({ where: { companyId: company.id } })).toBe(2);
  });
});

test("owners are notified of a new key and a new member by email", async () => {
  const company = await newCompany(app);
  const mailedAbout = (words: string) =>
    until(async () => smtp.messages.find(({ to, raw }) => to.includes(company.email) && textOf(raw).includes(words)));
  await person(company.token).post(`/api/companies/${company.id}/api-keys/`, { name: "Nightly import" });
  await mailedAbout('created the API key "Nightly import"');
  const { email, token } = await invited(company);
  await accept(token, { password: PASSWORD });
  await mailedAbout(`${email} is now a member of`);
});

describe("system mail", () => {
  test("survives an unavailable server, and is sent by any node; after a permanent refusal it is not retried", async () => {
    const company = await newCompany(app);
    let answer: string | undefined = "421 4.3.2 not now";
    smtp.options.answer = ({ verb, to }) =>
      verb === "RCPT" ? (to.startsWith("never") ? "550 5.1.1 no such user" : answer) : undefined;
    const email = someAddress();
    const waiting = await person(company.token).post(`/api/companies/${company.id}/members/`, {
      email,
      role: "member",
    });
    expect(waiting.status).toBe(201);
    const never = `never-${someAddress()}`;
    await person(company.token).post(`/api/companies/${company.id}/members/`, { email: never, role: "member" });
    const rowOf = (recipient: string) => SystemMail.findOne({ where: { recipient } });
    const deferred = await until(async () => {
      const row = await rowOf(email);
      return row?.error ? row : undefined;
    });
    expect(deferred).toMatchObject({ sentAt: null, error: expect.stringContaining("421") });
    expect(deferred.nextAttemptAt).not.toBeNull();
    const given = await until(async () => {
      const row = await rowOf(never);
      return row && row.nextAttemptAt === null ? row : undefined;
    });
    expect(given).toMatchObject({ sentAt: null, error: expect.stringContaining("550") });
    answer = undefined;
    await query("update system_mails set next_attempt_at = now() where recipient = $1", [email]);
    await mailed(email, "invitation");
    await until(async () => ((await rowOf(email))!.sentAt ? true : undefined));
    smtp.options.answer = undefined;
  });

  test("logs in by a mechanism that the server offers", async () => {
    const { SYSTEM_SMTP_URL } = config();
    smtp.options.auth = { user: "u", pass: "p", has: ["LOGIN"], offers: ["PLAIN", "LOGIN"] };
    Object.assign(config(), { SYSTEM_SMTP_URL: `smtp://u:p@127.0.0.1:${smtp.port}` });
    try {
      await mailed((await newCompany(app)).email, "verify");
    } finally {
      Object.assign(config(), { SYSTEM_SMTP_URL });
      delete smtp.options.auth;
    }
  });

  test("is plain text, marked as automatic, and keeps its Message-ID", async () => {
    const { email, answer } = await invited(await newCompany(app));
    expect(answer.status).toBe(201);
    const { raw, from } = smtp.messages.findLast(({ to }) => to.includes(email))!;
    const row = (await SystemMail.findOne({ where: { recipient: email } }))!;
    expect(from).toBe("accounts@service.example");
    expect(raw).toContain("Auto-Submitted: auto-generated");
    expect(raw).toContain(`Message-ID: <${row.id}@service.example>`);
    expect(raw).toMatch(/Content-Type: text\/plain/);
    expect(JSON.stringify(row.data)).not.toContain("token=");
  });
});

describe("an address", () => {
  test("is verified once by the link sent at registration", async () => {
    const company = await newCompany(app);
    const state = async () => (await person(company.token).get("/api/auth/me/")).body.user.email_verified;
    expect(await state()).toBe(false);
    const token = await mailed(company.email, "verify");
    const { status, body } = await anyone().post("/api/auth/verify/", { token });
    expect([status, body]).toEqual([200, { email: company.email, email_verified: true }]);
    expect(await state()).toBe(true);
    const refused = [400, { token: ["This link is no longer valid."] }];
    expect(seen(await anyone().post("/api/auth/verify/", { token }))).toEqual(refused);
    expect(seen(await anyone().post("/api/auth/verify/", { token: "made-up" }))).toEqual(refused);
  });
});

describe("the verification email", () => {
  test("is sent again on request, at most three times per hour, and not after the address is verified", async () => {
    const company = await newCompany(app);
    const again = () => person(company.token).post("/api/auth/verify/resend/");
    const mails = () => SystemMail.findAll({ where: { recipient: company.email, kind: "verify" } });
    const first = await mailed(company.email, "verify");
    expect([(await again()).status, (await again()).status, (await again()).status]).toEqual([200, 200, 200]);
    const refused = await again();
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const found = await mails();
    expect([found.length, new Set(found.map(({ data }) => data.tokenId)).size]).toEqual([4, 4]);
    // Earlier links stay valid, because emails may arrive in any order.
    expect((await anyone().post("/api/auth/verify/", { token: first })).status).toBe(200);
    expect((await again()).status).toBe(200);
    expect(await mails()).toHaveLength(4);
    expect((await anyone().post("/api/auth/verify/resend/")).status).toBe(401);
  });
});

describe("a password", () => {
  test("is changed with the current password: this session continues, all others end", async () => {
    const { email, token, password } = await newCompany(app);
    const other = (await login(email, password)).body;
    const change = (current_password: string, new_password: string) =>
      person(token).post("/api/auth/password/change/", { current_password, new_password });
    expect(seen(await change("wrong horse battery", OTHER))).toEqual([
      400,
      { current_password: ["This password is wrong."] },
    ]);
    expect(seen(await change(password, "qwertyuiop123"))).toEqual([
      400,
      { new_password: ["This password is too common."] },
    ]);
    const changed = await change(password, OTHER);
    expect(changed.status).toBe(200);
    for (const old of [token, other.access]) expect((await person(old).get("/api/auth/me/")).status).toBe(401);
    expect((await anyone().post("/api/auth/token/refresh/", { refresh: other.refresh })).status).toBe(401);
    expect((await person(changed.body.access).get("/api/auth/me/")).status).toBe(200);
    expect((await login(email, OTHER)).status).toBe(200);
  });

  test("is reset once by a link sent by email, which ends all sessions", async () => {
    const { email, token: session } = await newCompany(app);
    const ask = async (address: string) => {
      const began = performance.now();
      const answer = await anyone().post("/api/auth/password/reset/", { email: address });
      // Responses take a fixed time, longer than the work. Timers may fire one millisecond early.
      expect(performance.now() - began).toBeGreaterThan(48);
      return answer;
    };
    const asked = await ask(email.toUpperCase());
    const unknown = await ask("nobody@example.com");
    expect(seen(asked)).toEqual([200, {}]);
    expect(seen(unknown)).toEqual(seen(asked));
    const link = await mailed(email, "reset");
    await anyone().post("/api/auth/password/reset/", { email });
    const another = await until(async () => {
      const newest = await mailed(email, "reset");
      return newest === link ? undefined : newest;
    });
    const reset = (new_password: string, token = link) =>
      anyone().post("/api/auth/password/reset/confirm/", { token, new_password });
    expect((await reset("1234567890")).status).toBe(400);
    expect(seen(await reset(OTHER))).toEqual([200, {}]);
    for (const spent of [link, another]) {
      expect(seen(await reset(OTHER, spent))).toEqual([400, { token: ["This link is no longer valid."] }]);
    }
    expect((await person(session).get("/api/auth/me/")).status).toBe(401);
    expect((await login(email, OTHER)).status).toBe(200);
    expect(await SystemMail.count({ where: { recipient: "nobody@example.com" } })).toBe(0);
  });
});

describe("sessions", () => {
  test("are listed, and ending one revokes all its tokens at once", async () => {
    const company = await newCompany(app);
    const other = (await anyone().post("/api/auth/login/", company, { headers: { "User-Agent": "Other/1" } })).body;
    const own = person(company.token);
    expect((await person(other.access).get(`/api/companies/${company.id}/`)).status).toBe(200);
    const { body } = await own.get("/api/auth/sessions/");
    expect(body.map(({ current, user_agent }: Record<string, unknown>) => [current, user_agent])).toEqual([
      [false, "Other/1"],
      [true, expect.any(String)],
    ]);
    expect((await own.delete(`/api/auth/sessions/${body[0].id}/`)).status).toBe(204);
    expect((await person(other.access).get(`/api/companies/${company.id}/`)).status).toBe(401);
    expect((await anyone().post("/api/auth/token/refresh/", { refresh: other.refresh })).status).toBe(401);
    expect((await own.get("/api/auth/sessions/")).body).toHaveLength(1);
    expect((await own.delete(`/api/auth/sessions/${body[0].id}/`)).status).toBe(404);
  });

  test("are 404 for another person", async () => {
    const [mine, theirs] = [await newCompany(app), await newCompany(app)];
    const [session] = (await person(theirs.token).get("/api/auth/sessions/")).body;
    expect((await person(mine.token).delete(`/api/auth/sessions/${session.id}/`)).status).toBe(404);
    expect((await person(theirs.token).get("/api/auth/me/")).status).toBe(200);
  });

  test("end by logout, even with a used token, and logout always succeeds", async () => {
    const { email, password } = await newCompany(app);
    const { access, refresh } = (await login(email, password)).body;
    await anyone().post("/api/auth/token/refresh/", { refresh });
    expect((await anyone().post("/api/auth/logout/", { refresh })).status).toBe(204);
    expect((await person(access).get("/api/auth/me/")).status).toBe(401);
    expect((await anyone().post("/api/auth/logout/", { refresh: "made-up" })).status).toBe(204);
  });

  test("do not exist for API keys", async () => {
    const { api } = await newCompany(app);
    for (const path of ["me/", "sessions/"]) expect((await api.get(`/api/auth/${path}`)).status).toBe(403);
  });
});

describe("the second factor", () => {
  const codeOf = (secret: string, steps = 0) => totpCode(secret, totpStep() + steps);

  async function withTotp() {
    const company = await newCompany(app);
    const begun = await person(company.token).post("/api/auth/totp/");
    expect([begun.status, begun.body.uri]).toEqual([201, expect.stringContaining(`secret=${begun.body.secret}`)]);
    const { secret } = begun.body;
    const confirmed = await person(company.token).post("/api/auth/totp/confirm/", { code: codeOf(secret) });
    expect([confirmed.status, confirmed.body.recovery_codes.length]).toEqual([200, 10]);
    return { ...company, secret, recovery: confirmed.body.recovery_codes as string[] };
  }

  test("is required at login, and each code is valid once, including the first", async () => {
    const { email, password, secret } = await withTotp();
    expect(seen(await login(email, password))).toEqual([
      401,
      { detail: "Enter a code from your authenticator.", code: "totp_required" },
    ]);
    expect((await login(email, "wrong horse battery", { code: codeOf(secret, 1) })).status).toBe(401);
    expect((await login(email, password, { code: codeOf(secret) })).status).toBe(401);
    expect((await login(email, password, { code: codeOf(secret, 1) })).status).toBe(200);
    expect((await login(email, password, { code: codeOf(secret, 1) })).status).toBe(401);
  });

  test("allows only one of two concurrent logins with the same code", async () => {
    const { email, password, recovery } = await withTotp();
    const code = recovery[0]!;
    const both = await Promise.all([login(email, password, { code }), login(email, password, { code })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect((await login(email, password, { code: recovery[1]!.toUpperCase() })).status).toBe(200);
  });

  test("is disabled with password and code", async () => {
    const { email, password, token, recovery } = await withTotp();
    const off = (body: object) => person(token).request("DELETE", "/api/auth/totp/", body);
    expect((await off({ password: "wrong horse battery", code: recovery[0] })).status).toBe(400);
    expect((await off({ password, code: "000000" })).status).toBe(400);
    expect((await person(token).post("/api/auth/totp/")).status).toBe(400);
    expect((await off({ password, code: recovery[0] })).status).toBe(204);
    expect((await login(email, password)).status).toBe(200);
  });
});

describe("wrong logins", () => {
  test("slow down an account, but not a browser that was logged in before; the owner is notified once", async () => {
    const { email, password } = await newCompany(app);
    const before = await login(email, password);
    const cookie = before.headers.get("set-cookie")!;
    expect(cookie).toMatch(/^fm_device=[\w-]+; Path=\/api\/auth\/login\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    expect(before.body).not.toHaveProperty("device");
    for (let n = 0; n < 12; n++) await login(email, "wrong horse battery");
    const locked = await login(email, password);
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(0);
    const headers = { Cookie: `other=1; ${cookie.split(";")[0]}` };
    expect((await anyone().post("/api/auth/login/", { email, password }, { headers })).status).toBe(200);
    const stranger = await newCompany(app);
    const foreign = await anyone().post("/api/auth/login/", stranger, { headers });
    expect(foreign.status).toBe(200);
    await until(async () => (await SystemMail.count({ where: { recipient: email, kind: "locked_out" } })) || undefined);
    expect(await SystemMail.count({ where: { recipient: email, kind: "locked_out" } })).toBe(1);
  });

  test("slow down a network (/48) after 50 failures over all accounts and addresses", async () => {
    const base = someIp().split(":").slice(0, 3).join(":");
    const from = (n: number) => client(app, { ip: `${base}:${n.toString(16)}::1` });
    // Attempts are counted before a password is hashed, so this takes no time.
    for (let n = 1; n < 50; n++) await beginAttempt(`nobody-${n}@example.com`, `${base}:${n.toString(16)}::1`, null);
    const wrong = { email: "nobody@example.com", password: PASSWORD };
    expect((await from(50).post("/api/auth/login/", wrong)).status).toBe(401);
    const { email, password } = await newCompany(app);
    expect((await from(99).post("/api/auth/login/", { email, password })).status).toBe(429);
    expect((await login(email, password)).status).toBe(200);
  });
});

test("a client with 60 invalid keys per minute gets 429, and other addresses are unaffected", async () => {
  const { api, id } = await newCompany(app);
  const guesser = someIp();
  const guess = (n: number) =>
    client(app, { key: `fm_${String(n).padStart(43, "0")}`, ip: guesser }).get(`/api/companies/${id}/`);
  for (let n = 0; n < 60; n++) expect((await guess(n)).status).toBe(401);
  const looked = jest.spyOn(app.broker, "call");
  expect((await guess(61)).status).toBe(429);
  // An email of an earlier test may still arrive.
  expect(looked.mock.calls.map(([action]) => action)).not.toContain("accounts.authenticateKey");
  looked.mockRestore();
  expect((await api.get(`/api/companies/${id}/`)).status).toBe(200);
});

test("while registration needs an invitation, only an operator's link creates an owner", async () => {
  const { config } = await import("../../../services/lib/config.ts");
  const settings = config();
  settings.REGISTRATION = "invite";
  try {
    const body = { email: someAddress(), password: PASSWORD, company_name: "Acme" };
    expect(seen(await anyone().post("/api/auth/register/", body))).toEqual([
      403,
      { detail: "Registration is by invitation only." },
    ]);
    const owner = someAddress();
    const made = await call(app.broker, "accounts.createCompany", { name: "Acme", owner });
    const token = new URL(made.invite_url!).searchParams.get("token")!;
    const accepted = await accept(token, { password: PASSWORD });
    expect([accepted.status, accepted.body.company]).toEqual([
      200,
      expect.objectContaining({ id: made.company.id, role: "owner" }),
    ]);
    const known = client(app, { token: accepted.body.access });
    expect((await known.post("/api/companies/", { name: "Another" })).status).toBe(403);
  } finally {
    settings.REGISTRATION = "open";
  }
});
