/**
 * Sends every example of a request body in the OpenAPI document; only ids, tokens and hosts are replaced by real ones.
 */
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { query } from "../../../models/database/db.ts";
import { contractOf } from "../../../services/contracts.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { type Route, routes } from "../../../services/gateway/routes.ts";
import { isUuid } from "../../../services/lib/ids.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { Requests } from "../../support/requests.ts";
import { furnish, type Owned, pathOf } from "./furnish.ts";

const requests = new Requests(describeApi({ routes, contractOf, permissionOf, baseUrl: "http://localhost" }), []);
const exampleOf = (method: string, path: string) => requests.bodyOf(method, path)?.example;
// Bulk deletions go to the end, and the deletion of the company after them.
const sortOrder = ({ method, path }: Route) =>
  method === "DELETE" && path === "/api/companies/:id/" ? 2 : Number(path.includes("bulk-delete"));
/** Routes that need a code from a mail or an authenticator, or end the session: tested in test/integration/accounts. */
const NEEDS_MORE = /^\/api\/auth\/(verify|password|totp|invitations|logout)\//;
const withExamples = routes
  .filter(({ method, path, upload }) => !upload && !NEEDS_MORE.test(path) && exampleOf(method, path))
  .toSorted((a, b) => sortOrder(a) - sortOrder(b));

const KINDS: Record<string, string> = {
  template_id: "template",
  smtp_config_id: "smtp",
  default_smtp_config_id: "smtp",
  list_id: "list",
  segment_id: "segment",
  subscriber_ids: "subscriber",
  add_to_lists: "list",
  remove_from_lists: "list",
  lists: "list",
};

const anImage = () =>
  sharp({ create: { width: 1_400, height: 700, channels: 3, background: "white" } })
    .png()
    .toBuffer();

describe("examples of the OpenAPI document", () => {
  let app: App;
  let company: TestCompany;
  let owned: Owned;
  const prepared: Record<string, string> = {};
  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
    owned = await furnish(company, app);
    owned.media = (
      await company.api.post("/api/emails/media/", fileForm(new Uint8Array(await anImage()), "books.png"))
    ).body.id;
    prepared.over = await campaignThatIsOver();
    // People that examples refer to: one who signs in, and one who becomes a member.
    const join = async (email: string) => {
      const person = { email, password: "correct horse battery", company_name: "Another" };
      return (await client(app, { ip: someIp() }).post("/api/auth/register/", person)).body;
    };
    await join("grace@example.com");
    prepared.member = (await join("member@example.com")).user.id;
    await query("insert into memberships (company_id, user_id, role) values ($1, $2, 'admin')", [
      company.id,
      prepared.member,
    ]);
  });
  afterAll(() => app?.stop());

  /** Sends to a list without members. */
  async function campaignThatIsOver(): Promise<string> {
    const { api } = company;
    const list = (await api.post("/api/emails/lists/", { name: "Nobody" })).body.id;
    const send = { name: "Over", template_id: owned.template, smtp_config_id: owned.smtp, list_id: list };
    const { id } = (await api.post("/api/emails/send/to-list/", send)).body;
    const isOver = async () => (await api.get(`/api/emails/campaigns/${id}/`)).body.status === "completed";
    for (const deadline = Date.now() + 50_000; !(await isOver()); await sleep(50)) {
      if (Date.now() > deadline) throw new Error("The campaign does not end");
    }
    return id;
  }

  /** Replaces placeholders with this test's values. */
  function withRealValues(value: unknown, name = ""): unknown {
    if (Array.isArray(value)) return value.map((item) => withRealValues(item, name));
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRealValues(inner, key)]));
    }
    if (name === "refresh") return prepared.refresh;
    // Keeps all traffic on this machine.
    if (name === "host") return "127.0.0.1";
    if (name === "url" && typeof value === "string") return value.replace(/^https?:..[^/]+/, "http://127.0.0.1:9");
    if (!isUuid(value)) return value;
    const kind = KINDS[name];
    if (!kind) throw new Error(`This test does not know what ${name} refers to: extend it`);
    return owned[kind];
  }

  /** A mail of an earlier send. */
  async function someMail(): Promise<string> {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) {
      const { body } = await company.api.get("/api/emails/sent-emails/");
      if (body.results[0]) return body.results[0].id;
    }
    throw new Error("No mail was created within 30 s");
  }

  async function withTokens(path: string): Promise<string> {
    return path
      .replace(":company_id", company.id)
      .replace(":provider/:token", owned.report!)
      .replace(":token", personToken("preferences", company.id, owned.subscriber!))
      .replace(":sent_email_id", path.includes(":sent_email_id") ? await someMail() : "");
  }

  test.each(withExamples.map((route) => [route.method, route.path, route] as const))(
    "%s %s",
    async (method, path, route) => {
      const person = { token: company.token };
      const credentials = { company: { key: company.key }, user: person, person, anyone: {}, public: {} }[route.access];
      const target = pathOf(await withTokens(path), {
        ...owned,
        user: prepared.member!,
        ...(path.endsWith("/resend/") ? { campaign: prepared.over! } : {}),
      });
      const body = withRealValues(exampleOf(method, path)) as object;
      const answer = await client(app, { ...credentials, ip: someIp() }).request(method, target, body);
      expect([answer.status, answer.text]).toEqual([route.status, answer.text]);
      if (path.endsWith("/login/")) prepared.refresh = answer.body.refresh;
    },
  );
});
