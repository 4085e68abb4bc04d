/** Limits of concurrent requests: a company's requests at full speed must not occupy the process. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readMetrics } from "../../services/lib/metrics.ts";
import { Type, Uuid } from "../../services/lib/shapes.ts";
import { fileForm } from "../support/client.ts";
import { A, B, sample, startGateway, type TestGateway } from "../support/gateway.ts";

const Empty = Type.Object({});
const Form = Type.Object({ company_id: Uuid });
const File = Type.Object({ filename: Type.String(), content_type: Type.String(), size: Type.Integer() });
const LIMIT = 32;

let gateway: TestGateway;
let holding = Promise.withResolvers<void>();
const begun: Record<string, number> = {};
const waitsLeft: (number | undefined)[] = [];
/** Company A's work lasts as long as the test wants, company B's ends at once. */
const work = (companyId: unknown) => {
  begun[`${companyId}`] = (begun[`${companyId}`] ?? 0) + 1;
  return companyId === A ? holding.promise.then(() => ({})) : {};
};

beforeAll(async () => {
  gateway = await startGateway({
    send: sample({ method: "POST", path: "/api/emails/send/" }, Empty, Type.Unknown(), ({ meta }) => {
      waitsLeft.push(meta.waitLeftMs);
      return work(meta.companyId);
    }),
    subscribe: sample(
      { method: "POST", path: "/api/emails/public/subscribe/:company_id/", access: "public" },
      Form,
      Type.Unknown(),
      ({ params }) => work(params.company_id),
    ),
    link: sample(
      { method: "GET", path: "/api/emails/public/open/", access: "public" },
      Empty,
      Type.Unknown(),
      () => ({}),
    ),
    media: sample(
      { method: "POST", path: "/api/emails/media/", upload: "media" },
      File,
      Type.Unknown(),
      ({ meta, stream }) => {
        stream!.resume();
        return work(meta.companyId);
      },
    ),
  });
});
afterAll(() => gateway?.stop());
beforeEach(() => {
  holding = Promise.withResolvers();
  waitsLeft.length = 0;
  for (const company of Object.keys(begun)) delete begun[company];
});

const waiting = async () => Number(/^flockmail_requests_waiting (\d+)/m.exec(await readMetrics())![1]);

async function post(path: string, key?: string, body: string | FormData = "{}"): Promise<Response> {
  const headers: Record<string, string> = typeof body === "string" ? { "Content-Type": "application/json" } : {};
  if (key) headers["X-API-Key"] = key;
  const response = await fetch(gateway.url + path, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response;
}
const ask = async (...asked: Parameters<typeof post>): Promise<number> => (await post(...asked)).status;
const times = <T>(n: number, one: () => T): T[] => Array.from({ length: n }, one);
const sendA = () => ask("/api/emails/send/", "fm_good");

test.each([
  ["by its key", sendA, () => ask("/api/emails/send/", "fm_other")],
  [
    "by its public form",
    () => ask(`/api/emails/public/subscribe/${A}/`),
    () => ask(`/api/emails/public/subscribe/${B}/`),
  ],
])("a company at full speed %s delays only itself, another is answered at once", async (_how, askA, askB) => {
  const asked = times(LIMIT + 5, askA);
  while ((await waiting()) < 5) await sleep(5);
  expect(begun[A]).toBe(LIMIT);
  for (let n = 0; n < 20; n++) expect(await askB()).toBe(200);
  expect((await fetch(`${gateway.url}/api/emails/public/open/`)).status).toBe(200);
  expect([begun[A], await waiting()]).toEqual([LIMIT, 5]);
  holding.resolve();
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
});

test("a request that has waited for 5 seconds is throttled, and the remaining wait budget is passed on", async () => {
  const asked = times(LIMIT, sendA);
  while ((begun[A] ?? 0) < LIMIT) await sleep(5);
  const beganMs = performance.now();
  const refused = await post("/api/emails/send/", "fm_good");
  expect(performance.now() - beganMs).toBeGreaterThan(4_900);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  const late = sendA();
  while ((await waiting()) === 0) await sleep(5);
  await sleep(200);
  holding.resolve();
  expect(new Set(await Promise.all([...asked, late]))).toEqual(new Set([200]));
  expect(waitsLeft.slice(0, LIMIT)).toEqual(times(LIMIT, () => 5_000));
  expect(waitsLeft.at(-1)).toBeLessThan(4_850);
});

test("an upload above a company's limit waits for another to end instead of being refused", async () => {
  const upload = () => ask("/api/emails/media/", "fm_good", fileForm(new Uint8Array(10), "a.png"));
  const uploads = times(5, upload);
  while ((begun[A] ?? 0) < 4) await sleep(5);
  holding.resolve();
  expect(new Set(await Promise.all(uploads))).toEqual(new Set([200]));
});

test("an upload counts once its body has arrived", async () => {
  const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nbytes\r\n--x--\r\n';
  const headers = {
    "X-API-Key": "fm_good",
    "Content-Type": "multipart/form-data; boundary=x",
    "Content-Length": body.length,
  };
  const slow = request(`${gateway.url}/api/emails/media/`, { method: "POST", headers });
  const slowStatus = new Promise((resolve) => slow.on("response", (response) => resolve(response.resume().statusCode)));
  slow.write(body.slice(0, 20));
  const sends = times(LIMIT, sendA);
  while ((begun[A] ?? 0) < LIMIT) await sleep(5);
  slow.end(body.slice(20));
  while ((await waiting()) === 0) await sleep(5);
  expect(begun[A]).toBe(LIMIT);
  holding.resolve();
  expect([await slowStatus, new Set(await Promise.all(sends))]).toEqual([200, new Set([200])]);
});
