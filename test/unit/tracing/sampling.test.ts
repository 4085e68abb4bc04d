import { randomBytes } from "node:crypto";
import { SpanKind, TraceFlags } from "@opentelemetry/api";
import { uuidOf } from "../../../services/lib/ids.ts";
import { Allowance, contextOf, isChosen, readTraceparent } from "../../../services/lib/tracing/trace-context.ts";
import type { Tracer } from "../../../services/lib/tracing/tracer.ts";
import { recordingTracer } from "../../support/ended-spans.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const start = { name: "GET", kind: SpanKind.SERVER };
const CAMPAIGN = { traceId: TRACE, spanId: SPAN, traceFlags: TraceFlags.SAMPLED };
const beginRequest = (tracer: Tracer, header?: string) => tracer.beginRequest(start, header);
const recording = (ratio: number, perSecond?: number) => {
  const { ended, tracer } = recordingTracer(ratio, perSecond);
  return { ended, tracer };
};

describe("traceparent", () => {
  test("names the caller's span, and says whether its trace is recorded", () => {
    expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: 1 });
    expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: 2 });
  });

  test("is read up to the known fields in a later version", () => {
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes`)).toMatchObject({ traceId: TRACE, traceFlags: 1 });
  });

  test.each([
    ["nothing", undefined],
    ["not a string", 7],
    ["another word", "x"],
    ["an unknown version", `ff-${TRACE}-${SPAN}-01`],
    ["more than version 00 has", `00-${TRACE}-${SPAN}-01-more`],
    ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["a short trace id", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["two headers in one", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["too long", `cc-${TRACE}-${SPAN}-01-${"x".repeat(10_000)}`],
  ])("is ignored if it is %s", (_, header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });
});

describe("a trace is recorded", () => {
  test("for the share in OTEL_TRACES_SAMPLER_ARG, chosen by the trace's id, so that every node chooses the same", () => {
    const ids = Array.from({ length: 20_000 }, () => randomBytes(16).toString("base64url"));
    const chosen = ids.filter((id) => isChosen(id, 0.25));
    expect(chosen.length / ids.length).toBeGreaterThan(0.22);
    expect(chosen.length / ids.length).toBeLessThan(0.28);
    const asUuid = (id: string) => uuidOf(Buffer.from(id, "base64url"));
    expect(ids.filter((id) => isChosen(asUuid(id), 0.25))).toEqual(chosen);
    expect(ids.every((id) => isChosen(id, 1))).toBe(true);
    expect(ids.some((id) => isChosen(id, 0))).toBe(false);
  });

  test("never with a share of 0, not even if the caller requests it", () => {
    const { tracer } = recording(0);
    expect(beginRequest(tracer)).toBeUndefined();
    expect(beginRequest(tracer, `00-${TRACE}-${SPAN}-01`)).toBeUndefined();
    expect(tracer.follows(CAMPAIGN)).toBe(false);
    expect(tracer.mail(randomBytes(16).toString("base64url"), CAMPAIGN)).toBeUndefined();
  });

  test("always with a share of 1, except for callers that have decided against it", () => {
    const { ended, tracer } = recording(1);
    beginRequest(tracer)!.end();
    beginRequest(tracer, "no traceparent")!.end();
    expect(beginRequest(tracer, `00-${TRACE}-${SPAN}-00`)).toBeUndefined();
    expect(ended.map(({ parentId }) => parentId)).toEqual([undefined, undefined]);
  });

  test("because of a caller's flag only up to a limit per second, however many requests have the flag", () => {
    const { ended, tracer } = recording(1e-12, 10);
    // The caller picks an id that isChosen always accepts; this must not get around the limit.
    const header = `00-${TRACE.slice(0, 24)}00000000-${SPAN}-01`;
    const followed = Array.from({ length: 500 }, () => beginRequest(tracer, header)).filter(
      (span) => span !== undefined,
    );
    expect(followed.length).toBeGreaterThanOrEqual(10);
    // On a busy machine the 500 requests may take more than one second.
    expect(followed.length).toBeLessThan(250);
    followed[0]!.end();
    expect(ended).toMatchObject([{ traceId: header.slice(3, 35), parentId: SPAN }]);
  });

  test("within an allowance that is renewed each second", () => {
    const allowance = new Allowance(2);
    const at = (ms: number) => allowance.take(ms);
    expect([at(1_000), at(1_500), at(1_999), at(2_000), at(2_001), at(2_002)]).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  test("for a mail under ids that follow from its Message-ID, which no two mails share", () => {
    const ids = Array.from({ length: 100 }, () => randomBytes(16));
    const contexts = ids.map((id) => contextOf(id.toString("base64url")));
    expect(contexts.map(({ traceId }) => traceId)).toEqual(ids.map((id) => id.toString("hex")));
    expect(new Set(contexts.map(({ spanId }) => spanId)).size).toBe(100);
    expect(contextOf("0199F0A2-7c1e-7bd4-9c0a-4b1e2d3f4a5b").traceId).toBe("0199f0a27c1e7bd49c0a4b1e2d3f4a5b");
  });

  test("for mails of a recorded campaign up to the limit per second, and for other mails by the share", () => {
    const { tracer } = recording(1e-12, 10);
    const mails = Array.from({ length: 500 }, () => randomBytes(16).toString("base64url"));
    expect(mails.filter((id) => tracer.mail(id, undefined))).toEqual([]);
    const followed = mails.filter((id) => tracer.mail(id, CAMPAIGN));
    expect(followed.length).toBeGreaterThanOrEqual(10);
    expect(followed.length).toBeLessThan(250);
  });
});
