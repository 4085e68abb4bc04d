/** The report of a stored configuration over HTTP, against a name server of the test's own. */
import { generateKeyPairSync } from "node:crypto";
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";

const CONFIGS = "/api/emails/smtp-configs/";

let server: DnsServer;
let app: App;
let company: TestCompany;
beforeAll(async () => {
  server = await startDnsServer();
  const env = { DNS_SERVERS: server.address, BASE_URL: "https://mail.acme.example", REGISTRATION: "open" };
  app = await startApp({
    services: ["gateway", "accounts", "smtp-sender", "renderer", "campaigns", "subscribers"],
    env,
  });
  company = await newCompany(app);
});
afterAll(async () => {
  await app.stop();
  await server.stop();
});

interface Named {
  name: string;
  status: string;
  expected: { name: string; value: string } | null;
}

const privateKey = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;
const configuration = async (given: object = {}): Promise<string> => {
  const made = await company.api.post(CONFIGS, {
    name: "Relay",
    host: "relay.acme.example",
    port: 587,
    username: "u",
    password: "p",
    sender_email: "news@acme.example",
    ...given,
  });
  expect([made.status, made.body.id ?? made.body]).toEqual([201, expect.any(String)]);
  return made.body.id;
};
const report = async (id: string) => company.api.get(`${CONFIGS}${id}/deliverability/`);
const statuses = (checks: Named[]) => Object.fromEntries(checks.map(({ name, status }) => [name, status]));

test("missing records are shown for publishing; once published, every check passes", async () => {
  server.zones.clear();
  const id = await configuration({
    bounce_address: "bounce@acme.example",
    dkim: { domain: "acme.example", selector: "s1", private_key: privateKey },
  });
  const before: Named[] = (await report(id)).body.checks;
  expect(statuses(before)).toEqual({
    spf: "warn",
    dkim: "fail",
    dmarc: "warn",
    alignment: "warn",
    mx: "fail",
    links: "fail",
    bounce_address: "fail",
  });
  for (const { expected } of before) if (expected) server.zones.set(expected.name, { txt: [expected.value] });
  const spf = server.zones.get("acme.example")!.txt!;
  server.zones.set("acme.example", { txt: spf, mx: [[10, "mx.acme.example"]] });
  for (const host of ["mx", "mail", "relay"]) server.zones.set(`${host}.acme.example`, { a: ["192.0.2.1"] });
  const after = (await report(id)).body.checks;
  expect(after.filter(({ status }: Named) => status !== "pass")).toEqual([]);
  expect(after.map(({ help }: { help: string | null }) => help)).toEqual(Array(7).fill(null));
});

test("links are checked on the company's own host once that is verified", async () => {
  server.zones.clear();
  server.zones.set("mail.acme.example", { a: ["192.0.2.1"] });
  const id = await configuration();
  const links = async () =>
    (await report(id)).body.checks.find(({ name }: Named) => name === "links") as Named & { found: string };
  const claim = "insert into tracking_domains (company_id, domain, token) values ($1, 'read.acme.example', 'token')";
  await query(claim, [company.id]);
  expect(await links()).toMatchObject({ status: "pass", found: "https://mail.acme.example" });
  await query("update tracking_domains set proved_at = now() where company_id = $1", [company.id]);
  expect(await links()).toMatchObject({ status: "fail", found: "https://read.acme.example" });
  server.zones.set("read.acme.example", { a: ["192.0.2.1"] });
  expect(await links()).toMatchObject({ status: "pass", found: "https://read.acme.example" });
  await query("delete from tracking_domains where company_id = $1", [company.id]);
});

test("a silent name server makes checks unknown, within five seconds", async () => {
  server.zones.clear();
  const id = await configuration({ sender_email: "news@silent.example", host: "relay.silent.example" });
  for (const name of ["silent.example", "_dmarc.silent.example", "relay.silent.example", "mail.acme.example"]) {
    server.zones.set(name, { fault: "silent" });
  }
  const at = performance.now();
  const { checks } = (await report(id)).body;
  // Five seconds are promised; what lies above is this machine's load.
  expect(performance.now() - at).toBeLessThan(8_000);
  expect(statuses(checks)).toMatchObject({ spf: "unknown", dmarc: "unknown", mx: "unknown", links: "unknown" });
});

test("another company's configuration is 404, and reports are limited to 20 a minute", async () => {
  const id = await configuration();
  const other = await newCompany(app);
  expect((await other.api.get(`${CONFIGS}${id}/deliverability/`)).status).toBe(404);
  const own = (
    await other.api.post(CONFIGS, {
      name: "Relay",
      host: "relay.acme.example",
      port: 587,
      username: "",
      password: "",
      sender_email: "news@acme.example",
    })
  ).body.id;
  server.zones.clear();
  const seen = [];
  for (let n = 0; n < 21; n++) seen.push((await other.api.get(`${CONFIGS}${own}/deliverability/`)).status);
  expect(seen).toEqual([...Array(20).fill(200), 429]);
});

describe("before the first send of a day:", () => {
  const SENDER = { sender_email: "news@shop.example.com" };
  const checkedAt = async (id: string) =>
    (await query<{ checked_at: Date | null }>("select checked_at from smtp_configs where id = $1", [id]))[0]!
      .checked_at;
  const untilChecked = async (id: string) => {
    while (!(await checkedAt(id))) await new Promise((done) => setTimeout(done, 20));
  };
  /** Far ahead, so that nothing is sent. */
  const send = async (id: string) => {
    const template = (await company.api.post("/api/emails/templates/", { name: "T", subject: "S", body: "B" })).body.id;
    return company.api.post("/api/emails/send/to-receivers/", {
      name: "N",
      smtp_config_id: id,
      template_id: template,
      receivers: [{ email: "ann@example.com" }],
      scheduled_for: "2999-01-01T00:00:00Z",
    });
  };
  const broken = () => {
    server.zones.clear();
    server.zones.set("mail.acme.example", { a: ["192.0.2.1"] });
    for (const name of ["mail", "mx"]) server.zones.set(`${name}.shop.example.com`, { a: ["192.0.2.1"] });
    server.zones.set("shop.example.com", { txt: ["v=spf1 -all", "v=spf1 ~all"], mx: [[1, "mx.shop.example.com"]] });
  };

  test("a failure is a warning, checked once, and again after a change of the configuration", async () => {
    broken();
    const id = await configuration(SENDER);
    await untilChecked(id);
    const warning = expect.stringMatching(/^Deliverability \(spf\): shop.example.com has 2 SPF records/);
    expect(await send(id)).toMatchObject({ status: 201, body: { warnings: [warning] } });
    server.zones.set("shop.example.com", { txt: ["v=spf1 -all"], mx: [[1, "mx.shop.example.com"]] });
    expect((await send(id)).body.warnings).toEqual([warning]);
    const stored = (await company.api.get(`${CONFIGS}${id}/`)).body;
    expect(stored.check_failures).toEqual([{ name: "spf", help: expect.stringContaining("2 SPF records") }]);
    expect(stored.checked_at).toBe((await checkedAt(id))!.toISOString());
    await company.api.patch(`${CONFIGS}${id}/`, { name: "Relay again" });
    expect((await send(id)).body.warnings).toEqual([]);
    broken();
    await query("update smtp_configs set checked_at = now() - interval '1 day' where id = $1", [id]);
    expect((await send(id)).body.warnings).toEqual([warning]);
  });

  test("a company that requires authentication does not send through a server whose SPF fails", async () => {
    broken();
    const id = await configuration(SENDER);
    const set = await company.api.patch(`/api/companies/${company.id}/`, { require_authentication: true });
    expect(set.body.require_authentication).toBe(true);
    expect(await send(id)).toMatchObject({ status: 403, body: { detail: expect.stringContaining("2 SPF records") } });
    server.zones.set("shop.example.com", { txt: ["v=spf1 -all"], mx: [[1, "mx.shop.example.com"]] });
    // After a report requested by the user, the send is accepted at once.
    await report(id);
    expect((await send(id)).status).toBe(201);
    await company.api.patch(`/api/companies/${company.id}/`, { require_authentication: false });
  });

  test.each(["127.0.0.1", "10.0.0.1", "postfix"])(
    "the sender's domain is checked when sending through %s, too",
    async (host) => {
      broken();
      const id = await configuration({ ...SENDER, host });
      await company.api.patch(`/api/companies/${company.id}/`, { require_authentication: true });
      expect(await send(id)).toMatchObject({ status: 403, body: { detail: expect.stringContaining("2 SPF records") } });
      await company.api.patch(`/api/companies/${company.id}/`, { require_authentication: false });
      const { warnings } = (await send(id)).body;
      expect(warnings).toEqual([expect.stringMatching(/^Deliverability \(spf\)/)]);
    },
  );

  test("a sender in a reserved domain causes no look-ups", async () => {
    broken();
    const id = await configuration();
    expect((await send(id)).body.warnings).toEqual([]);
    expect(await checkedAt(id)).toBeNull();
  });
});
