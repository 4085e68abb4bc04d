import { contractOf } from "../../../services/contracts.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { furnish, type Owned, pathOf } from "./furnish.ts";

const E = "/api/emails";

/** Isolation of companies; people are covered by test/integration/accounts/people.test.ts. */
const withIds = routes.filter(({ path, access }) => (access === "company" || access === "user") && path.includes("/:"));

describe("access to another company's resources", () => {
  let app: App;
  let ours: TestCompany;
  let theirs: TestCompany;
  let owned: Owned;
  let before: unknown;

  /** Columns changed by reads and by checks of the unreachable endpoint. */
  const TRACES = new Set(["last_used_at", "checked_at", "check_failures", "failing_since"]);
  const withoutTraces = (key: string, value: unknown) => (TRACES.has(key) ? "" : value);

  const everything = async () => {
    const own = client(app, { token: theirs.token, query: { company: theirs.id } });
    const readable = routes.filter(
      // Skips exports, which write to the log that is read here, too, and streams, which do not end.
      ({ method, path, answer, access }) =>
        method === "GET" && access !== "public" && answer !== "csv" && answer !== "events" && !path.endsWith("/data/"),
    );
    const seen: Record<string, unknown> = {};
    for (const { path } of readable) {
      const query = path.endsWith("/send/audience/") ? { list_id: owned.list! } : undefined;
      const { status, body, text } = await own.get(pathOf(path, owned), { query });
      // Skips values that reads or the clock change.
      if (path.endsWith("/plan/") || path.includes("/deliveries/")) continue;
      seen[path] = { status, body: JSON.parse(JSON.stringify(body ?? text), withoutTraces) };
    }
    return seen;
  };

  beforeAll(async () => {
    app = await startApp();
    [ours, theirs] = [await newCompany(app), await newCompany(app)];
    owned = await furnish(theirs, app);
    before = await everything();
  });
  afterAll(() => app.stop());

  test("the owner's key and token reach all of these routes, so that the following 404s are meaningful", async () => {
    const statuses = Object.entries(before as Record<string, { status: number }>).map(([path, { status }]) => [
      path,
      status,
    ]);
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
  });

  test.each(withIds.map((route) => [route.method, route.path, route] as const))(
    "%s %s is 404 for another's id",
    async (method, path, { action, access }) => {
      const body = method === "GET" || method === "DELETE" ? undefined : (contractOf(action).example ?? {});
      const asPerson = client(app, {
        token: ours.token,
        query: path.startsWith("/api/companies/") ? {} : { company: ours.id },
      });
      const callers = access === "user" ? [asPerson] : [ours.api, asPerson];
      for (const caller of callers) {
        const { status, body: answer } = await caller.request(method, pathOf(path, owned), body as object);
        expect([status, answer]).toEqual([404, { detail: "Not found." }]);
      }
    },
  );

  const send = { name: "Theft", template_id: "", smtp_config_id: "", list_id: "" };
  const receivers = [{ email: "x@example.com" }];
  test.each<[method: string, path: string, field: string, body: (owned: Owned, mine: Owned) => object]>([
    [
      "POST",
      `${E}/send/to-list/`,
      "template_id",
      (o, m) => ({ ...send, template_id: o.template, smtp_config_id: m.smtp, list_id: m.list }),
    ],
    [
      "POST",
      `${E}/send/to-list/`,
      "smtp_config_id",
      (o, m) => ({ ...send, template_id: m.template, smtp_config_id: o.smtp, list_id: m.list }),
    ],
    [
      "POST",
      `${E}/send/to-list/`,
      "list_id",
      (o, m) => ({ ...send, template_id: m.template, smtp_config_id: m.smtp, list_id: o.list }),
    ],
    [
      "POST",
      `${E}/send/to-list/`,
      "segment_id",
      (o, m) => ({ name: "x", template_id: m.template, smtp_config_id: m.smtp, segment_id: o.segment }),
    ],
    [
      "POST",
      `${E}/send/to-list/`,
      "attachment_ids",
      (o, m) => ({
        ...send,
        template_id: m.template,
        smtp_config_id: m.smtp,
        list_id: m.list,
        attachment_ids: [o.media],
      }),
    ],
    [
      "POST",
      `${E}/send/to-receivers/`,
      "template_id",
      (o, m) => ({ name: "x", receivers, template_id: o.template, smtp_config_id: m.smtp }),
    ],
    [
      "POST",
      `${E}/send/to-receivers/`,
      "smtp_config_id",
      (o, m) => ({ name: "x", receivers, template_id: m.template, smtp_config_id: o.smtp }),
    ],
    [
      "POST",
      `${E}/send/custom/`,
      "smtp_config_id",
      (o) => ({ name: "x", receivers, subject: "s", body: "b", smtp_config_id: o.smtp }),
    ],
    [
      "POST",
      `${E}/send/custom/`,
      "company",
      (o, m) => ({ name: "x", receivers, subject: "s", body: "b", smtp_config_id: m.smtp, company: o.company }),
    ],
    ["POST", `${E}/subscribers/`, "lists", (o) => ({ email: "x@example.com", lists: [o.list] })],
    [
      "POST",
      `${E}/subscribers/bulk-delete/`,
      "subscriber_ids",
      (o, m) => ({ subscriber_ids: [m.subscriber, o.subscriber] }),
    ],
    ["POST", `${E}/subscribers/bulk-suppress/`, "subscriber_ids", (o) => ({ subscriber_ids: [o.subscriber] })],
    ["POST", `${E}/subscribers/bulk-delete/`, "filter", (o) => ({ filter: { list: o.list } })],
    [
      "POST",
      `${E}/subscribers/bulk-update-lists/`,
      "subscriber_ids",
      (o, m) => ({ subscriber_ids: [o.subscriber], add_to_lists: [m.list] }),
    ],
    [
      "POST",
      `${E}/subscribers/bulk-update-lists/`,
      "add_to_lists",
      (o, m) => ({ subscriber_ids: [m.subscriber], add_to_lists: [o.list] }),
    ],
    [
      "POST",
      `${E}/subscribers/bulk-update-lists/`,
      "remove_from_lists",
      (o, m) => ({ subscriber_ids: [m.subscriber], remove_from_lists: [o.list] }),
    ],
    ["PATCH", "/api/companies/:company/", "default_smtp_config_id", (o) => ({ default_smtp_config_id: o.smtp })],
    ["PATCH", `${E}/subscribers/:subscriber/`, "lists", (o) => ({ lists: [o.list] })],
  ])("%s %s with another company's id is 400 on %s", async (method, path, field, body) => {
    const mine = await mineOnce();
    const own = client(app, { token: ours.token, query: { company: ours.id } });
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => mine[name]!);
    const caller = method === "PATCH" && path.startsWith("/api/companies/") ? own : ours.api;
    const { status, body: answer } = await caller.request(method, target, body(owned, mine));
    expect([status, Object.keys(answer)]).toEqual([400, [field]]);
  });

  let mine: Promise<Owned> | undefined;
  const mineOnce = () => {
    mine ??= furnish(ours, app);
    return mine;
  };

  test.each<[path: string, caller: "key" | "person"]>([
    ["/api/companies/mine:company/api-keys/:key/", "person"],
    ["/api/companies/mine:company/members/:user/", "person"],
    [`${E}/webhook-endpoints/mine:endpoint/deliveries/:delivery/redeliver/`, "key"],
  ])("%s: another company's id below an own one is 404", async (path, who) => {
    const mine = await mineOnce();
    const target = path.replaceAll(
      /(mine)?:(\w+)/g,
      (_, own: string | undefined, name: string) => (own ? mine : owned)[name]!,
    );
    const caller = who === "person" ? client(app, { token: ours.token }) : ours.api;
    const method = path.endsWith("/redeliver/") ? "POST" : "DELETE";
    expect((await caller.request(method, target)).status).toBe(404);
  });

  // Concurrent reads are combined into one statement, but each caller must get only its own rows.
  test("concurrent readers each see only their own company", async () => {
    const mine = await mineOnce();
    const their = client(app, { key: theirs.key });
    const ask = async (caller: Client, { subscriber }: Owned) =>
      (await caller.get(`${E}/subscribers/${subscriber}/`)).status;
    const rounds = Array.from({ length: 40 }, () => [
      ask(ours.api, mine),
      ask(ours.api, owned),
      ask(their, owned),
      ask(their, mine),
    ]);
    expect(await Promise.all(rounds.flat())).toEqual(rounds.flatMap(() => [200, 404, 200, 404]));
  });

  test("an import into another's list is 400 on list_id, and imports nothing", async () => {
    await mineOnce();
    const form = fileForm("email\nsmuggled@example.com\n", "x.csv", { list_id: owned.list! });
    const { status, body } = await ours.api.post(`${E}/subscribers/bulk/`, form);
    expect([status, Object.keys(body)]).toEqual([400, ["list_id"]]);
    expect((await ours.api.get(`${E}/subscribers/`, { query: { search: "smuggled" } })).body.count).toBe(0);
  });

  test("a public subscription into another company's list is refused or ignored", async () => {
    const stranger = client(app, { ip: someIp() });
    const { status } = await stranger.post(`${E}/public/subscribe/${ours.id}/`, {
      email: "s@example.com",
      list_id: owned.list,
    });
    expect([201, 400]).toContain(status);
  });

  test("filters by another company's ids find nothing", async () => {
    for (const path of [`${E}/sent-emails/`, `${E}/events/`]) {
      const { status, body } = await ours.api.get(path, { query: { campaign: owned.campaign! } });
      expect([status, body?.count ?? 0]).toEqual([status === 400 ? 400 : 200, 0]);
    }
  });

  test("nothing of the other company has changed after all of it", async () => {
    expect(await everything()).toEqual(before);
  });
});
