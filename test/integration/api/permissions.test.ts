/** Tests the table of permissions against the service: every route with every role and every scope of a key. */

import { Membership } from "../../../models/membership.ts";
import { pathNames } from "../../../services/gateway/http/params.ts";
import { type Route, routes } from "../../../services/gateway/routes.ts";
import { newId } from "../../../services/lib/ids.ts";
import { ROLES, type Role, SCOPES, type Scope } from "../../../services/lib/rights.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, type TestCompany } from "../../support/client.ts";

type Who = Role | Scope;

const walked = routes.filter(({ access }) => access === "company" || access === "user");

/** The documented decisions, written down a second time, so that an accidental change of the table fails here. */
function expected({ method, path, access }: Route, who: Who): boolean {
  const isExport = path.endsWith("/export/") || path.endsWith("/data/");
  const isPerson = (ROLES as readonly string[]).includes(who);
  const isAdminsBusiness = /smtp|webhook|inbound-sources|\/api\/companies\/:id\/$|api-keys/.test(path);
  const isMembers = path.includes("/members/");
  if (!isPerson) {
    if (access === "user") return false;
    if (who === "full") return true;
    if (isExport) return who === "export";
    if (who === "read") return method === "GET";
    if (who === "send")
      return (
        path.includes("/send/") || (/^\/api\/emails\/campaigns\/(:id\/(stream\/)?)?$/.test(path) && method === "GET")
      );
    if (who === "settings") return /smtp|webhook|inbound-sources|companies/.test(path);
    if (who === "subscribers") return /\/(subscribers|lists|segments|suppressions|imports)\//.test(path);
    if (who === "campaigns")
      return (
        /\/(campaigns|drafts|sent-emails|events|stats|bounces|inbound|templates|saved-blocks|media)\//.test(path) &&
        !path.includes("/send/")
      );
    return false;
  }
  if (method === "DELETE" && path === "/api/companies/:id/") return who === "owner";
  if (path.endsWith("/audit-log/")) return who === "admin" || who === "owner";
  if (method === "GET" && !isExport) return true;
  if (who === "viewer") return false;
  // Removing somebody else; everybody may leave (members.test.ts).
  if (isMembers || isAdminsBusiness) return who === "admin" || who === "owner";
  return true;
}

describe("the table of permissions", () => {
  let app: App;
  let company: TestCompany;
  const callers = {} as Record<Who, Client>;

  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
    const owner = client(app, { token: company.token });
    for (const scope of SCOPES) {
      const made = await owner.post(`/api/companies/${company.id}/api-keys/`, { name: scope, scopes: [scope] });
      callers[scope] = client(app, { key: made.body.key });
    }
    for (const role of ROLES) {
      const { userId, token } = await newCompany(app);
      await Membership.create({ companyId: company.id, userId, role });
      callers[role] = client(app, { token });
    }
  });
  afterAll(() => app.stop());

  /** True unless refused for lack of permission. Requests address missing things, so nothing else happens. */
  async function isAllowed({ method, path }: Route, who: Who): Promise<boolean> {
    const target = pathNames(path).reduce(
      (text, name) =>
        text.replace(`:${name}`, name === "id" && path.startsWith("/api/companies/") ? company.id : newId()),
      path,
    );
    const isPerson = (ROLES as readonly string[]).includes(who);
    const body = method === "GET" || method === "DELETE" ? undefined : isPerson ? { company: company.id } : {};
    const query: Record<string, string> =
      isPerson && !path.startsWith("/api/companies/") ? { company: company.id } : {};
    const answer = await callers[who].request(method, target, body, { query });
    if (answer.status === 401 || answer.status >= 500)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    if (answer.status !== 403) return true;
    const named = SCOPES.some((scope) => answer.body.detail.includes(`lacks the scope "${scope}"`));
    expect(answer.body.detail).toMatch(/^You do not have permission|lacks the scope|^An API key cannot do this/);
    expect(named).toBe(!isPerson && permissionOf(pathAction(method, path))!.scopes.length > 0);
    return false;
  }
  const pathAction = (method: string, path: string) =>
    walked.find((one) => one.method === method && one.path === path)!.action;

  test("a key with the scope send reads only the campaigns that it created", async () => {
    const relay = { name: "Relay", host: "127.0.0.1", port: 9, username: "", password: "", use_tls: false };
    const smtp = await callers.full.post("/api/emails/smtp-configs/", { ...relay, sender_email: "news@example.com" });
    const mail = {
      name: "Receipt",
      smtp_config_id: smtp.body.id,
      subject: "Thanks",
      body: "<p>Thanks</p>",
      receivers: [{ email: "ann@example.com" }],
    };
    const own = await callers.send.post("/api/emails/send/custom/", mail);
    const other = await callers.full.post("/api/emails/send/custom/", mail);
    expect([own.status, other.status]).toEqual([201, 201]);
    const path = (id: string) => `/api/emails/campaigns/${id}/`;
    expect((await callers.send.get(path(own.body.id))).status).toBe(200);
    expect((await callers.send.get(path(other.body.id))).status).toBe(404);
    expect((await callers.send.get("/api/emails/campaigns/")).body).toMatchObject({
      count: 1,
      results: [{ id: own.body.id }],
    });
    expect((await callers.read.get("/api/emails/campaigns/")).body.count).toBe(2);
  });

  test("a key may be bound to addresses, and a company has at most 20 keys", async () => {
    const owner = client(app, { token: company.token });
    const path = `/api/companies/${company.id}/api-keys/`;
    const wrong = await owner.post(path, { name: "Wrong", scopes: ["all"], allowed_ips: ["10.0.0.0/33", "::1"] });
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        scopes: [expect.stringContaining("is not a valid choice.")],
        allowed_ips: ['"10.0.0.0/33" is neither an address nor a network such as 192.0.2.0/24.'],
      },
    ]);
    const networks = ["198.51.100.0/24", "2001:db8:1::/48"];
    const { body } = await owner.post(path, { name: "Office", allowed_ips: networks });
    expect(body).toMatchObject({ allowed_ips: networks, scopes: ["full"], created_by: { id: company.userId } });
    const seen = async (ip: string) => (await client(app, { key: body.key, ip }).get("/api/emails/lists/")).status;
    expect([await seen("198.51.100.7"), await seen("2001:db8:1::9")]).toEqual([200, 200]);
    expect([await seen("198.51.101.7"), await seen("2001:db8:2::9")]).toEqual([403, 403]);

    const { count } = (await owner.get(path)).body;
    const made = await Promise.all(
      Array.from({ length: 22 - count }, (_, n) => owner.post(path, { name: `Key ${n}` })),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual([...Array(20 - count).fill(201), 400, 400]);
  });

  const everybody: Who[] = [...ROLES, ...SCOPES];

  test("contains exactly the routes of companies", () => {
    for (const { action } of walked) expect([action, permissionOf(action)]).toEqual([action, expect.anything()]);
    const open = routes.filter(({ access }) => access === "public");
    for (const { action } of open) expect([action, permissionOf(action)]).toEqual([action, undefined]);
  });

  test.each(walked.map((route) => [route.method, route.path, route] as const))(
    "%s %s",
    async (_method, _path, route) => {
      const allowed: Record<string, boolean> = {};
      const wanted: Record<string, boolean> = {};
      for (const who of everybody) {
        allowed[who] = await isAllowed(route, who);
        wanted[who] = expected(route, who);
      }
      expect(allowed).toEqual(wanted);
    },
  );
});
