import { query, queryOne } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { verifyBearer } from "../../../services/lib/tokens/bearer.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { PASSWORD, register } from "./tenant.ts";

const REFUSED = [401, { detail: "Token is invalid or expired." }];

describe("a refresh token", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"] });
  });
  afterAll(() => app.stop());

  const refresh = (token: string) => call(app.broker, "accounts.refresh", { refresh: token });
  const familyOf = async (userId: string) =>
    query<{ spent: boolean; revoked: boolean }>(
      `select spent_at is not null spent, revoked_at is not null revoked from refresh_tokens
       where user_id = $1 order by created_at, spent_at nulls last`,
      [userId],
    );

  test("is exchanged for new tokens of the same user, again and again", async () => {
    const { refresh: first, user } = await register(app.broker);
    const second = await refresh(first);
    const third = await refresh(second.refresh);
    expect(new Set([first, second.refresh, third.refresh]).size).toBe(3);
    expect(verifyBearer(third.access)).toMatchObject({ userId: user.id });
  });

  test("revokes its whole family, and nothing else, if used a second time", async () => {
    const { refresh: first, email } = await register(app.broker);
    const other = await call(app.broker, "accounts.login", { email, password: PASSWORD });
    const { refresh: second } = await refresh(first);
    expect(await refusal(refresh(first))).toEqual(REFUSED);
    expect(await refusal(refresh(second))).toEqual(REFUSED);
    expect((await refresh(other.refresh)).access).toBeTruthy();
  });

  test("is exchanged once in concurrent attempts, which revokes its family", async () => {
    const { refresh: first, user } = await register(app.broker);
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => refresh(first)));
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(won).toHaveLength(1);
    expect(await refusal(refresh(won[0]!.refresh))).toEqual(REFUSED);
    expect((await familyOf(user.id)).length).toBe(2);
  });

  test("exchanged during the revocation of its family is useless", async () => {
    const { refresh: first, user } = await register(app.broker);
    const { refresh: second } = await refresh(first);
    const [exchanged] = await Promise.allSettled([refresh(second), refresh(first).catch(() => {})]);
    const last = exchanged.status === "fulfilled" ? exchanged.value.refresh : second;
    expect(await refusal(refresh(last))).toEqual(REFUSED);
    expect((await familyOf(user.id)).some(({ revoked }) => revoked)).toBe(true);
  });

  test("is refused once expired", async () => {
    const { refresh: token, user } = await register(app.broker);
    await query("update refresh_tokens set expires_at = now() where user_id = $1", [user.id]);
    expect(await refusal(refresh(token))).toEqual(REFUSED);
  });

  test("lives for seven days", async () => {
    const { user } = await register(app.broker);
    const row = await queryOne<{ days: number }>(
      "select round(extract(epoch from expires_at - now()) / 86400)::int days from refresh_tokens where user_id = $1",
      [user.id],
    );
    expect(row!.days).toBe(7);
  });

  test("is refused if invented, and anything else is an error of the field", async () => {
    expect(await refusal(refresh("x".repeat(43)))).toEqual(REFUSED);
    expect(await refusal(refresh(""))).toEqual([400, { refresh: ["This field may not be blank."] }]);
    expect(await refusal(app.broker.call("accounts.refresh", { refresh: 1 }))).toEqual([
      400,
      { refresh: ["Not a valid string."] },
    ]);
  });

  describe("after its expiry", () => {
    const purge = () => call(app.broker, "accounts.purge", {});

    test("is purged, and valid ones stay", async () => {
      const old = await register(app.broker);
      const good = await register(app.broker);
      await query("update refresh_tokens set expires_at = now() - interval '1 s' where user_id = $1", [old.user.id]);
      await purge();
      expect(await familyOf(old.user.id)).toEqual([]);
      expect((await refresh(good.refresh)).refresh).toBeTruthy();
    });

    test("stays stored if revoked, until no other token of its family can be used", async () => {
      const { refresh: first, user } = await register(app.broker);
      await refresh(first);
      await refusal(refresh(first));
      // State after a rotation overlapped the revocation: a new token beside the revoked ones.
      await query("update refresh_tokens set revoked_at = null where user_id = $1 and spent_at is null", [user.id]);
      await query(
        "update refresh_tokens set expires_at = now() - interval '1 s' where user_id = $1 and spent_at is not null",
        [user.id],
      );
      await purge();
      expect(await familyOf(user.id)).toHaveLength(2);
    });
  });
});
