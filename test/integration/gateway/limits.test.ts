import { throttled } from "../../../services/lib/errors.ts";
import { ById, Type } from "../../../services/lib/shapes.ts";
import { signBearer } from "../../../services/lib/tokens/bearer.ts";
import { someIp } from "../../support/client.ts";
import { A, type Sample, sample, startGateway, type TestGateway } from "../../support/gateway.ts";

const C = "0190a0a0-0000-7000-8000-00000000000c";
const None = Type.Object({});
const ByToken = Type.Object({ token: Type.String() });
const Any = Type.Unknown();
const fine = () => ({});
const redirect: Sample["handler"] = ({ meta }) => ({
  status: 302,
  content_type: "text/plain",
  body: "",
  headers: { Location: `https://example.com/?recorded=${meta.http?.overLimit?.isRecorded}` },
});
const recorded: string[] = [];
const pixel: Sample["handler"] = ({ params, meta }) => {
  const { overLimit } = meta.http ?? {};
  if (overLimit?.isRecorded !== false) recorded.push((params as { token: string }).token);
  if (overLimit) throw throttled(overLimit.retryAfterSeconds);
  return { content_type: "image/gif", body: "GIF89a" };
};

const anyone = { access: "public" } as const;
const samples: Record<string, Sample> = {
  login: sample({ method: "POST", path: "/api/auth/login/", ...anyone, throttle: "auth" }, None, Any, fine),
  refresh: sample({ method: "POST", path: "/api/auth/refresh/", ...anyone, throttle: "auth" }, None, Any, fine),
  subscribe: sample(
    { method: "POST", path: "/api/emails/public/subscribe/", ...anyone, throttle: "subscribe" },
    None,
    Any,
    fine,
  ),
  open: sample(
    { method: "GET", path: "/api/emails/public/open/:token.gif", ...anyone, answer: "bytes", throttle: "tracking" },
    ByToken,
    Any,
    pixel,
  ),
  click: sample(
    {
      method: "GET",
      path: "/api/emails/public/click/:token/",
      ...anyone,
      answer: "redirect",
      status: 302,
      throttle: "tracking",
    },
    ByToken,
    Any,
    redirect,
  ),
  get: sample({ method: "GET", path: "/api/emails/things/" }, None, Any, fine),
  create: sample({ method: "POST", path: "/api/emails/things/" }, None, Any, fine),
  remove: sample({ method: "DELETE", path: "/api/emails/things/:id/" }, ById, Any, fine),
};

describe("rate limits and the daily quota", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(samples, { callsPerDay: (company) => (company === A ? null : 3) });
  });
  afterAll(() => gateway.stop());

  const ask = (method: string, path: string, ip: string, headers: Record<string, string> = {}, body?: string) =>
    fetch(gateway.url + path, { method, body, redirect: "manual", headers: { "X-Forwarded-For": ip, ...headers } });
  const statuses = async (n: number, one: () => Promise<Response>) => {
    const seen: number[] = [];
    for (let i = 0; i < n; i++) seen.push((await one()).status);
    return seen;
  };

  test("sign-in is limited to 5 a minute per address over all routes; then 429 with a sentence and Retry-After", async () => {
    const ip = someIp();
    expect(await statuses(3, () => ask("POST", "/api/auth/login/", ip))).toEqual([200, 200, 200]);
    expect(await statuses(2, () => ask("POST", "/api/auth/refresh/", ip))).toEqual([200, 200]);
    const refused = await ask("POST", "/api/auth/login/", ip);
    const seconds = Number(refused.headers.get("retry-after"));
    expect([refused.status, await refused.json()]).toEqual([
      429,
      { detail: `Request was throttled. Expected available in ${seconds} seconds.` },
    ]);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await ask("POST", "/api/auth/login/", someIp())).status).toBe(200);
  });

  test("addresses left of the trusted proxy's are ignored", async () => {
    const ip = someIp();
    const seen = await statuses(6, () => ask("POST", "/api/auth/login/", `${someIp()}, ${ip}`));
    expect(seen).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test("public subscribe is limited to 3 a minute per address", async () => {
    const ip = someIp();
    expect(await statuses(4, () => ask("POST", "/api/emails/public/subscribe/", ip))).toEqual([200, 200, 200, 429]);
  });

  test("tracking beyond 60 a minute per address gets 429 for the pixel, and a hit is recorded until one mail has 60 of them", async () => {
    const ip = someIp();
    const open = (mail: string, from = ip) => ask("GET", `/api/emails/public/open/${mail}.gif`, from);
    const click = async (mail: string, from = ip) => {
      const { status, headers } = await ask("GET", `/api/emails/public/click/${mail}/`, from);
      expect(status).toBe(302);
      return headers.get("location")!.split("?")[1];
    };
    const [one, two] = ["one-mail-of-a-campaign", "two-mail-of-a-campaign"];
    recorded.length = 0;
    const pixels = [...(await statuses(30, () => open(`${one}-link`))), ...(await statuses(30, () => open(two)))];
    expect(new Set(pixels)).toEqual(new Set([200]));
    const refused = await open(two);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(await click(two)).toBe("recorded=true");
    expect(new Set(await statuses(31, () => open(one)))).toEqual(new Set([429]));
    expect(recorded).toHaveLength(60 + 1 + 30);
    expect([await click(one), await click(two)]).toEqual(["recorded=false", "recorded=true"]);
    expect(await click(one, someIp())).toBe("recorded=undefined");
  });

  test.each([
    "Mozilla/5.0",
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
  ])("an image proxy, which serves many readers, counts per address and message: %s", async (userAgent) => {
    const ip = someIp();
    const seen = await Promise.all(
      Array.from({ length: 61 }, (_, i) =>
        ask("GET", `/api/emails/public/open/m${i}.gif`, ip, { "User-Agent": userAgent }),
      ),
    );
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]));
    const same = await statuses(61, () =>
      ask("GET", "/api/emails/public/open/one.gif", ip, { "User-Agent": userAgent }),
    );
    expect(same.filter((status) => status === 429)).toHaveLength(1);
  });

  test("a company without a daily limit gets no X-RateLimit headers", async () => {
    const response = await ask("GET", "/api/emails/things/", someIp(), { "X-API-Key": "fm_good" });
    expect(response.status).toBe(200);
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  });

  test("headers count down the plan's daily calls, the next call is the structured 429, other companies are unaffected", async () => {
    const call = (key: string) => ask("GET", "/api/emails/things/", someIp(), { "X-API-Key": key });
    const left = [];
    for (let i = 0; i < 3; i++) left.push((await call("fm_other")).headers.get("x-ratelimit-remaining"));
    expect(left).toEqual(["2", "1", "0"]);
    for (let again = 0; again < 2; again++) {
      const refused = await call("fm_other");
      expect([refused.status, await refused.json()]).toEqual([
        429,
        { detail: { code: "rate_limit_exceeded", message: "Daily API call limit exceeded.", limit: 3, current: 3 } },
      ]);
      const toMidnight = 86_400 - (Math.floor(Date.now() / 1_000) % 86_400);
      expect(Math.abs(Number(refused.headers.get("retry-after")) - toMidnight)).toBeLessThanOrEqual(30);
      expect(refused.headers.get("x-ratelimit-limit")).toBe("3");
      expect(Number(refused.headers.get("x-ratelimit-reset")) % 86_400).toBeLessThanOrEqual(1);
    }
  });

  test("a call with an invalid path or body is counted and still gets its error", async () => {
    const refused = (method: string, path: string) =>
      ask(method, path, someIp(), { "X-API-Key": "fm_third", "Content-Type": "application/json" }, "{");
    const malformed = await refused("POST", "/api/emails/things/");
    expect([malformed.status, malformed.headers.get("x-ratelimit-remaining")]).toEqual([400, "2"]);
    const nowhere = await refused("DELETE", "/api/emails/things/x/");
    expect([nowhere.status, nowhere.headers.get("x-ratelimit-remaining")]).toEqual([404, "1"]);
  });

  test("people's calls count per company", async () => {
    const people = [1, 2, 3, 4].map((n) => signBearer(`0190a0a0-0000-7000-8000-00000000000${n}`, "mark"));
    const seen = [];
    for (const token of people) {
      const path = `/api/emails/things/?company=${C}`;
      seen.push((await ask("GET", path, someIp(), { Authorization: `Bearer ${token}` })).status);
    }
    expect(seen).toEqual([200, 200, 200, 429]);
  });
});
