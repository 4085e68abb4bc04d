/** Sampling of requests, and attributes of their spans. */
import { setTracer } from "../../../services/lib/tracing/tracer.ts";
import { type EndedSpan, recordingTracer } from "../../support/ended-spans.ts";
import { A } from "../../support/gateway.ts";
import { MISSING, startThings, type Things } from "./things.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const PATH = `/api/emails/things/${MISSING}/`;

describe("the span of a request", () => {
  let gateway: Things;
  let ended: EndedSpan[];
  const record = (ratio: number) => {
    const recording = recordingTracer(ratio);
    ended = recording.ended;
    setTracer(recording.tracer);
  };
  beforeAll(async () => {
    record(1);
    gateway = await startThings();
  });
  afterAll(async () => {
    setTracer(undefined);
    await gateway.stop();
  });
  beforeEach(() => {
    record(1);
  });

  const ask = async (path: string, headers: Record<string, string> = {}) =>
    (await gateway.ask(path, { headers })).text();

  test("is named by its route and has method, status and company", async () => {
    await ask(PATH);
    expect(ended).toMatchObject([
      {
        name: "GET /api/emails/things/:id/",
        kind: "server",
        attributes: {
          "http.request.method": "GET",
          "http.route": "/api/emails/things/:id/",
          "http.response.status_code": 404,
          "flockmail.company_id": A,
        },
      },
    ]);
    expect(ended[0]!.attributes).not.toHaveProperty("error.type");
  });

  test("is an error only for server errors, and then has no details beyond the status", async () => {
    await ask("/api/emails/broken/");
    expect(ended).toMatchObject([{ attributes: { "error.type": "500", "http.response.status_code": 500 } }]);
    expect(JSON.stringify(ended)).not.toContain("hunter2");
  });

  test("contains no path, query or header", async () => {
    const headers = {
      "X-API-Key": "fm_s3cret",
      "X-Request-Id": "s3cret",
      traceparent: "s3cret",
      tracestate: "s=s3cret",
    };
    await ask("/api/emails/public/open/s3cret.gif?token=s3cret", headers);
    await ask("/api/emails/things/?search=s3cret", headers);
    await gateway.ask("/s3cret/", { method: "PROPFIND" });
    expect(ended.map(({ name }) => name)).toEqual(["GET", "GET /api/emails/things/", "_OTHER"]);
    expect(JSON.stringify(ended)).not.toContain("s3cret");
  });

  test("continues a caller's sampled trace, even with a tiny share", async () => {
    record(1e-12);
    await ask(PATH, { traceparent: `00-${TRACE}-${SPAN}-01` });
    await ask(PATH);
    expect(ended).toMatchObject([{ traceId: TRACE, parentId: SPAN }]);
  });

  test("does not exist if the caller does not sample, or nothing is recorded", async () => {
    await ask(PATH, { traceparent: `00-${TRACE}-${SPAN}-00` });
    record(0);
    await ask(PATH, { traceparent: `00-${TRACE}-${SPAN}-01` });
    await ask(PATH);
    expect(ended).toEqual([]);
  });

  test("starts a new trace for a malformed traceparent, and the request succeeds", async () => {
    for (const traceparent of [
      "x",
      `00-${TRACE}-${SPAN}`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `ff-${TRACE}-${SPAN}-01`,
    ]) {
      expect((await gateway.ask("/api/emails/things/", { headers: { traceparent } })).status).toBe(200);
    }
    expect(ended).toHaveLength(4);
    expect(ended.map(({ parentId }) => parentId)).toEqual(Array(4).fill(undefined));
    expect(ended.some(({ traceId }) => traceId === TRACE)).toBe(false);
  });
});
