/**
 * Rules for every page and every form of the console, old or new: iterates over the tables of pages.ts, with unknown
 * ids where a path has one.
 */

import { query } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { companyPages, openPages, personPages } from "../../../services/console/pages.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { ConsoleBrowser, type Shown, signIn } from "../../support/console-browser.ts";

/** Markup that is harmless as text of a page, and visible anywhere else. */
const EVIL = `"'><img src=x onerror=alert(1)>`;

let app: App;
let company: TestCompany;
let viewer: TestCompany;
let owner: ConsoleBrowser;

beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  viewer = await newCompany(app);
  await Membership.create({ companyId: company.id, userId: viewer.userId, role: "viewer" });
  owner = await signIn(app, company);
});
afterAll(() => app.stop());

type Method = "page" | "form";
type Table = Record<string, { page?: unknown; form?: unknown; forViewers?: true }>;

const of = (table: Table, method: Method): string[] =>
  Object.entries(table).flatMap(([pattern, entry]) => (entry[method] ? [pattern] : []));

const filled = (pattern: string): string => pattern.replace(/:\w+/g, () => newId());

const inCompany = (id: string, pattern: string): string => `/app/${id}${pattern && `/${filled(pattern)}`}`;

const ownForms = () => of(personPages, "form").map((pattern) => `/app/${filled(pattern)}`);
const companyForms = (id = company.id) => of(companyPages, "form").map((pattern) => inCompany(id, pattern));
const companyPaths = (id = company.id) => of(companyPages, "page").map((pattern) => inCompany(id, pattern));
const forms = () => [...of(openPages, "form").map((pattern) => `/app/${pattern}`), ...ownForms(), ...companyForms()];

/** Paths with the status that each of them answered, where it is not the one that all of them should have. */
async function others(paths: readonly string[], status: number, ask: (path: string) => Promise<Shown>) {
  const wrong: [string, number][] = [];
  for (const path of paths) {
    const shown = await ask(path);
    if (shown.status !== status) wrong.push([path, shown.status]);
  }
  return wrong;
}

/** Everything that a form could change: all stored input, and who has access. */
async function everything(): Promise<unknown> {
  const tables = ["companies", "users", "memberships", "invitations", "api_keys", "subscribers", "lists", "segments"];
  const more = ["templates", "media_files", "smtp_configs", "webhook_endpoints", "suppressions", "campaigns"];
  const known = await query<{ name: string }>("select relname as name from pg_class where relname = any($1)", [
    [...tables, ...more],
  ]);
  const counts = known.map(
    ({ name }) => `select '${name}' as name, md5(string_agg(t::text, '' order by t::text)) from ${name} t`,
  );
  return query(counts.join(" union all "));
}

test("every form without the form token of its own session is 403, and nothing changes", async () => {
  const otherSession = await signIn(app, company);
  await otherSession.open("/app/account");
  await owner.open("/app/account");
  const before = await everything();
  expect(await others(forms(), 403, (path) => owner.send(path, { name: "x", email: "x@example.com" }, ""))).toEqual([]);
  const signedIn = [...ownForms(), ...companyForms()];
  expect(await others(signedIn, 403, (path) => owner.send(path, {}, otherSession.token))).toEqual([]);
  expect(await everything()).toEqual(before);
  expect((await owner.open(`/app/${company.id}`)).status).toBe(200);
});

test("a visitor is redirected from every page and every form to sign-in", async () => {
  const stranger = new ConsoleBrowser(app);
  await stranger.open("/app/login");
  const own = of(personPages, "page").map((pattern) => `/app/${filled(pattern)}`);
  const led: (string | null)[] = [];
  for (const path of [...own, ...companyPaths()]) led.push((await stranger.open(path)).location);
  for (const path of [...ownForms(), ...companyForms()]) led.push((await stranger.send(path)).location);
  expect(led.filter((location) => !/^\/app\/login(\?next=%2Fapp%2F[^&]*)?$/.test(location ?? ""))).toEqual([]);
});

test("a viewer is refused every form of the company with a complete page, and is shown none", async () => {
  const browser = await signIn(app, viewer);
  await browser.open("/app/account");
  const bodies: string[] = [];
  const refused = await others(companyForms(), 403, async (path) => {
    const shown = await browser.send(path);
    bodies.push(shown.html);
    return shown;
  });
  expect(refused).toEqual([]);
  expect(bodies.filter((html) => !html.includes("<main") || !/<h1>[^<]+<\/h1>/.test(html))).toEqual([]);
  const shownForms: [string, string][] = [];
  for (const path of companyPaths()) {
    const { status, html } = await browser.open(path);
    expect([path, [200, 303, 403, 404].includes(status)]).toEqual([path, true]);
    for (const [, action] of html.matchAll(/<form[^>]*method="post"[^>]*action="([^"]+)"/g)) {
      if (action !== "/app/logout" && !action!.endsWith(`/${viewer.userId}/remove`)) shownForms.push([path, action!]);
    }
  }
  expect(shownForms).toEqual([]);
});

test("another company's id gives 404 for every page and form, whether the company exists or not", async () => {
  const other = await newCompany(app);
  for (const id of [other.id, newId()]) {
    expect(await others(companyPaths(id), 404, owner.open)).toEqual([]);
    expect(await others(companyForms(id), 404, (path) => owner.send(path))).toEqual([]);
  }
});

const directive = (policy: string, name: string) => policy.split("; ").find((one) => one.startsWith(`${name} `));

test("no page can be framed or cached, runs others' scripts or posts elsewhere; its cookie is limited to the console", async () => {
  const open = of(openPages, "page").map((pattern) => `/app/${pattern}`);
  const own = of(personPages, "page").map((pattern) => `/app/${filled(pattern)}`);
  for (const path of [...open, ...own, ...companyPaths()]) {
    const { headers, html, status } = await owner.open(path);
    if (status === 303) continue;
    const policy = headers.get("content-security-policy") ?? "";
    const isPage = html.includes('<meta name="csrf-token"');
    expect({ path, policy }).toEqual({ path, policy: expect.stringMatching(/^default-src 'none'/) });
    expect({ path, scripts: directive(policy, "script-src") }).toEqual({
      path,
      scripts: isPage ? "script-src 'self'" : undefined,
    });
    expect(directive(policy, "base-uri")).toBe("base-uri 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    if (!isPage) continue;
    expect({ path, policy }).toEqual({ path, policy: expect.not.stringContaining("unsafe") });
    expect(directive(policy, "frame-ancestors")).toBe("frame-ancestors 'none'");
    expect(directive(policy, "form-action")).toBe("form-action 'self'");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect({ path, inline: /<script(?! src="\/app\/assets\/)|<style| style=| on\w+="/.exec(html)?.[0] }).toEqual({
      path,
    });
  }
  const visitor = await new ConsoleBrowser(app).open("/app/login");
  expect(visitor.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^fm_session=[\w.-]+; Path=\/app; HttpOnly; SameSite=Strict$/),
  ]);
  const elsewhere = await fetch(`${app.url}/docs/`);
  expect(elsewhere.headers.getSetCookie()).toEqual([]);
});

test("a cookie that somebody else planted is worthless after sign-in, and so is one from before signing out", async () => {
  const attacker = new ConsoleBrowser(app);
  await attacker.open("/app/login");
  const victim = new ConsoleBrowser(app);
  victim.cookie = attacker.cookie;
  expect((await victim.signIn(company)).status).toBe(303);
  expect((await attacker.open(`/app/${company.id}`)).status).toBe(303);
  expect(victim.cookie).not.toBe(attacker.cookie);
  await victim.open("/app/account");
  const taken = new ConsoleBrowser(app);
  taken.cookie = victim.cookie;
  expect((await taken.open("/app/account")).status).toBe(200);
  await victim.send("/app/logout");
  expect((await taken.open("/app/account")).status).toBe(303);
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "/app/../../evil", "javascript:alert(1)"])(
  "no parameter redirects to another site: %j",
  async (target) => {
    const evil = encodeURIComponent(target);
    for (const path of [`login?next=${evil}`, `?next=${evil}`, `account?notice=${evil}`, `/${target}`]) {
      const { location, html } = await owner.open(`/app/${path}`);
      expect([path, location ?? "/app/"]).toEqual([path, expect.stringMatching(/^\/app\/(?!\/)/)]);
      expect(html).not.toMatch(/(?:href|action|src)="(?:https?:|\/\/|\/\\|javascript:)/);
    }
    const headers = { "sec-fetch-site": "cross-site", "x-forwarded-for": someIp() };
    const again = await (await fetch(`${app.url}/app/login?next=${evil}`, { headers })).text();
    expect(/href="(\/app[^"]*)"/.exec(again)?.[1]).toMatch(/^\/app\/login\?next=/);
  },
);

/** Creates one of each resource with a name; returns ids by the first part of the pages' paths. */
async function nameEverything(): Promise<Record<string, string>> {
  const { api } = company;
  const made = async (path: string, body: object) => {
    const { status, body: answer } = await api.post(`/api/emails/${path}/`, body);
    expect([path, status]).toEqual([path, 201]);
    return answer.id as string;
  };
  const lists = await made("lists", { name: EVIL, description: EVIL });
  const person = {
    email: "ada@example.com",
    first_name: EVIL,
    last_name: EVIL,
    attributes: { city: EVIL },
    lists: [lists],
  };
  const subscribers = await made("subscribers", person);
  const rules = { match: "all", conditions: [{ field: "attributes.city", operator: "equals", value: EVIL }] };
  const segments = await made("segments", { name: EVIL, rules });
  const templates = await made("templates", { name: EVIL, subject: EVIL, body: `<p>${EVIL}</p>` });
  const servers = await made("smtp-configs", {
    name: EVIL,
    host: "127.0.0.1",
    port: 9,
    username: EVIL,
    password: "",
    use_tls: false,
    sender_name: "News",
    sender_email: "news@acme.example",
  });
  await made("suppressions", { email: "gone@example.com", reason: EVIL });
  const webhooks = await made("webhook-endpoints", {
    url: `http://127.0.0.1:9/?${encodeURIComponent(EVIL)}`,
    events: ["bounced"],
  });
  const campaigns = await made("send/custom", {
    name: EVIL,
    smtp_config_id: servers,
    subject: EVIL,
    body: `<p><a href="https://example.com/?x=%3Cimg">${EVIL}</a></p>`,
    receivers: [{ email: "ada@example.com" }],
  });
  await api.post("/api/emails/media/", fileForm("hello", "<img src=x onerror=alert(1)>.txt"));
  const inPerson = client(app, { token: company.token });
  await inPerson.post(`/api/companies/${company.id}/api-keys/`, { name: EVIL });
  const changed = await inPerson.patch(`/api/companies/${company.id}/`, {
    name: EVIL,
    footer_text: EVIL,
    branding: { name: EVIL, footer_text: EVIL },
  });
  expect(changed.status).toBe(200);
  return { lists, subscribers, segments, templates, campaigns, webhooks, servers };
}

test("user input is escaped on every page", async () => {
  const ids = await nameEverything();
  const shownOn: string[] = [];
  for (const pattern of of(companyPages, "page")) {
    const [first = ""] = pattern.split("/");
    const path = inCompany(company.id, pattern.replace(":id", ids[first] ?? newId()));
    const { html, headers } = await owner.open(path);
    // The preview is a separate address, and its CSP allows no script.
    if (/(^|; )sandbox\b/.test(headers.get("content-security-policy") ?? "")) continue;
    if (!(headers.get("content-type") ?? "").startsWith("text/html")) continue;
    expect([path, html.includes("<img src=x")]).toEqual([path, false]);
    expect([path, / onerror=alert\(1\)>/.test(html)]).toEqual([path, false]);
    if (html.includes("&lt;img src=x")) shownOn.push(pattern);
  }
  expect(shownOn).toEqual(expect.arrayContaining(["", "campaigns", "campaigns/:id", "subscribers/:id", "lists"]));
});

test("every page leads to its guide, and shows no value that is missing or has no words", async () => {
  const ids = await nameEverything();
  const someone = await signIn(app, await newCompany(app));
  const [, empty] = /^\/app\/([0-9a-f-]{36})/.exec((await someone.open("/app/")).location ?? "") ?? [];
  for (const pattern of of(companyPages, "page")) {
    const [first = ""] = pattern.split("/");
    const path = inCompany(company.id, pattern.replace(":id", ids[first] ?? newId()));
    for (const { html, headers } of [
      await owner.open(path),
      ...(empty && !pattern.includes(":") ? [await someone.open(inCompany(empty, pattern))] : []),
    ]) {
      // The visual editor fills the window and has a head of its own.
      if (!html.includes('<main id="content">') || html.includes('id="visual-editor"')) continue;
      expect([path, headers.get("content-type"), /<a class="help" href="\/docs\/guides\/[a-z-]+\//.test(html)]).toEqual(
        [path, "text/html; charset=utf-8", true],
      );
      const text = html.replace(/[\s\S]*<main id="content">/, "").replaceAll(/<[^>]*>/g, " ");
      expect([path, /function macro|\[object \w+\]|\bundefined\b|\bNaN\b/.exec(text)?.[0]]).toEqual([path, undefined]);
    }
  }
}, 120_000);

test("styles and scripts are cached for good, under names of their content, and set no cookie", async () => {
  const { html } = await owner.open("/app/account");
  const assets = [...html.matchAll(/(?:src|href)="(\/app\/assets\/[^"#]+)/g)].map(([, path]) => path!);
  expect(assets.length).toBeGreaterThan(1);
  for (const path of assets) {
    const { status, headers } = await fetch(`${app.url}${path}`);
    expect([path, status, headers.get("cache-control"), headers.getSetCookie()]).toEqual([
      path,
      200,
      "public, max-age=31536000, immutable",
      [],
    ]);
    expect(path).toMatch(/-[0-9a-f]{12}\.(css|js|svg)(#[\w-]+)?$/);
  }
});
