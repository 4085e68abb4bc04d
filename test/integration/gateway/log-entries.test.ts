import { A } from "../../support/gateway.ts";
import { MISSING, startThings, type Things } from "./things.ts";

describe("the log of failed requests", () => {
  let gateway: Things;
  let info: jest.SpyInstance;
  beforeAll(async () => {
    gateway = await startThings();
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    info = jest.spyOn(gateway.broker.logger, "info").mockImplementation(() => {});
  });
  afterEach(() => info.mockRestore());

  test("has one entry with method, route, status, duration, request and company", async () => {
    await gateway.ask(`/api/emails/things/${MISSING}/`, { headers: { "X-Request-Id": "r-1" } });
    expect(info.mock.calls).toEqual([
      [
        {
          method: "GET",
          route: "/api/emails/things/:id/",
          status: 404,
          durationMs: expect.any(Number),
          requestId: "r-1",
          companyId: A,
        },
        "GET /api/emails/things/:id/ 404",
      ],
    ]);
  });

  test("names the unavailable dependency of a 503, which the client is not told", async () => {
    const response = await gateway.ask("/api/emails/slow/");
    expect(await response.text()).not.toContain("timed out");
    expect(info.mock.calls).toMatchObject([
      [{ status: 503, reason: expect.stringContaining("timed out") }, expect.anything()],
    ]);
  });

  test("contains no path, query or credentials", async () => {
    await gateway.ask("/api/emails/public/open/s3cret.gif?token=s3cret", { headers: { "X-API-Key": "fm_s3cret" } });
    await gateway.ask("/api/emails/things/?search=s3cret", { headers: { "X-API-Key": "fm_s3cret" } });
    expect(info.mock.calls.map(([{ route, status }]) => [route, status])).toEqual([
      ["none", 404],
      ["/api/emails/things/", 401],
    ]);
    expect(JSON.stringify(info.mock.calls)).not.toContain("s3cret");
  });

  test("has no entry for successful requests", async () => {
    await (await gateway.ask("/api/emails/things/")).text();
    expect(info).not.toHaveBeenCalled();
  });
});
