import { query, queryOne } from "../../../models/database/db.ts";
import type { KeyAuthentication } from "../../../services/accounts/key-authentication.ts";
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { FORBIDDEN, join, NOT_FOUND, register, type Tenant } from "./tenant.ts";

const INVALID = [401, { detail: "Invalid API key." }];

describe("API keys", () => {
  let app: App;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"] });
    tenant = await register(app.broker);
  });
  afterAll(() => app.stop());

  const create = (params: { name: string; expires_at?: string | null }, by = tenant) =>
    call(app.broker, "accounts.createKey", { id: by.id, ...params }, { meta: by.meta });
  const list = (by = tenant) => call(app.broker, "accounts.listKeys", { id: by.id }, { meta: by.meta });
  const remove = (keyId: string, by = tenant) =>
    call(app.broker, "accounts.removeKey", { id: by.id, key_id: keyId }, { meta: by.meta });
  const authenticate = (key: string) => call(app.broker, "accounts.authenticateKey", { key });

  test("are shown once and stored as a hash", async () => {
    const made = await create({ name: " Website " });
    expect(made).toMatchObject({ name: "Website", expires_at: null, last_used_at: null });
    expect(made.key).toMatch(/^fm_[0-9A-Za-z]{43}$/);
    const listed = (await list()).results.find(({ id }) => id === made.id);
    const { key, ...rest } = made;
    expect(listed).toEqual(rest);
    const row = await queryOne<Record<string, unknown>>("select * from api_keys where id = $1", [made.id]);
    expect(JSON.stringify(row)).not.toContain(key);
    expect(row!.key_hash).toHaveLength(32);
  });

  test("authenticate as their company", async () => {
    const { id, key } = await create({ name: "k" });
    const found = { companyId: tenant.id, apiKeyId: id, expiresAt: null, scopes: ["full"], allowedIps: [] };
    expect(await authenticate(key)).toEqual(found);
  });

  test.each(["", "fm_", "hello", `fm_${"a".repeat(43)}`, `fm_${"a".repeat(100_000)}`, "fm_' or 1=1 --"])(
    "that are none are refused: %.20s",
    async (key) => expect(await refusal(authenticate(key))).toEqual(INVALID),
  );

  test("are refused after they expire, even if used a moment before", async () => {
    const expiresAt = new Date(Date.now() + 3_000).toISOString();
    const { key } = await create({ name: "short", expires_at: expiresAt });
    expect((await authenticate(key)).expiresAt).toBe(expiresAt);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(expiresAt) - Date.now() + 10));
    expect(await refusal(authenticate(key))).toEqual(INVALID);
  });

  test("are refused at once after deletion, even if used a moment before", async () => {
    const { id, key } = await create({ name: "k" });
    await authenticate(key);
    expect(await remove(id)).toBeNull();
    expect(await refusal(authenticate(key))).toEqual(INVALID);
    expect(await refusal(remove(id))).toEqual(NOT_FOUND);
  });

  test("are removed from all nodes' caches when deleted", async () => {
    const reported: unknown[] = [];
    app.broker.createService({
      name: "listener",
      events: { "apiKey.deleted": (ctx) => void reported.push(ctx.params) },
    });
    const { id } = await create({ name: "k" });
    await remove(id);
    expect(reported).toEqual([{ apiKeyId: id }]);
  });

  test("record their last use, at most once per minute", async () => {
    const { id, key } = await create({ name: "k" });
    const { keys } = app.broker.getLocalService("accounts") as unknown as { keys: KeyAuthentication };
    const lastUsed = async () =>
      (await queryOne<{ at: Date | null }>("select last_used_at at from api_keys where id = $1", [id]))!.at;
    const beforeMs = Date.now();
    await authenticate(key);
    await keys.settled();
    const first = await lastUsed();
    expect(first!.getTime()).toBeGreaterThanOrEqual(beforeMs);
    expect(first!.getTime()).toBeLessThanOrEqual(Date.now());
    await authenticate(key);
    await keys.settled();
    expect(await lastUsed()).toEqual(first);
    await query("update api_keys set last_used_at = now() - interval '61 s' where id = $1", [id]);
    await authenticate(key);
    await keys.settled();
    expect((await lastUsed())!.getTime()).toBeGreaterThan(first!.getTime());
  });

  test("need a name, and an expiry in the future", async () => {
    const meta = tenant.meta;
    const attempt = (params: object) =>
      refusal(app.broker.call("accounts.createKey", { id: tenant.id, ...params }, { meta }));
    expect(await attempt({ expires_at: "2020-01-01T00:00:00Z" })).toEqual([
      400,
      { name: ["This field is required."], expires_at: ["The time must be in the future."] },
    ]);
    expect((await attempt({ name: "", expires_at: "tomorrow" }))[1]).toMatchObject({
      name: ["This field may not be blank."],
      expires_at: [expect.stringMatching(/^Datetime has wrong format/)],
    });
  });

  test("are searched and sorted by name", async () => {
    const other = await register(app.broker);
    for (const name of ["beta", "alpha", "gamma"]) {
      await create({ name }, other);
      // Ids are ordered by millisecond.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const page = (params: object) =>
      call(app.broker, "accounts.listKeys", { id: other.id, ...params }, { meta: other.meta });
    const names = async (params: object) => (await page(params)).results.map(({ name }) => name);
    expect(await names({})).toEqual(["gamma", "alpha", "beta"]);
    expect(await names({ ordering: "name" })).toEqual(["alpha", "beta", "gamma"]);
    expect(await names({ search: "ET" })).toEqual(["beta"]);
    expect(await page({ page: 2, page_size: 2, ordering: "-name" })).toMatchObject({
      count: 3,
      results: [{ name: "alpha" }],
    });
    expect((await refusal(page({ ordering: "key_hash" })))[0]).toBe(400);
  });

  test("are 404 for another company", async () => {
    const other = await register(app.broker);
    const { id, key } = await create({ name: "k" }, other);
    expect(await refusal(remove(id))).toEqual(NOT_FOUND);
    expect((await list()).results.map((each) => each.id)).not.toContain(id);
    expect((await authenticate(key)).companyId).toBe(other.id);
    const foreign = { id: other.id };
    const meta = tenant.meta;
    expect(await refusal(call(app.broker, "accounts.listKeys", foreign, { meta }))).toEqual(NOT_FOUND);
    expect(await refusal(call(app.broker, "accounts.createKey", { ...foreign, name: "k" }, { meta }))).toEqual(
      NOT_FOUND,
    );
    expect(await refusal(call(app.broker, "accounts.removeKey", { ...foreign, key_id: id }, { meta }))).toEqual(
      NOT_FOUND,
    );
  });

  test("are created and deleted by owners and admins, and visible to members", async () => {
    const { id } = await create({ name: "k" });
    const admin = await join(tenant, "admin");
    const member = await join(tenant, "member");
    const made = await create({ name: "admin's" }, { ...tenant, meta: admin.meta });
    expect(await remove(made.id, { ...tenant, meta: admin.meta })).toBeNull();
    const asMember = { ...tenant, meta: member.meta };
    expect(await refusal(create({ name: "member's" }, asMember))).toEqual(FORBIDDEN);
    expect(await refusal(remove(id, asMember))).toEqual(FORBIDDEN);
    expect((await list(asMember)).count).toBeGreaterThan(0);
  });

  test("cannot create or delete keys themselves", async () => {
    const { id } = await create({ name: "k" });
    const asKey = { ...tenant, meta: { companyId: tenant.id, apiKeyId: id } };
    const refused = [403, { detail: "An API key cannot do this: sign in and use a bearer token." }];
    expect(await refusal(create({ name: "child" }, asKey))).toEqual(refused);
    expect(await refusal(remove(id, asKey))).toEqual(refused);
  });
});
