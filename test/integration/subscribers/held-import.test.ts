/** Held imports: upload, inspect, try, start and expire. */
import { query } from "../../../models/database/db.ts";
import { purgeImports } from "../../../models/statements/imports.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { until } from "../campaigns/world.ts";

const IMPORTS = "/api/emails/imports/";
const GERMAN =
  "sep=;\nKontakt;Ort;Abgemeldet am;Anmerkung\na@x.org;K\u00f6ln;;x\nb@x.org;Bonn;2024-01-01;\nnobody;Ulm;;\n";
const MAPPING = { Kontakt: "email", Ort: "city", "Abgemeldet am": null, Anmerkung: null };

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
});
beforeEach(async () => {
  company = await newCompany(app);
});
afterAll(() => app.stop());

async function upload(content: string | Uint8Array<ArrayBuffer>, name = "people.csv", of = company): Promise<string> {
  const { status, body } = await of.api.post(IMPORTS, fileForm(content, name));
  expect([status, body.status, body.filename, body.startable]).toEqual([201, "waiting", name, true]);
  return body.id;
}
const read = async (id: string) => (await company.api.get(`${IMPORTS}${id}/`)).body;
const start = (id: string, body: object = {}) => company.api.post(`${IMPORTS}${id}/start/`, body);
const columns = (id: string, query: Record<string, string> = {}) =>
  company.api.get(`${IMPORTS}${id}/columns/`, { query });
const over = (id: string) =>
  until(
    () => read(id),
    ({ status }) => status !== "running",
  );
const people = async () =>
  (await company.api.get("/api/emails/subscribers/", { query: { ordering: "email" } })).body.results;
const parts = () => query("select from import_parts where company_id = $1", [company.id]);

test("one upload is inspected, tried any number of times, and imported once", async () => {
  const id = await upload(GERMAN);
  const look = (await columns(id)).body;
  expect(look).toMatchObject({
    charset: "utf-8",
    delimiter: ";",
    problem: expect.stringContaining('no column "email"'),
  });
  expect(look.columns[0]).toEqual({
    name: "Kontakt",
    values: ["a@x.org", "b@x.org", "nobody"],
    as: "attribute",
    attribute: "Kontakt",
  });
  const mapped = (await columns(id, { mapping: JSON.stringify(MAPPING) })).body;
  expect(mapped.problem).toBeNull();
  expect(mapped.columns.map(({ as, attribute }: { as: string; attribute: string }) => [as, attribute])).toEqual([
    ["email", null],
    ["attribute", "city"],
    ["ignored", null],
    ["ignored", null],
  ]);

  for (const dry_run of [true, true, false]) {
    const started = await start(id, { mapping: MAPPING, dry_run });
    expect([started.status, started.body.mapping]).toEqual([202, MAPPING]);
    expect(await people()).toHaveLength(0);
    const { errors_url, ...ended } = await over(id);
    expect(ended).toMatchObject({ status: "done", dry_run, total: 3, created: 2, errors_count: 1, startable: dry_run });
    expect(ended.errors).toEqual([{ row: 5, email: "nobody", error: "email: Enter a valid email address." }]);
    const { text } = await company.api.get(errors_url);
    expect(text).toBe("row,email,error\r\n5,nobody,email: Enter a valid email address.\r\n");
    expect(await parts()).toHaveLength(dry_run ? 1 : 0);
  }
  expect(await people()).toMatchObject([{ email: "a@x.org", attributes: { city: "Köln" } }, { email: "b@x.org" }]);
  const again = await start(id);
  expect([again.status, again.body.detail]).toEqual([400, "The file is no longer kept. Upload it again."]);
  expect((await columns(id)).status).toBe(400);
});

test("a start ignores the date order and missing header of an earlier trial", async () => {
  const id = await upload("email,born\na@x.org,03/04/2000\nb@x.org,05/04/2000\n");
  await start(id, { dry_run: true, date_order: "mdy", header: false, mapping: { 1: "email", 2: "born" } });
  expect(await over(id)).toMatchObject({ date_order: "mdy", header: false, total: 3 });
  await start(id);
  expect(await over(id)).toMatchObject({ date_order: null, header: true, total: 2, created: 2 });
  expect(await people()).toMatchObject([
    { attributes: { born: "03/04/2000" } },
    { attributes: { born: "05/04/2000" } },
  ]);
});

test("a failed start imports nothing and can be repeated: the file is kept", async () => {
  const latin = Uint8Array.from(Buffer.from(GERMAN, "latin1"));
  const id = await upload(latin);
  expect((await columns(id)).body).toMatchObject({ charset: "windows-1252", delimiter: ";" });
  await start(id, { mapping: MAPPING });
  expect(await over(id)).toMatchObject({
    status: "failed",
    startable: true,
    error: expect.stringContaining("not UTF-8"),
  });
  await start(id, { mapping: MAPPING, charset: "windows-1252" });
  expect(await over(id)).toMatchObject({ status: "done", created: 2, startable: false, error: null });
});

test("one of two concurrent starts succeeds", async () => {
  const id = await upload(`email\n${Array.from({ length: 500 }, (_, n) => `p${n}@x.org`).join("\n")}\n`);
  const answers = await Promise.all([start(id), start(id), start(id)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 400, 400]);
  expect(await over(id)).toMatchObject({ status: "done", created: 500, updated: 0 });
});

test("columns with opt-outs count in addition to a column mapped to the status", async () => {
  const id = await upload("email,Stage,UNSUB_TIME\na@x.org,active,2024-01-01\nb@x.org,active,\n");
  const mapping = { Stage: "status" };
  const look = (await columns(id, { mapping: JSON.stringify(mapping) })).body;
  expect(look.columns.map(({ as }: { as: string }) => as)).toEqual(["email", "status", "unsubscribed"]);
  await start(id, { mapping });
  await over(id);
  expect((await people()).map(({ status }: { status: string }) => status)).toEqual(["unsubscribed", "active"]);
});

test("a wrong mapping, list or charset, and unknown fields are a 400, and the file stays", async () => {
  const id = await upload("email\na@x.org\n");
  for (const body of [
    { mapping: { email: "\n" } },
    { list_id: "0195f7a0-0000-7000-8000-000000000001" },
    { charset: "klingon" },
    { dryrun: true },
  ]) {
    expect(await start(id, body)).toMatchObject({
      status: 400,
      body: { [Object.keys(body)[0]!]: [expect.any(String)] },
    });
  }
  expect(await read(id)).toMatchObject({ status: "waiting" });
});

test("it is invisible to others; read-only users can neither upload nor start it", async () => {
  const id = await upload("email\na@x.org\n");
  const stranger = (await newCompany(app)).api;
  const owner = client(app, { token: company.token });
  const reader = await owner.post(`/api/companies/${company.id}/api-keys/`, { name: "R", scopes: ["read"] });
  for (const [api, denied] of [
    [stranger, 404],
    [client(app, { key: reader.body.key }), 403],
  ] as const) {
    const answers = [await api.post(`${IMPORTS}${id}/start/`, {}), await api.delete(`${IMPORTS}${id}/`)];
    expect(answers.map(({ status }) => status)).toEqual([denied, denied]);
  }
  expect((await stranger.get(`${IMPORTS}${id}/columns/`)).status).toBe(404);
  expect((await stranger.get(IMPORTS)).body.count).toBe(0);
  expect((await company.api.get(IMPORTS)).body).toMatchObject({ count: 1, results: [{ id, status: "waiting" }] });
});

test("at most five are held: the oldest is removed, and all are after a day", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push(await upload("email\na@x.org\n", `${n}.csv`));
  const { results } = (await company.api.get(IMPORTS)).body;
  expect(results.map(({ filename }: { filename: string }) => filename)).toEqual([5, 4, 3, 2, 1].map((n) => `${n}.csv`));
  expect((await company.api.delete(`${IMPORTS}${ids[1]}/`)).status).toBe(204);
  await query("update imports set created_at = created_at - interval '25 hours' where company_id = $1", [company.id]);
  // Requested within the day, so it stays.
  await query("update imports set started_at = now() where id = $1", [ids[5]]);
  await purgeImports();
  expect((await company.api.get(IMPORTS)).body.results).toMatchObject([{ id: ids[5] }]);
  expect(await parts()).toHaveLength(1);
});

test.each(["utf8", "utf16le"] as const)(
  "a held file that names an erased person (%s) is deleted, and others stay",
  async (encoding) => {
    const inUse = async (text: string, name: string) =>
      upload(Uint8Array.from(Buffer.from(`\uFEFF${text}`, encoding)), name);
    const hers = await inUse(`email\n${"b@x.org\n".repeat(200_000)}Ann@x.org\n`, "hers.csv");
    const others = await inUse("email\njoann@x.org\n", "others.csv");
    await company.api.post("/api/emails/subscribers/erase/", { email: "ann@x.org" });
    expect((await company.api.get(`${IMPORTS}${hers}/`)).status).toBe(404);
    expect(await read(others)).toMatchObject({ status: "waiting" });
  },
);
