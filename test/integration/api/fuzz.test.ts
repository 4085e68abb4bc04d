/**
 * Random requests that fast-check generates from the OpenAPI document. FUZZ=long (`npm run test:fuzz`) generates a
 * hundred times as many; FUZZ_SEED repeats a run, and each test's name contains the seed.
 */
import { randomInt } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { contractOf } from "../../../services/contracts.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { type Route, routes } from "../../../services/gateway/routes.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { Requests, type Schema } from "../../support/requests.ts";
import { furnish, type Owned, pathOf } from "./furnish.ts";

const long = process.env.FUZZ === "long";
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const RUNS = long ? 400 : 2;
const SEGMENT_RUNS = long ? 10_000 : 50;
const settings = (numRuns: number) => ({ seed, numRuns, endOnFailure: true });

jest.setTimeout(long ? 1_800_000 : 60_000);

const E = "/api/emails";
const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "http://localhost" });
/** Deletions go last, because the others need what they delete. Skips streams, which last an hour. */
const described = routes
  .filter(({ upload, answer }) => !upload && answer !== "events")
  .toSorted((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"));

describe(`requests generated from the document, FUZZ_SEED=${seed}`, () => {
  let app: App;
  let company: TestCompany;
  let owned: Owned;
  let requests: Requests;
  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
    owned = await furnish(company, app);
    requests = new Requests(document, Object.values(owned));
  });
  afterAll(() => app?.stop());

  const callers = (): Record<Route["access"], Client> => ({
    company: company.api,
    user: client(app, { token: company.token }),
    person: client(app, { token: company.token }),
    anyone: client(app),
    public: client(app),
  });

  /** Keeps the company's own credentials. */
  const isOwnAccess = ({ method, path }: Route) => method === "DELETE" && /api-keys|members|sessions/.test(path);
  const withId = (route: Route) =>
    isOwnAccess(route)
      ? pathOf(route.path, { ...owned, key: owned.list!, user: owned.list!, session: owned.list! })
      : pathOf(
          route.path
            .replace(":provider/:token", owned.report!)
            .replace(/:(token|sent_email_id|filename)/g, "AAAA")
            .replace(":company_id", company.id)
            .replace("public/media/:id", `public/media/${owned.media}`),
          owned,
        );

  const validator = (() => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv, ["date-time", "uuid", "uri"]).addFormat("email", true);
    return (schema: Schema) => {
      const isValid = ajv.compile(JSON.parse(JSON.stringify({ ...schema, components: document.components })));
      return (body: unknown) => isValid(JSON.parse(JSON.stringify(body)));
    };
  })();

  test("segments: valid ones are saved and read back, invalid ones are refused", async () => {
    const { schema } = requests.bodyOf("POST", `${E}/segments/`)!;
    const isAllowed = validator(schema);
    // References to missing things, and impossible dates, are refused beyond the schema.
    const refusedBeyond =
      /object does not exist|must be a date|lie within the years|Not a valid string\.|Null characters/;
    const counts = { saved: 0, refused: 0 };
    const property = fc.asyncProperty(requests.body(schema), fc.integer(), async (generated, n) => {
      const body = { ...generated, ...(typeof generated.name === "string" ? {} : { name: `Segment ${n}` }) };
      const { status, text, body: answer } = await company.api.post(`${E}/segments/`, body);
      if (isAllowed(body) && !refusedBeyond.test(text)) expect([status, text]).toEqual([201, text]);
      if (!isAllowed(body)) expect([status, body]).toEqual([400, body]);
      counts[status === 201 ? "saved" : "refused"]++;
      if (status === 201) expect((await company.api.get(`${E}/segments/${answer.id}/`)).status).toBe(200);
    });
    await fc.assert(property, settings(SEGMENT_RUNS));
    expect(Math.min(counts.saved, counts.refused)).toBeGreaterThan(SEGMENT_RUNS / 20);
  });

  test.each([
    ["suppressions", `${E}/suppressions/`, { email: "x@example.com", domain: "example.com" }, "reason"],
    ["sends", `${E}/send/to-list/`, { list_id: "list", segment_id: "segment" }, "name"],
  ])("%s: exactly one of two fields, as the document says", async (_name, path, either, other) => {
    const { schema, example } = requests.bodyOf("POST", path)!;
    const isAllowed = validator(schema);
    const [one, two] = Object.keys(either) as [string, string];
    const value = (name: string) => owned[(either as Record<string, string>)[name]!] ?? either[name as never];
    const rest = { template_id: owned.template, smtp_config_id: owned.smtp, ...example, [other]: "Some text" };
    const common = path.includes("/send/")
      ? { ...rest, template_id: owned.template, smtp_config_id: owned.smtp }
      : rest;
    const given = (names: string[]) => ({
      ...Object.fromEntries(Object.entries(common).filter(([name]) => name !== one && name !== two)),
      ...Object.fromEntries(names.map((name) => [name, value(name)])),
    });
    for (const [names, allowed] of [
      [[one], true],
      [[two], true],
      [[one, two], false],
      [[], false],
    ] as const) {
      const body = given([...names]);
      const { status } = await company.api.post(path, body);
      expect([names, isAllowed(body), status]).toEqual([names, allowed, allowed ? 201 : 400]);
    }
  });

  test("lists accept exactly the documented orderings", async () => {
    for (const route of routes.filter(({ answer }) => answer === "list")) {
      const { parameters } = requests.operation(route.method, route.path);
      const { schema } = parameters.find(({ name }) => name === "ordering")!;
      const ask = async (ordering: unknown) =>
        (await callers()[route.access].get(withId(route), { query: { ordering: String(ordering) } })).status;
      for (const ordering of schema.enum ?? []) expect([route.path, ordering, await ask(ordering)]).toContain(200);
      expect([route.path, schema.enum?.length ?? 0, await ask("nothing")]).toContain(400);
    }
  });

  // The client throws for a 500 and for undescribed answers.
  test.each(described.map((route) => [route.method, route.path, route] as const))(
    "%s %s is answered as described",
    async (method, path, route) => {
      const caller = callers()[route.access];
      const property = fc.asyncProperty(requests.request(method, path), async ({ query, headers, body }) => {
        const { status } = await caller.request(method, withId(route), body, { query, headers, ip: someIp() });
        expect(status).toBeLessThan(500);
      });
      await fc.assert(property, settings(RUNS));
    },
  );
});
