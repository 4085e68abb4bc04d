/**
 * Exports, imports and newsletters of one company rest while CPU is short and another company asks for something
 * (services/lib/give-way.ts), and come to the same end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../models/database/db.ts";
import { Shortage } from "../../services/lib/give-way/shortage.ts";
import { readMetrics } from "../../services/lib/metrics.ts";
import { type App, startApp } from "../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../support/client.ts";
import { stopRepetitions } from "../support/repetitions.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";

const API = "/api/emails";
const ASK_EVERY_MS = 50;
const PEOPLE = 6_000;

let app: App;
let server: SmtpServer;
let heavy: TestCompany;
let other: TestCompany;
let hook: WebServer;
let isShort = true;
beforeAll(async () => {
  server = await startSmtpServer();
  hook = await startWebServer();
  app = await startApp();
  // Work of the service itself: it rests also for the heavy company, in the same metric as that one's exports and imports.
  await stopRepetitions(app.broker, "addToSearch");
  jest.spyOn(Shortage.prototype, "lasts").mockImplementation(() => isShort);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await app?.stop();
  await server?.stop();
  await hook?.stop();
});
beforeEach(async () => {
  isShort = true;
  [heavy, other] = [await newCompany(app, { plan: "unlimited" }), await newCompany(app)];
});

const gaveWay = async (work: string): Promise<number> =>
  Number(
    new RegExp(`^flockmail_gave_way_seconds_total{work="${work}"} (\\S+)`, "m").exec(await readMetrics())?.[1] ?? 0,
  );

/** Runs `work` while another company asks for its lists, or nobody else for anything. */
async function beside<T>(asks: boolean, work: () => Promise<T>): Promise<T> {
  // What others asked for before is forgotten.
  await sleep(300);
  let over = false;
  const asking = (async () => {
    while (asks && !over) {
      expect((await other.api.get(`${API}/lists/`)).status).toBe(200);
      await sleep(ASK_EVERY_MS);
    }
  })();
  try {
    return await work();
  } finally {
    over = true;
    await asking;
  }
}

const addPeople = (list?: string) =>
  query(
    `with person as (
       insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, $3::int) n returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2::uuid, id from person where $2::uuid is not null`,
    [heavy.id, list ?? null, PEOPLE],
  );

const rowsOf = (csv: string) => new Set(csv.trim().split("\r\n").slice(1));

test.each([
  ["rests while another company asks", true, true],
  ["goes on at once where nobody else asks", false, true],
  ["goes on at once where CPU is not short", true, false],
])("an export %s, and has each person once", async (_name, asks, short) => {
  isShort = short;
  await addPeople();
  const before = await gaveWay("bulk");
  const { status, text } = await beside(asks, () => heavy.api.get(`${API}/subscribers/export/`));
  expect([status, rowsOf(text).size]).toEqual([200, PEOPLE]);
  if (asks && short) expect(await gaveWay("bulk")).toBeGreaterThan(before);
  else expect(await gaveWay("bulk")).toBe(before);
});

test("an import rests while another company asks, and is whole or not there at all", async () => {
  const lines = Array.from({ length: PEOPLE }, (_, n) => `i${n}@example.com,N${n}`);
  const before = await gaveWay("bulk");
  const upload = () =>
    heavy.api.post(`${API}/subscribers/bulk/`, fileForm(["email,first_name", ...lines].join("\n"), "people.csv"));
  const { status, body } = await beside(true, upload);
  expect([status, body.created]).toEqual([201, PEOPLE]);
  expect(await gaveWay("bulk")).toBeGreaterThan(before);
  expect(await query("select count(*)::int as n from subscribers where company_id = $1", [heavy.id])).toEqual([
    { n: PEOPLE },
  ]);
});

test("a newsletter and its webhooks rest while another company asks, reach everybody once, and hold up no receipt of its own company", async () => {
  const { api } = heavy;
  const askedAt = (path: string) => hook.asked.filter(({ url }) => url === path);
  const told = () => askedAt("/well").map(({ body }) => (JSON.parse(body) as { recipient: string }).recipient);
  for (const path of ["/well", "/bad"]) {
    const endpoint = { url: `${hook.url}${path}`, events: ["delivered"] };
    expect((await api.post(`${API}/webhook-endpoints/`, endpoint)).status).toBe(201);
  }
  hook.on = ({ url }) => ({ status: url === "/bad" ? 500 : 200 });
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  const { id: smtp } = (await api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body;
  const { id: template } = (await api.post(`${API}/templates/`, { name: "T", subject: "Hi", body: "<p>Hi</p>" })).body;
  const { id: list } = (await api.post(`${API}/lists/`, { name: "Readers" })).body;
  await addPeople(list);
  const before = [await gaveWay("mail"), await gaveWay("webhooks")];
  server.messages.length = 0;
  await beside(true, async () => {
    const news = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list };
    expect((await api.post(`${API}/send/to-list/`, news)).status).toBe(201);
    await server.received(server.accepted + 1);
    const receipt = {
      name: "Receipt",
      smtp_config_id: smtp,
      subject: "Receipt",
      body: "<p>Thanks</p>",
      is_transactional: true,
    };
    const receivers = [{ email: "buyer@example.com" }];
    expect((await api.post(`${API}/send/custom/`, { ...receipt, receivers })).status).toBe(201);
    const isOver = () => Math.min(server.messages.length, askedAt("/well").length) > PEOPLE;
    for (const endMs = Date.now() + 60_000; !isOver() && Date.now() < endMs; ) await sleep(50);
  });
  const to = server.messages.map((message) => message.to[0]!);
  expect([to.length, new Set(to).size]).toEqual([PEOPLE + 1, PEOPLE + 1]);
  expect(to.indexOf("buyer@example.com")).toBeLessThan(PEOPLE);
  expect([told().length, new Set(told()).size]).toEqual([PEOPLE + 1, PEOPLE + 1]);
  // An endpoint that fails has one lane, and turns beside the one that works.
  expect(askedAt("/bad").length).toBeGreaterThan(10);
  const after = [await gaveWay("mail"), await gaveWay("webhooks")];
  expect(after.every((seconds, n) => seconds > before[n]!)).toBe(true);
});
