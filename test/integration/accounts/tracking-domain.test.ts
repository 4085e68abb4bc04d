/** Tracking domain of a company: requested, verified by the test's own DNS and HTTP, used, released. */
import { createServer, request, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import type { MakeMail } from "../../../services/renderer/contract.ts";
import { type App, startApp } from "../../support/app.ts";
import { fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";
import { storedEvents } from "../../support/stored-events.ts";
import { FIREFOX, LINKS, newWorld, token, type World } from "../tracking/world.ts";

const HOME = "mail.home.example";

let dns: DnsServer;
let app: App;
let port: number;
/** Server at 127.0.0.2, which is not the service. */
let elsewhere: Server;
let served: { status: number; body: string; headers?: Record<string, string> };

beforeAll(async () => {
  dns = await startDnsServer();
  port = await unusedPort();
  app = await startApp({
    services: ["gateway", "accounts", "subscribers", "campaigns", "renderer", "tracking"],
    env: {
      DNS_SERVERS: dns.address,
      HOST: "127.0.0.1",
      PORT: `${port}`,
      BASE_URL: `http://${HOME}:${port}`,
      REGISTRATION: "open",
    },
  });
  elsewhere = createServer((_request, response) => response.writeHead(served.status, served.headers).end(served.body));
  await new Promise<void>((done) => elsewhere.listen(port, "127.0.0.2", done));
});
afterAll(async () => {
  await app.stop();
  await dns.stop();
  await new Promise((done) => elsewhere.close(done));
});

beforeEach(() => {
  dns.zones.clear();
  served = { status: 404, body: "" };
});

interface Settings {
  tracking_domain: string | null;
  tracking_domain_status: string | null;
  tracking_domain_token: string | null;
}

const settingsOf = ({ tracking_domain, tracking_domain_status, tracking_domain_token }: Settings) => ({
  tracking_domain,
  tracking_domain_status,
  tracking_domain_token,
});

const patch = (company: TestCompany, changes: object) => company.api.patch(`/api/companies/${company.id}/`, changes);
const changed = async (company: TestCompany, changes: object): Promise<Settings> => {
  const { status, body } = await patch(company, changes);
  expect([status, body]).toEqual([200, expect.anything()]);
  return settingsOf(body);
};

/** Checked on each PATCH, whose answer does not wait for a slow check. */
async function activated(company: TestCompany, changes: object = {}): Promise<Settings> {
  let settings = await changed(company, changes);
  for (let tries = 0; settings.tracking_domain_status !== "active" && tries < 30; tries++) {
    await sleep(1_000);
    settings = await changed(company, {});
  }
  expect(settings.tracking_domain_status).toBe("active");
  return settings;
}

/** Company with a domain verified by a CNAME. */
async function proved(domain: string): Promise<TestCompany> {
  const company = await newCompany(app);
  dns.zones.set(domain, { cname: HOME });
  await activated(company, { tracking_domain: domain });
  return company;
}

interface Got {
  status: number;
  location: string | undefined;
  text: string;
}

/** Request to this host, as from a browser or a mailbox provider. */
function at(host: string, path: string, { method = "GET", accept = "text/html" } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const type = method === "POST" ? { "content-type": "application/x-www-form-urlencoded" } : {};
    const headers = { host, accept, "user-agent": FIREFOX, "x-forwarded-for": someIp(), ...type };
    request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          location: response.headers.location,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    })
      .on("error", reject)
      .end(method === "POST" ? "List-Unsubscribe=One-Click" : undefined);
  });
}

const isTlsAllowed = async (domain: string) =>
  (await at(HOME, `/internal/tls-allowed?domain=${encodeURIComponent(domain)}`)).status;
const lookAtDue = () => app.broker.call("accounts.proveTrackingDomains");
const age = (company: TestCompany, column: string, interval: string) =>
  query(`update tracking_domains set ${column} = now() - $2::interval where company_id = $1`, [company.id, interval]);

async function mailOf({ campaignId, mails: [mail] }: World): Promise<string> {
  const recipients = [{ id: mail!.id, email: mail!.email, subscriber_id: mail!.subscriberId }];
  const { mails } = await call(app.broker, "renderer.renderMails", { campaignId, recipients });
  const made = (mails[0] as MakeMail)();
  if (!made.ok) throw new Error(made.error);
  return made.raw.toString();
}
/** Hosts in a message: one-click header, tracked link, pixel. */
const hostsIn = (mail: string) =>
  [/List-Unsubscribe: <(http:[^/]*\/\/[^/]+)/, /href=3D"(http:\/\/[^/]+)/, /src=3D"(http:\/\/[^/]+)/].map(
    (pattern) => pattern.exec(mail.replaceAll(/=\r\n/g, ""))?.[1],
  );

describe("proof", () => {
  test("an unverified domain is pending, shows its token, and is not used; a CNAME to the service activates it", async () => {
    const company = await newCompany(app);
    const world = await newWorld(1, company);
    const domain = "read.lantern.example";
    const pending = await changed(company, { tracking_domain: domain });
    expect(pending).toEqual({
      tracking_domain: domain,
      tracking_domain_status: "pending",
      tracking_domain_token: expect.stringMatching(/^[\w-]{32}$/),
    });
    const home = `http://${HOME}:${port}`;
    expect(hostsIn(await mailOf(world))).toEqual([home, home, home]);
    expect(await isTlsAllowed(domain)).toBe(404);

    dns.zones.set(domain, { cname: "alias.lantern.example" });
    dns.zones.set("alias.lantern.example", { cname: HOME.toUpperCase() });
    expect(await activated(company)).toEqual({ ...pending, tracking_domain_status: "active" });
    const own = `http://${domain}:${port}`;
    expect(hostsIn(await mailOf(world))).toEqual([own, own, own]);
    const template = { name: "T", subject: "Hello", body: '<a href="[[unsubscribe_url]]">Unsubscribe</a>' };
    const { body: saved } = await company.api.post("/api/emails/templates/", template);
    const preview = await company.api.post(`/api/emails/templates/${saved.id}/preview/`, {});
    expect(preview.body.html).toContain(`href="${own}/api/emails/public/unsubscribe/`);
    expect([await isTlsAllowed(domain), await isTlsAllowed(domain.toUpperCase())]).toEqual([200, 200]);
    expect([await isTlsAllowed("other.example"), await isTlsAllowed("")]).toEqual([404, 404]);
    for (const more of ["/x", "?x", "#x", ":443"]) expect(await isTlsAllowed(domain + more)).toBe(404);
    expect(await isTlsAllowed(domain.replace(".", "%2e"))).toBe(404);
  });

  test("the token verifies a domain that leads to the service, which serves the token itself", async () => {
    const company = await newCompany(app);
    const domain = "read.beacon.example";
    const { tracking_domain_token: value } = await changed(company, { tracking_domain: domain });
    expect(await at(`${domain}:${port}`, "/.well-known/flockmail")).toMatchObject({ status: 200, text: value });
    expect((await at("unknown.example", "/.well-known/flockmail")).status).toBe(404);
    dns.zones.set(domain, { a: ["127.0.0.1"] });
    expect(await activated(company)).toMatchObject({ tracking_domain_token: value });
  });

  test("an address, an alias alone, another text, a redirect or a flood verifies nothing; the token elsewhere does", async () => {
    const company = await newCompany(app);
    const domain = "read.harbour.example";
    const { tracking_domain_token: value } = await changed(company, { tracking_domain: domain });
    const status = async () => (await changed(company, {})).tracking_domain_status;
    dns.zones.set(domain, { cname: "other.example" });
    dns.zones.set("other.example", { a: ["127.0.0.2"] });
    expect(await status()).toBe("pending");
    served = { status: 200, body: `not ${value}` };
    expect(await status()).toBe("pending");
    served = { status: 302, body: value!, headers: { location: `http://${HOME}:${port}/.well-known/flockmail` } };
    expect(await status()).toBe("pending");
    served = { status: 200, body: value! + " ".repeat(2_000) };
    expect(await status()).toBe("pending");
    dns.zones.set(domain, { fault: "servfail" });
    expect(await status()).toBe("pending");
    dns.zones.set(domain, { a: ["127.0.0.2"] });
    served = { status: 200, body: `${value}\n` };
    await activated(company);
  });

  test("one node checks a domain each minute until it is verified; one that fails for a day is pending again", async () => {
    await query("delete from tracking_domains");
    const company = await newCompany(app);
    const domain = "read.meadow.example";
    await changed(company, { tracking_domain: domain });
    const status = async () => (await company.api.get(`/api/companies/${company.id}/`)).body.tracking_domain_status;
    await lookAtDue();
    dns.zones.set(domain, { cname: HOME });
    await lookAtDue();
    expect(await status()).toBe("pending");
    await age(company, "checked_at", "50 seconds");
    const looks = await Promise.all([lookAtDue(), lookAtDue(), lookAtDue()]);
    expect(looks.reduce((sum: number, look) => sum + (look as { checked: number }).checked, 0)).toBe(1);
    expect(await status()).toBe("active");

    dns.zones.set(domain, { cname: "other.example" });
    await age(company, "checked_at", "2 hours");
    await lookAtDue();
    expect(await status()).toBe("active");
    await age(company, "checked_at", "2 hours");
    await age(company, "proved_at", "25 hours");
    dns.zones.set(domain, { fault: "servfail" });
    await lookAtDue();
    expect(await status()).toBe("active");
    dns.zones.delete(domain);
    await age(company, "checked_at", "2 hours");
    await lookAtDue();
    expect([await status(), await isTlsAllowed(domain)]).toEqual(["pending", 404]);
  });
});

describe("ownership", () => {
  test("a domain of another company is refused, verified or not; once released it is available, and links use the service's host again", async () => {
    const [first, second] = [await newCompany(app), await newCompany(app)];
    const domain = "read.orchard.example";
    const taken = [400, { tracking_domain: ["This domain belongs to another company."] }];
    await changed(first, { tracking_domain: domain });
    const refused = await patch(second, { tracking_domain: domain });
    expect([refused.status, refused.body]).toEqual(taken);
    dns.zones.set(domain, { cname: HOME });
    await activated(first);
    expect((await patch(second, { tracking_domain: domain.toUpperCase() })).status).toBe(400);
    const world = await newWorld(1, first);
    await mailOf(world);
    expect(await changed(first, { tracking_domain: null })).toEqual({
      tracking_domain: null,
      tracking_domain_status: null,
      tracking_domain_token: null,
    });
    expect(hostsIn(await mailOf(world))[0]).toBe(`http://${HOME}:${port}`);
    await activated(second, { tracking_domain: domain });
  });

  test("a claim that is not verified within seven days, or is of a deleted company, can be replaced by another company's", async () => {
    const [first, second, third] = [await newCompany(app), await newCompany(app), await newCompany(app)];
    const domain = "read.quarry.example";
    await changed(first, { tracking_domain: domain });
    await age(first, "claimed_at", "8 days");
    expect((await changed(second, { tracking_domain: domain })).tracking_domain).toBe(domain);
    expect((await first.api.get(`/api/companies/${first.id}/`)).body.tracking_domain).toBeNull();
    const deleted = await second.api.request(
      "DELETE",
      `/api/companies/${second.id}/`,
      { password: second.password },
      { key: "", token: second.token },
    );
    expect(deleted.status).toBe(202);
    expect((await changed(third, { tracking_domain: domain })).tracking_domain).toBe(domain);
  });

  test("names are stored in ASCII form; invalid hosts are refused", async () => {
    const company = await newCompany(app);
    expect((await changed(company, { tracking_domain: "Lesen.Bücher.example" })).tracking_domain).toBe(
      "lesen.xn--bcher-kva.example",
    );
    const first = await changed(company, {});
    expect(await changed(company, { tracking_domain: "lesen.xn--bcher-kva.example" })).toEqual(first);
    for (const domain of [
      "localhost",
      "127.0.0.1",
      "[::1]",
      "a b.example",
      "https://a.example",
      "a.example:80",
      "a.example/x",
      "a.example?x",
      "ann@a.example",
      "%61.example",
      HOME,
    ]) {
      const { status, body } = await patch(company, { tracking_domain: domain });
      expect([domain, status, Object.keys(body)]).toEqual([domain, 400, ["tracking_domain"]]);
    }
    expect(await changed(company, {})).toEqual(first);
  });
});

describe("content of the domain", () => {
  const pub = (path: string) => `/api/emails/public/${path}`;
  const pathsOf = ({ companyId, mails: [mail] }: World) => ({
    pixel: pub(`open/${token(mail!.id, 0)}.gif`),
    click: pub(`click/${token(mail!.id, 1)}/`),
    unsubscribe: pub(`unsubscribe/${mail!.id}/`),
    view: pub(`view/${mail!.id}/`),
    preferences: pub(`preferences/${personToken("preferences", companyId, mail!.subscriberId)}/`),
    confirm: pub(`confirm/${personToken("confirm", companyId, mail!.subscriberId)}/`),
  });
  const statusOf = ({ mails: [mail] }: World) =>
    query<{ status: string }>("select status from subscribers where id = $1", [mail!.subscriberId]);

  test("images from the media files are loaded from it, and other addresses in the message stay", async () => {
    const domain = "read.gallery.example";
    const company = await proved(domain);
    const world = await newWorld(1, company);
    const { url } = (await company.api.post("/api/emails/media/", fileForm("an image", "a.png"))).body;
    const body = `<p><img src="${url}" alt=""><img src="https://example.com/b.png" alt=""><i style="background:url('${url}')"></i> ${url}</p>`;
    await query("update campaign_contents set body = $2 where campaign_id = $1", [world.campaignId, body]);
    const html = (await mailOf(world)).replaceAll(/=\r\n/g, "").replaceAll("=3D", "=");
    const own = url.replace(HOME, domain);
    expect(html).toContain(
      `<img src="${own}" alt=""><img src="https://example.com/b.png" alt=""><i style="background:url('${own}')"></i> ${url}`,
    );
    const { pathname } = new URL(url);
    expect(await at(domain, pathname)).toMatchObject({ status: 200, text: "an image" });
    const other = await proved("read.museum.example");
    expect((await at((await changed(other, {})).tracking_domain!, pathname)).status).toBe(404);
  });

  test("it serves only the pages of its company's messages; links on the service's own host keep working", async () => {
    const domain = "read.valley.example";
    const company = await proved(domain);
    const world = await newWorld(1, company);
    const paths = pathsOf(world);
    for (const host of [domain, `${domain}:${port}`, HOME, `127.0.0.1:${port}`]) {
      for (const [name, path] of Object.entries(paths)) {
        const { status, location } = await at(host, path);
        const expected = name === "click" ? [302, LINKS[0]] : [200, undefined];
        expect([host, name, status, location]).toEqual([host, name, ...expected]);
      }
    }
    for (const path of [
      "/",
      "/docs/",
      "/openapi.json",
      "/api/",
      "/api/emails/lists/",
      "/app/verify/",
      "/internal/tls-allowed",
    ]) {
      expect([path, (await at(domain, path)).status]).toEqual([path, 404]);
    }
  });

  test("another company's messages, pages and files are unknown there, and nothing is recorded", async () => {
    const [mine, theirs] = [await proved("read.summit.example"), await newCompany(app)];
    const world = await newWorld(1, theirs);
    const form = new FormData();
    form.set("file", new Blob(["hello"]), "hello.txt");
    const { body: file } = await theirs.api.post("/api/emails/media/", form);
    const paths = { ...pathsOf(world), media: new URL(file.url).pathname };
    const host = "read.summit.example";
    for (const [name, path] of Object.entries(paths)) {
      expect([name, (await at(host, path)).status]).toEqual([name, 404]);
    }
    for (const method of ["HEAD", "POST"]) {
      expect((await at(host, paths.click, { method })).location).toBeUndefined();
    }
    expect((await at(host, paths.confirm, { method: "POST" })).status).toBe(404);
    const subscribe = { email: "ann@example.com" };
    for (const [company, status] of [
      [mine, 201],
      [theirs, 404],
    ] as const) {
      const answer = await new Promise<number>((resolve, reject) => {
        const headers = { host, "content-type": "application/json", "x-forwarded-for": someIp() };
        request({ port, path: pub(`subscribe/${company.id}/`), method: "POST", headers, agent: false }, (response) =>
          response.resume().on("end", () => resolve(response.statusCode!)),
        )
          .on("error", reject)
          .end(JSON.stringify(subscribe));
      });
      expect(answer).toBe(status);
    }
    expect(await storedEvents(theirs.id)).toEqual([]);
    expect(await statusOf(world)).toEqual([{ status: "active" }]);
  });

  test("one-click unsubscribe works on any host, and another company's host does not name the recipient", async () => {
    await proved("read.island.example");
    const world = await newWorld(1, await newCompany(app));
    const [mail] = world.mails;
    const done = await at("read.island.example", pub(`unsubscribe/${mail!.id}/`), { method: "POST", accept: "*/*" });
    expect(done.status).toBe(200);
    expect(done.text).not.toContain(mail!.email);
    expect(await statusOf(world)).toEqual([{ status: "unsubscribed" }]);
  });

  test("an unverified host is answered like an unknown one", async () => {
    const company = await newCompany(app);
    const domain = "read.desert.example";
    await changed(company, { tracking_domain: domain });
    const world = await newWorld(1, company);
    for (const path of [...Object.values(pathsOf(world)), "/", "/api/emails/lists/"]) {
      const [pending, unknown] = [await at(domain, path), await at("unknown.example", path)];
      expect([path, pending.status]).toEqual([path, unknown.status]);
    }
  });
});
