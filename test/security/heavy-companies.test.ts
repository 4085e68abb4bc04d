/** What one company asks for at full speed must not take the cores from the others (services/gateway/access/fair-places.ts). */
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { LOOK_EVERY_MS } from "../../services/gateway/access/fair-places.ts";
import { readMetrics } from "../../services/lib/metrics.ts";
import { Type, Uuid } from "../../services/lib/shapes.ts";
import { fileForm } from "../support/client.ts";
import { A, B, sample, startGateway, type TestGateway } from "../support/gateway.ts";

const Empty = Type.Object({});
const Form = Type.Object({ company_id: Uuid });
const File = Type.Object({ filename: Type.String(), content_type: Type.String(), size: Type.Integer() });

let gateway: TestGateway;
let holding = Promise.withResolvers<void>();
let isShort = true;
const begun: Record<string, number> = {};
/** Company A's work lasts as long as the test wants, company B's not at all. */
const work = (companyId: unknown) => {
  begun[`${companyId}`] = (begun[`${companyId}`] ?? 0) + 1;
  return companyId === A ? holding.promise.then(() => ({})) : {};
};

beforeAll(async () => {
  gateway = await startGateway(
    {
      send: sample({ method: "POST", path: "/api/emails/send/" }, Empty, Type.Unknown(), ({ meta }) =>
        work(meta.companyId),
      ),
      list: sample({ method: "GET", path: "/api/emails/lists/" }, Empty, Type.Unknown(), () => ({})),
      subscribe: sample(
        { method: "POST", path: "/api/emails/public/subscribe/:company_id/", access: "public" },
        Form,
        Type.Unknown(),
        ({ params }) => work(params.company_id),
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
    },
    { isCpuShort: () => isShort },
  );
});
afterAll(() => gateway?.stop());
beforeEach(() => {
  holding = Promise.withResolvers();
  isShort = true;
  for (const company of Object.keys(begun)) delete begun[company];
});

const waiting = async () => Number(/^flockmail_requests_waiting (\d+)/m.exec(await readMetrics())![1]);

async function ask(path: string, key?: string, body: string | FormData = "{}"): Promise<number> {
  const headers: Record<string, string> = typeof body === "string" ? { "Content-Type": "application/json" } : {};
  if (key) headers["X-API-Key"] = key;
  const response = await fetch(gateway.url + path, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** Asks as A and as B until what A asks for has to wait. */
async function untilHeavy(askA: () => Promise<number>, askB: () => Promise<number>): Promise<Promise<number>[]> {
  const asked = Array.from({ length: 3 }, askA);
  while ((await waiting()) === 0) {
    expect(await askB()).toBe(200);
    if (asked.length < 60) asked.push(askA());
    await sleep(20);
  }
  return asked;
}

test.each([
  ["by its key", () => ask("/api/emails/send/", "fm_good"), () => ask("/api/emails/send/", "fm_other")],
  [
    "by its public form",
    () => ask(`/api/emails/public/subscribe/${A}/`),
    () => ask(`/api/emails/public/subscribe/${B}/`),
  ],
])("a company at full speed %s waits for itself, another is answered at once", async (_how, askA, askB) => {
  const asked = await untilHeavy(askA, askB);
  const began = begun[A]!;
  const further = Array.from({ length: 5 }, askA);
  for (let n = 0; n < 20; n++) expect(await askB()).toBe(200);
  expect(begun[A]).toBe(began);
  const other = await fetch(`${gateway.url}/api/emails/lists/`, { headers: { "X-API-Key": "fm_good" } });
  expect(other.status).toBe(200);
  holding.resolve();
  expect(new Set(await Promise.all([...asked, ...further]))).toEqual(new Set([200]));
});

test("no longer when there is CPU again", async () => {
  const askA = () => ask("/api/emails/send/", "fm_good");
  const asked = await untilHeavy(askA, () => ask("/api/emails/send/", "fm_other"));
  isShort = false;
  while (begun[A]! < asked.length) await sleep(20);
  holding.resolve();
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
});

test("an upload more than a company may have at once waits for one of them to end, and is not refused", async () => {
  isShort = false;
  const upload = () => ask("/api/emails/media/", "fm_good", fileForm(new Uint8Array(10), "a.png"));
  const uploads = Array.from({ length: 5 }, upload);
  while ((begun[A] ?? 0) < 4) await sleep(5);
  holding.resolve();
  expect(new Set(await Promise.all(uploads))).toEqual(new Set([200]));
});

test("bodies of its uploads arrive one after the other, and behind one that stands still for some seconds at most", async () => {
  const askSend = () => ask("/api/emails/send/", "fm_good");
  const askB = () => ask("/api/emails/send/", "fm_other");
  const sends = await untilHeavy(askSend, askB);
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      expect(await askB()).toBe(200);
      await sleep(50);
    }
  })();
  try {
    // Down to one place.
    await sleep(4 * LOOK_EVERY_MS);
    const [behind, beganMs] = [await waiting(), performance.now()];
    const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nbytes\r\n--x--\r\n';
    const headers = {
      "X-API-Key": "fm_good",
      "Content-Type": "multipart/form-data; boundary=x",
      "Content-Length": file.length,
      Expect: "100-continue",
    };
    const still = request(`${gateway.url}/api/emails/media/`, { method: "POST", headers });
    const stillStatus = new Promise((resolve) =>
      still.on("response", (response) => resolve(response.resume().statusCode)),
    );
    still.flushHeaders();
    // Sent as the gateway begins with a request: the next one comes behind it.
    await once(still, "continue");
    still.write(file.slice(0, 20));
    const further = ask("/api/emails/media/", "fm_good", fileForm(new Uint8Array(10), "b.png"));
    while ((await waiting()) === behind) await sleep(5);
    holding.resolve();
    expect(await further).toBe(200);
    expect(performance.now() - beganMs).toBeGreaterThan(4_000);
    still.end(file.slice(20));
    expect(await stillStatus).toBe(200);
  } finally {
    isOver = true;
    await others;
  }
  expect(new Set(await Promise.all(sends))).toEqual(new Set([200]));
});
