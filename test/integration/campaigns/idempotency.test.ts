import { query, queryOne } from "../../../models/database/db.ts";
import { addMembers, as, newCompany, toList, toReceivers, useCompany, useWorld } from "./world.ts";

describe("Idempotency-Key", () => {
  const world = useWorld();
  const company = useCompany();
  beforeEach(async () => {
    await addMembers(company, 1);
  });

  const campaigns = async (of = company) =>
    (await queryOne<{ n: number }>("select count(*) n from campaigns where company_id = $1", [of.id]))!.n;
  const send = (extra: object, of = company) => as(world, of)("campaigns.sendToList", toList(of, extra));

  test("the same key with the same body gives the first answer and creates nothing", async () => {
    const first = await send({ idempotency_key: "k" });
    // Equal byte for byte, including the order of fields.
    expect(JSON.stringify(await send({ idempotency_key: "k" }))).toBe(JSON.stringify(first));
    expect(await campaigns()).toBe(1);
  });

  test("the answer is stored as a JSON object", async () => {
    const first = await send({ idempotency_key: "k" });
    const stored = await queryOne<{ type: string; id: string }>(
      "select jsonb_typeof(response::jsonb) as type, response ->> 'id' as id from idempotency_keys where company_id = $1",
      [company.id],
    );
    expect(stored).toEqual({ type: "object", id: first.id });
  });

  test("the order of a body's fields does not matter", async () => {
    const first = await send({ idempotency_key: "k" });
    const { name, ...rest } = toList(company);
    expect(await as(world, company)("campaigns.sendToList", { ...rest, idempotency_key: "k", name })).toEqual(first);
  });

  test("the first answer is given even if what it referred to has been deleted, or the quota is used up", async () => {
    const first = await send({ idempotency_key: "k" });
    await query("delete from templates where company_id = $1", [company.id]);
    world.admitEmails = () => {
      throw new Error("not asked");
    };
    expect(await send({ idempotency_key: "k" })).toEqual(first);
    world.admitEmails = () => {};
  });

  test("the same key with another body, or for another kind of send, is 409", async () => {
    await send({ idempotency_key: "k" });
    await expect(send({ idempotency_key: "k", name: "Other" })).rejects.toMatchObject({ code: "CONFLICT" });
    const other = toReceivers(company, [{ email: "a@example.com" }], { idempotency_key: "k" });
    await expect(as(world, company)("campaigns.sendToReceivers", other)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await campaigns()).toBe(1);
  });

  test("each company has its own keys", async () => {
    const other = await newCompany();
    const [mine, theirs] = [await send({ idempotency_key: "k" }), await send({ idempotency_key: "k" }, other)];
    expect(mine.id).not.toBe(theirs.id);
  });

  test("twenty concurrent requests create one campaign and all get the same answer", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send({ idempotency_key: "race" })));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await campaigns()).toBe(1);
  });

  test("twenty concurrent requests with two bodies: one body wins, the other gets a 409", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => send({ idempotency_key: "race", name: n % 2 ? "A" : "B" })),
    );
    expect(await campaigns()).toBe(1);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
  });

  test("a first request that fails leaves the key free", async () => {
    world.hour = { limit: 1, used: 1, room: 0, retry_after_seconds: 9 };
    await expect(send({ idempotency_key: "k" })).rejects.toMatchObject({ code: "SMTP_RATE_LIMITED" });
    world.hour = { limit: null, used: 0, room: null, retry_after_seconds: 0 };
    await expect(send({ idempotency_key: "k", template_id: company.list })).rejects.toMatchObject({ code: "INVALID" });
    expect(await send({ idempotency_key: "k" })).toMatchObject({ status: "pending" });
  });

  test("after 24 hours a key counts as new, and old ones are deleted", async () => {
    const first = await send({ idempotency_key: "k" });
    await query("update idempotency_keys set created_at = now() - interval '24 hours' where company_id = $1", [
      company.id,
    ]);
    const second = await send({ idempotency_key: "k", name: "Other" });
    expect(second.id).not.toBe(first.id);
    expect(await send({ idempotency_key: "k", name: "Other" })).toEqual(second);
    await query("update idempotency_keys set created_at = now() - interval '24 hours' where company_id = $1", [
      company.id,
    ]);
    await as(world)("campaigns.tidy", {});
    expect(await queryOne("select count(*) n from idempotency_keys where company_id = $1", [company.id])).toEqual({
      n: 0,
    });
  });

  test.each([
    ["", "This field may not be blank."],
    ["x".repeat(257), "Ensure this field has no more than 256 characters."],
  ])("%#: an invalid key is refused", async (key, sentence) => {
    await expect(send({ idempotency_key: key })).rejects.toMatchObject({
      code: "INVALID",
      data: { fields: { idempotency_key: [sentence] } },
    });
  });
});
