/** Concurrent creation of subscribers of one company. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { MAX_ATTRIBUTES } from "../../../services/lib/attributes.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/subscribers/";
let app: App;
let own: TestCompany;
let other: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
});
afterAll(() => app.stop());
beforeEach(async () => {
  [own, other] = await Promise.all([newCompany(app), newCompany(app)]);
});

const create = (body: object, { api }: TestCompany = own) => api.post(PATH, body);
const numbered = (many: number, from = 0) =>
  Array.from({ length: many }, (_, no) => ({ email: `u${from + no}@example.com`, first_name: `U${from + no}` }));
const createAll = (bodies: readonly object[]) => Promise.all(bodies.map((body) => create(body)));
const stored = async ({ id }: TestCompany) =>
  (await queryOne<{ n: number }>("select count(*) n from subscribers where company_id = $1", [id]))!.n;

test("each request is answered with its own subscriber", async () => {
  const foreign = create({ email: "u1@example.com", first_name: "Somebody else" }, other);
  const answers = await createAll(numbered(120));
  expect(answers.map(({ status, body }) => [status, body.email, body.first_name])).toEqual(
    numbered(120).map(({ email, first_name }) => [201, email, first_name]),
  );
  expect((await foreign).body).toMatchObject({ first_name: "Somebody else" });
  expect([await stored(own), await stored(other)]).toEqual([120, 1]);
});

test("one address in many requests becomes one subscriber with all given values", async () => {
  const attributes = (no: number) => ({ email: "Ann@example.com", attributes: { [`a${no}`]: no } });
  const answers = await createAll(Array.from({ length: 30 }, (_, no) => attributes(no)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
  const row = await queryOne<{ attributes: object }>("select attributes from subscribers where company_id = $1", [
    own.id,
  ]);
  expect(Object.keys(row!.attributes)).toHaveLength(30);
});

test("a refused request does not affect the others", async () => {
  const full = Object.fromEntries(Array.from({ length: MAX_ATTRIBUTES }, (_, no) => [`a${no}`, no]));
  await create({ email: "full@example.com", attributes: full });
  await own.api.post(`${PATH}erase/`, { email: "gone@example.com" });
  const [one, full1, gone, two] = await createAll([
    { email: "one@example.com" },
    { email: "full@example.com", attributes: { more: 1 } },
    { email: "gone@example.com" },
    { email: "two@example.com" },
  ]);
  expect([one!.status, two!.status]).toEqual([201, 201]);
  expect(full1).toMatchObject({ status: 400, body: { attributes: [expect.any(String)] } });
  expect(gone).toMatchObject({ status: 400, body: { email: [expect.stringContaining("erased")] } });
  expect(await stored(own)).toBe(3);
});

test("requests do not wait for a locked row of another subscriber", async () => {
  await create({ email: "held@example.com" });
  await transaction(async (client) => {
    await query("update subscribers set first_name = 'Held' where company_id = $1", [own.id], client);
    let isSaved = false;
    const held = create({ email: "held@example.com", last_name: "Later" }).finally(() => (isSaved = true));
    const answers = await createAll(numbered(20));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(isSaved).toBe(false);
    return { held };
  }).then(async ({ held }) => {
    expect((await held).body).toMatchObject({ first_name: "Held", last_name: "Later" });
  });
});
