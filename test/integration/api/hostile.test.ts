/**
 * Hostile input for each field of each operation: never a 500, never a hang, always as described. Here each field gets
 * a tenth of the values; FUZZ=long (`npm run test:fuzz`) combines all.
 */
import { contractOf } from "../../../services/contracts.ts";
import { pathNames, propertiesOf } from "../../../services/gateway/http/params.ts";
import { type Route, routes } from "../../../services/gateway/routes.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const ID = "0190a0a0-0000-7000-8000-000000000001";
const CONCURRENCY = 16;
const SHARE = process.env.FUZZ === "long" ? 1 : 10;
let fieldsSeen = 0;

/** Values for the next field. */
function someOf<T>(values: readonly T[]): T[] {
  const first = fieldsSeen++;
  return values.filter((_, n) => (n + first) % SHARE === 0);
}

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: [nested(depth - 1)] });
const withProto = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
) as unknown;

/** Values that break parsers, databases, mail headers, templates and prototypes, whatever the field's type. */
const VALUES: unknown[] = [
  "",
  " \t\n",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "x".repeat(30_000),
  "é\u202e👩‍👩‍👧\ufeff\u2028",
  "a\r\nBcc: victim@example.com",
  "' or 1=1; drop table companies; --",
  "%s%n%00{{7*7}}${7*7}[[#each x]][[name",
  "../../../../etc/passwd",
  "__proto__",
  "00000000-0000-0000-0000-000000000000",
  `${ID}\n`,
  "9999-99-99T99:99:99Z",
  "275760-09-13T00:00:00Z",
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 63,
  1e308,
  true,
  null,
  [],
  {},
  [null],
  [[[[]]]],
  ["x", "\0", 1, null, {}],
  Array.from({ length: 5_000 }, () => "x"),
  Array.from({ length: 3 }, () => ID),
  nested(20),
  nested(2_000),
  withProto,
  [withProto],
  { toString: null, valueOf: null, toJSON: null },
];

/** The same for URLs, encoded as on the wire. */
const TEXTS = [
  "",
  "%00",
  "%ED%A0%80",
  "%zz",
  "%F0%9F%92%A9",
  "..%2f..%2fetc",
  "'%20or%201=1--",
  "__proto__",
  "-1",
  "1e9",
  "NaN",
  "x".repeat(3_000),
  "[]",
  "%25",
  "null",
];

const BODIES = [
  '{"constructor":"\\u0000","toString":1,"hasOwnProperty":[],"valueOf":{}}',
  "",
  "null",
  "true",
  "0",
  '"x"',
  "[]",
  "{",
  "}",
  "[".repeat(100_000),
  '{"a":'.repeat(50_000),
  '{"__proto__":'.repeat(5_000),
  "\ufeff{}",
  '{"a":1,"a":2}',
  "\u0000",
];

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
}

const fill = (path: string) => path.replaceAll(/:(\w+)/g, (_, name: string) => (name.endsWith("id") ? ID : "x"));
const isWrite = ({ method }: Route) => method === "POST" || method === "PUT" || method === "PATCH";

function* attempts(route: Route): Generator<Attempt> {
  const { method, path, action } = route;
  const contract = contractOf(action);
  const inPath = pathNames(path);
  for (const name of inPath) {
    for (const text of TEXTS) yield { method, path: fill(path.replace(`:${name}`, text || "%20")) };
  }
  const fields = Object.keys(propertiesOf(contract)).filter((name) => !inPath.includes(name));
  const target = fill(path);
  for (const name of isWrite(route) ? ["company"] : [...fields, "company"]) {
    for (const text of someOf(TEXTS)) yield { method, path: `${target}?${name}=${text}` };
  }
  if (!isWrite(route) || route.upload) return;
  for (const body of BODIES) yield { method, path: target, body };
  const isValid = contract.example as Record<string, unknown> | undefined;
  for (const name of fields) {
    for (const value of someOf(VALUES)) yield { method, path: target, body: { ...isValid, [name]: value } };
  }
}

describe("hostile input", () => {
  let app: App;
  let company: TestCompany;
  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
  });
  afterAll(() => app.stop());

  const callers = (): Record<Route["access"], Client> => ({
    company: company.api,
    user: client(app, { token: company.token }),
    person: client(app, { token: company.token }),
    anyone: client(app),
    public: client(app),
  });

  /** Company paths get a valid company, so that requests reach their action. */
  const ofCompany = (path: string) => path.replace(/^\/api\/companies\/0190a0a0[^/]*/, `/api/companies/${company.id}`);

  // The client throws for a 500 and for undescribed answers, and times out on a hang.
  test.each(routes.map((route) => [route.method, route.path, route] as const))("%s %s", async (_, __, route) => {
    const caller = callers()[route.access];
    const queue = attempts(route);
    const worker = async () => {
      for (const { method, path, body } of queue) {
        await caller.request(method, ofCompany(path), body as object | undefined, { ip: someIp() });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  });

  test.each([
    ["nothing", ""],
    ["no header", "1,2,3\n"],
    ["only quotes", '"'.repeat(10_001)],
    ["NUL bytes", `email\n${"\0".repeat(1_000)}@example.com\n`],
    ["a line without an end", `email\n${"x".repeat(2_000_000)}`],
    ["thousands of columns", `email,${Array.from({ length: 5_000 }, (_, i) => `c${i}`).join()}\na@example.com\n`],
    ["prototype columns", "email,__proto__,constructor,toString\na@example.com,x,y,z\n"],
    ["UTF-16", new Uint8Array(Buffer.from("\ufeffemail\na@example.com\n", "utf16le"))],
    ["bytes of an image", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
  ])("%s as an uploaded file", async (_, content) => {
    for (const path of ["/api/emails/subscribers/bulk/", "/api/emails/media/"]) {
      for (const filename of ["a.csv", "../../etc/passwd", "a\u202egnp.exe", `${"x".repeat(300)}.svg`]) {
        await company.api.post(path, fileForm(content, filename));
      }
      for (const list_id of [ID, "\0"]) await company.api.post(path, fileForm(content, "a.csv", { list_id }));
    }
  });

  test("an array that fills the whole body limit is refused for its cost before it is parsed", async () => {
    for (const [item, path, field] of [
      ["1", "subscribers/bulk-delete", "subscriber_ids"],
      ['"x"', "subscribers/bulk-delete", "subscriber_ids"],
      ["{}", "send/to-receivers", "receivers"],
      ["[]", "send/to-receivers", "receivers"],
    ] as const) {
      const items = `${item},`.repeat(Math.floor(16_000_000 / (item.length + 1)));
      const { status } = await company.api.post(`/api/emails/${path}/`, `{"${field}":[${items}1]}`);
      expect([item, status]).toEqual([item, 413]);
    }
  });

  test("no prototype is polluted by any of it, and the company is served", async () => {
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((await company.api.get(`/api/companies/${company.id}/`)).status).toBe(200);
  });
});
