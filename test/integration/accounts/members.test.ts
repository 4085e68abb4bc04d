import { randomUUID } from "node:crypto";
import { User } from "../../../models/user.ts";
import { call } from "../../../services/call.ts";
import type { Caller, Role } from "../../../services/lib/caller.ts";
import { passwordMarkOf } from "../../../services/lib/tokens/bearer.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { join, NOT_FOUND, PASSWORD, seed } from "./tenant.ts";

const PEOPLE_ONLY = [403, { detail: "An API key cannot do this: sign in and use a bearer token." }];
const LAST_OWNER = [400, { detail: "A company must keep at least one owner." }];

describe("members", () => {
  let app: App;
  let tenant: Awaited<ReturnType<typeof seed>>;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"] });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    tenant = await seed();
  });

  const list = (params: object = {}) =>
    call(app.broker, "accounts.listMembers", { id: tenant.id, ...params }, { meta: tenant.meta });
  const invite = (email: string, role: Role, meta: Caller = tenant.meta) =>
    call(app.broker, "accounts.addMember", { id: tenant.id, email, role }, { meta });
  const setRole = (userId: string, role: Role, meta: Caller = tenant.meta) =>
    call(app.broker, "accounts.updateMember", { id: tenant.id, user_id: userId, role }, { meta });
  const remove = (userId: string, meta: Caller = tenant.meta) =>
    call(app.broker, "accounts.removeMember", { id: tenant.id, user_id: userId }, { meta });
  // Seeded users have no password.
  const roleOf = (userId: string) =>
    call(app.broker, "accounts.membershipOf", {
      userId,
      companyId: tenant.id,
      passwordMark: passwordMarkOf(""),
    });

  test("are listed with their role", async () => {
    const { user, email } = await join(tenant, "admin");
    const { count, results } = await list();
    expect(count).toBe(2);
    expect(results.map(({ role }) => role)).toEqual(["admin", "owner"]);
    expect((await list({ search: email.slice(0, 8) })).results).toEqual([
      {
        id: user.id,
        user_id: user.id,
        email,
        first_name: "",
        last_name: "",
        role: "admin",
        status: "active",
        joined_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        expires_at: null,
      },
    ]);
  });

  test("are not invited twice, nor with an unknown role", async () => {
    const { email } = await join(tenant, "member");
    expect(await refusal(invite(email, "admin"))).toEqual([400, { email: ["This user is already a member."] }]);
    expect(await refusal(invite("nobody@example.com", "god" as Role))).toEqual([
      400,
      { role: ['"god" is not a valid choice.'] },
    ]);
    const nothing = app.broker.call("accounts.addMember", { id: tenant.id }, { meta: tenant.meta });
    expect(await refusal(nothing)).toEqual([
      400,
      { email: ["This field is required."], role: ["This field is required."] },
    ]);
  });

  test("join by an invitation link that proves no address and takes over no account", async () => {
    const linkFor = async (email: string) => {
      const { invite_url: url } = await invite(email, "member");
      return new URL(url!).searchParams.get("token")!;
    };
    const accept = (token: string, meta: Caller = {}) =>
      call(app.broker, "accounts.acceptInvitation", { token, password: PASSWORD }, { meta });

    const newcomer = `${randomUUID()}@example.com`;
    const { user } = await accept(await linkFor(newcomer));
    const stored = () => User.findOne({ where: { email: newcomer } });
    expect(await stored()).toMatchObject({ id: user.id, emailVerifiedAt: null });

    const { user: registered, email } = await seed();
    const link = await linkFor(email);
    expect((await refusal(accept(link)))[0]).toBe(401);
    expect(await User.findByPk(registered.id)).toMatchObject({ passwordHash: "", emailVerifiedAt: null });
    expect((await accept(link, { userId: registered.id })).company).toMatchObject({ id: tenant.id, role: "member" });
    expect(await User.findByPk(registered.id)).toMatchObject({ passwordHash: "", emailVerifiedAt: null });
  });

  test("lose access when their password changes, also with a token that has no session", async () => {
    const { user } = await join(tenant, "member");
    expect(await roleOf(user.id)).toEqual({ role: "member" });
    await User.update({ passwordHash: "of another one" }, { where: { id: user.id } });
    expect((await refusal(roleOf(user.id)))[0]).toBe(401);
  });

  test("change their role and leave", async () => {
    const { user } = await join(tenant, "member");
    expect((await setRole(user.id, "admin")).role).toBe("admin");
    expect(await roleOf(user.id)).toEqual({ role: "admin" });
    expect(await remove(user.id)).toBeNull();
    expect(await refusal(roleOf(user.id))).toEqual(NOT_FOUND);
    expect(await refusal(remove(user.id))).toEqual(NOT_FOUND);
    expect(await refusal(setRole(user.id, "admin"))).toEqual(NOT_FOUND);
    expect(await refusal(setRole(randomUUID(), "admin"))).toEqual(NOT_FOUND);
  });

  describe("the last owner", () => {
    test("cannot lose the role or the membership", async () => {
      expect(await refusal(setRole(tenant.user.id, "admin"))).toEqual(LAST_OWNER);
      expect(await refusal(remove(tenant.user.id))).toEqual(LAST_OWNER);
      expect((await setRole(tenant.user.id, "owner")).role).toBe("owner");
    });

    test("may leave if there is another", async () => {
      const second = await join(tenant, "owner");
      expect(await remove(tenant.user.id)).toBeNull();
      expect(await refusal(remove(second.user.id, second.meta))).toEqual(LAST_OWNER);
    });

    test("stays even if two owners remove each other concurrently", async () => {
      for (let round = 0; round < 5; round++) {
        tenant = await seed();
        const second = await join(tenant, "owner");
        const results = await Promise.allSettled([remove(second.user.id), remove(tenant.user.id, second.meta)]);
        expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
        expect((await list()).results.map(({ role }) => role)).toEqual(["owner"]);
      }
    });
  });

  describe("permissions by role", () => {
    const may: Record<string, Role[]> = {
      "invite a member": ["owner", "admin"],
      "invite an owner": ["owner"],
      "promote a member to admin": ["owner", "admin"],
      "promote a member to owner": ["owner"],
      "demote an owner": ["owner"],
      "remove a member": ["owner", "admin"],
      "remove an owner": ["owner"],
      leave: ["owner", "admin", "member"],
      "see the members": ["owner", "admin", "member"],
    };
    const actions: Record<string, (by: { user: { id: string }; meta: Caller }) => Promise<unknown>> = {
      "invite a member": async ({ meta }) => invite((await seed()).email, "member", meta),
      "invite an owner": async ({ meta }) => invite((await seed()).email, "owner", meta),
      "promote a member to admin": async ({ meta }) => setRole((await join(tenant, "member")).user.id, "admin", meta),
      "promote a member to owner": async ({ meta }) => setRole((await join(tenant, "member")).user.id, "owner", meta),
      "demote an owner": ({ meta }) => setRole(tenant.user.id, "member", meta),
      "remove a member": async ({ meta }) => remove((await join(tenant, "member")).user.id, meta),
      "remove an owner": ({ meta }) => remove(tenant.user.id, meta),
      leave: ({ user, meta }) => remove(user.id, meta),
      "see the members": ({ meta }) => call(app.broker, "accounts.listMembers", { id: tenant.id }, { meta }),
    };

    test.each(Object.keys(may))("%s", async (action) => {
      for (const role of ["owner", "admin", "member"] as const) {
        tenant = await seed();
        const by = await join(tenant, role);
        const result = await actions[action]!(by).then(
          () => "done",
          (error) => error.code,
        );
        expect([role, result]).toEqual([role, may[action]!.includes(role) ? "done" : "FORBIDDEN"]);
      }
    });

    test("API keys may do none of it", async () => {
      const { id } = await call(app.broker, "accounts.createKey", { id: tenant.id, name: "Key" }, tenant);
      const key = { companyId: tenant.id, apiKeyId: id };
      expect(await refusal(invite("a@example.com", "member", key))).toEqual(PEOPLE_ONLY);
      expect(await refusal(setRole(tenant.user.id, "member", key))).toEqual(PEOPLE_ONLY);
      expect(await refusal(remove(tenant.user.id, key))).toEqual(PEOPLE_ONLY);
    });
  });

  test("are 404 for another company", async () => {
    const other = await seed();
    const { meta } = tenant;
    const foreign = { id: other.id, user_id: other.user.id };
    expect(await refusal(call(app.broker, "accounts.listMembers", { id: other.id }, { meta }))).toEqual(NOT_FOUND);
    expect(await refusal(call(app.broker, "accounts.updateMember", { ...foreign, role: "member" }, { meta }))).toEqual(
      NOT_FOUND,
    );
    expect(await refusal(call(app.broker, "accounts.removeMember", foreign, { meta }))).toEqual(NOT_FOUND);
    const adding = call(
      app.broker,
      "accounts.addMember",
      { id: other.id, email: tenant.email, role: "owner" },
      { meta },
    );
    expect(await refusal(adding)).toEqual(NOT_FOUND);
    expect(await refusal(setRole(other.user.id, "admin"))).toEqual(NOT_FOUND);
    expect(await refusal(remove(other.user.id))).toEqual(NOT_FOUND);
  });
});
