import { CACHE_MS } from "../../../services/gateway/access/look-up.ts";
import { signBearer } from "../../../services/lib/tokens/bearer.ts";
import { A, B } from "../../support/gateway.ts";
import { json, startThings, statusAndBody, type Things } from "./things.ts";

describe("credentials", () => {
  let gateway: Things;
  beforeAll(async () => {
    gateway = await startThings();
  });
  afterAll(() => gateway.stop());
  const fetchIt: Things["ask"] = (path, init) => gateway.ask(path, init);

  test("missing, malformed and wrong credentials are 401 with WWW-Authenticate", async () => {
    const without = await fetch(`${gateway.url}/api/emails/things/`);
    expect(await statusAndBody(without)).toEqual([401, { detail: "Authentication credentials were not provided." }]);
    expect(without.headers.get("www-authenticate")).toContain("Bearer");
    for (const key of ["", "good", "fm_wrong", "fm_good' or '1'='1", `fm_${"x".repeat(5_000)}`]) {
      expect(await statusAndBody(await fetchIt("/api/emails/things/", { headers: { "X-API-Key": key } }))).toEqual([
        401,
        { detail: "Invalid API key." },
      ]);
    }
    for (const authorization of ["Bearer", "Bearer x.y.z", "Basic YTpi", "Bearer  "]) {
      const response = await fetch(`${gateway.url}/api/emails/things/`, { headers: { Authorization: authorization } });
      expect(await statusAndBody(response)).toEqual([401, { detail: "Invalid or expired token." }]);
    }
  });

  describe("in a bearer token", () => {
    const user = "0190a0a0-0000-7000-8000-0000000000ff";
    const bearer = (path: string, init: RequestInit = {}) =>
      fetch(gateway.url + path, {
        ...init,
        headers: { Authorization: `Bearer ${signBearer(user, "mark")}`, ...(init.headers as Record<string, string>) },
      });

    test("need the company in the query; missing is 400, malformed 400, another's 404", async () => {
      expect(await (await bearer(`/api/emails/things/${A}/?company=${A}`)).json()).toMatchObject({
        meta: { companyId: A, userId: user, role: "owner" },
      });
      expect(await statusAndBody(await bearer("/api/emails/things/"))).toEqual([
        400,
        { company: ["This field is required."] },
      ]);
      expect((await statusAndBody(await bearer("/api/emails/things/?company=")))[1]).toEqual({
        company: ["This field is required."],
      });
      expect(await statusAndBody(await bearer("/api/emails/things/?company=x"))).toEqual([
        400,
        { company: ["Must be a valid UUID."] },
      ]);
      expect((await bearer(`/api/emails/things/?company=${B}`)).status).toBe(404);
    });

    test("are joined by the company in a send's body, reported together with the other errors", async () => {
      expect(await statusAndBody(await bearer("/api/emails/send/thing/", json({})))).toEqual([
        400,
        { company: ["This field is required."], name: ["This field is required."] },
      ]);
      const sent = await bearer("/api/emails/send/thing/", json({ company: A, name: "x" }));
      expect([sent.status, await sent.json()]).toMatchObject([201, { meta: { companyId: A } }]);
    });

    test("need no company where the path contains it", async () => {
      expect(await (await bearer(`/api/companies/${A}/`)).json()).toMatchObject({ meta: { companyId: A } });
      expect((await bearer(`/api/companies/${B}/`)).status).toBe(404);
      expect((await bearer(`/api/companies/${A}/keys/`)).status).toBe(200);
    });
  });

  test("a key works for its own company only: another `company` is 400, another company path 404", async () => {
    // The action refuses a body that contradicts its key, together with all other errors.
    const named = await fetchIt("/api/emails/send/thing/", json({ company: B, name: "x" }));
    expect(await named.json()).toMatchObject({ meta: { companyId: A } });
    expect((await fetchIt(`/api/emails/things/?company=${B}`)).status).toBe(400);
    expect((await fetchIt(`/api/companies/${B}/`)).status).toBe(404);
    expect((await fetchIt(`/api/companies/${A}/`)).status).toBe(200);
  });

  test("a key may not do what is reserved for people", async () => {
    expect((await fetchIt(`/api/companies/${A}/keys/`)).status).toBe(403);
  });

  test("Idempotency-Key reaches the action; the body cannot set it", async () => {
    const sent = await fetchIt(
      "/api/emails/send/thing/",
      json({ name: "x", idempotency_key: "body" }, { "Idempotency-Key": "k1" }),
    );
    expect(await sent.json()).toMatchObject({ params: { idempotency_key: "k1" } });
    const without = await fetchIt("/api/emails/send/thing/", json({ name: "x", idempotency_key: "body" }));
    expect(((await without.json()) as { params: object }).params).toEqual({ name: "x" });
  });

  test("concurrent requests with one key look it up once, and again after it was deleted", async () => {
    let before: number;
    let tookMs: number;
    // A key still in use is looked up again; a busy machine may need longer for fifty requests.
    do {
      gateway.authentication.forgetKey(A);
      before = gateway.asked.keys;
      const beganMs = performance.now();
      await Promise.all(Array.from({ length: 50 }, () => fetchIt(`/api/emails/things/${A}/`)));
      tookMs = performance.now() - beganMs;
    } while (tookMs > CACHE_MS);
    expect(gateway.asked.keys).toBe(before + 1);
    gateway.authentication.forgetKey(A);
    await fetchIt(`/api/emails/things/${A}/`);
    expect(gateway.asked.keys).toBe(before + 2);
  });
});
