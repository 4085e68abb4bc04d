/**
 * Runs the pods of k8s/overlays/cluster from the image, with the restrictions of the rendered manifests, under
 * customers' load. All tests share one cluster and run in order.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Tally } from "../load/tally.ts";
import { type Backends, startBackends } from "./rig/backends.ts";
import { Cluster } from "./rig/cluster.ts";
import { type Customer, csv, finished, newCustomer, sendTo, upload } from "./rig/customer.ts";
import { ADDRESS, openBridge } from "./rig/network.ts";
import type { Pod } from "./rig/pod.ts";
import { openPodman } from "./rig/podman.ts";

const READERS = 20_000;
const IMPORTED_ROWS = 1_200_000;
const UPLOADED_ROWS = 5_000;
/** Allows 200 mails a second over twenty connections, so that a campaign outlasts the senders that started it. */
const SLOW_ANSWER_MS = 100;
const CAMPAIGN_WITHIN_MS = 600_000;
const ASK_EVERY_MS = 100;

jest.setTimeout(1_800_000);

const folder = mkdtempSync(join(tmpdir(), "flockmail-pods-"));
const say = (text: string) => void process.stdout.write(`  ${text}\n`);
let backends: Backends;
let cluster: Cluster;
let customer: Customer;

beforeAll(async () => {
  const podman = await openPodman(process.env.IMAGE_FOLDER!);
  // The servers listen on its addresses.
  openBridge();
  backends = await startBackends(join(folder, "backends"));
  cluster = await Cluster.open(podman, process.env.IMAGE_NAME!, join(folder, "pods"), backends);
  const began = performance.now();
  await cluster.deploy();
  say(`${cluster.pods.length} pods ready after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  customer = await newCustomer(cluster.ingress.url);
});
afterAll(async () => {
  await cluster?.stop();
  await backends?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Customers' requests until `over`: returns the longest duration and this process's own delay. */
async function asking(tally: Tally, over: AbortSignal, work: () => Promise<Response>) {
  let [longestMs, lateMs] = [0, 0];
  while (!over.aborted) {
    const askedMs = performance.now();
    await tally.request("api", work);
    longestMs = Math.max(longestMs, performance.now() - askedMs);
    const sleptMs = performance.now();
    await sleep(ASK_EVERY_MS);
    lateMs = Math.max(lateMs, performance.now() - sleptMs - ASK_EVERY_MS);
  }
  return { longestMs, lateMs };
}

const request = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(cluster.ingress.url + path, {
    method,
    headers: { "x-api-key": customer.key, ...(body ? { "content-type": "application/json" } : {}) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });

/** Requests like those of customers' programs: reads and writes with each customer's key. */
function calls(): () => Promise<Response> {
  let n = 0;
  return () => {
    const which = n++ % 4;
    if (which === 0) return request("POST", "/api/emails/subscribers/", { email: `${randomUUID()}@readers.example` });
    return request("GET", ["", "/api/emails/subscribers/", "/api/emails/campaigns/", "/api/emails/lists/"][which]!);
  };
}

/** Connects from within a pod, by a program in it. */
const reaches = async (pod: Pod, host: string, port: number): Promise<boolean> => {
  const script = `const s = require("node:net").connect(${port}, "${host}"); const end = (what) => { console.log(what); process.exit(); };
    s.on("connect", () => end("open")).on("error", (e) => end(e.code === "ECONNREFUSED" ? "open" : "closed")); setTimeout(end, 3000, "closed");`;
  return (await pod.exec(["node", "-e", script])) === "open";
};

/** Connects to a pod from that address. */
const admits = (pod: Pod, port: number, localAddress: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: pod.address, port, localAddress, timeout: 3_000 });
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.on("connect", () => end(true));
    socket.on("timeout", () => end(false));
    socket.on("error", () => end(false));
  });

const one = (name: string): Pod => cluster.of(name)[0]!;

test("every process runs unprivileged, without capabilities, on a read-only file system", async () => {
  for (const pod of cluster.pods) {
    expect(pod.status()).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(pod.status()).toMatch(/^CapEff:\t0{16}$/m);
    expect(pod.status()).toMatch(/^NoNewPrivs:\t1$/m);
    expect(pod.status()).toMatch(/^Seccomp:\t2$/m);
  }
  const root = readFileSync(`/proc/${one("gateway").pid}/mounts`, "utf8").split("\n")[0];
  expect(root).toMatch(/^overlay \/ overlay ro,/);
  await expect(one("gateway").exec(["touch", "/app/added"])).rejects.toThrow("Read-only file system");
});

test("pods reach their servers and the targets of their network policies, and nothing else", async () => {
  const [sender, subscribers] = [one("smtp-sender"), one("subscribers")];
  expect(await reaches(sender, ADDRESS.postgres, 5432)).toBe(true);
  expect(await reaches(sender, ADDRESS.internet, 443)).toBe(true);
  expect(await reaches(sender, ADDRESS.mail, 25)).toBe(true);
  expect(await reaches(subscribers, ADDRESS.postgres, 5432)).toBe(true);
  expect(await reaches(subscribers, ADDRESS.internet, 443)).toBe(false);
  expect(await reaches(subscribers, ADDRESS.mail, 25)).toBe(false);
  expect(await reaches(sender, ADDRESS.elsewhere, 443)).toBe(false);
  expect(await reaches(sender, one("gateway").address, 3000)).toBe(false);
});

test("pods admit the ingress and the monitoring on their ports, and no other client", async () => {
  const gateway = one("gateway");
  expect(await admits(gateway, 3000, ADDRESS.ingress)).toBe(true);
  expect(await admits(gateway, 3000, ADDRESS.stranger)).toBe(false);
  expect(await admits(gateway, 3030, ADDRESS.monitoring)).toBe(true);
  expect(await admits(gateway, 3030, ADDRESS.stranger)).toBe(false);
  expect(await admits(one("bounces"), 2525, ADDRESS.stranger)).toBe(true);
});

test("operator commands in a pod work as docs/kubernetes.md says", async () => {
  const queues = JSON.parse(await one("operator").exec(["node", "services/operator/ops.ts", "companies", "--json"]));
  expect(queues).toMatchObject([{ name: "Image" }]);
});

test("a rollout of all workloads during a campaign and uploads loses nothing, sends nothing twice, leaves nothing in doubt and causes no 5xx", async () => {
  const { list } = await upload(customer, csv("reader", READERS));
  backends.mail.options.delayMs = { DOT: SLOW_ANSWER_MS };
  const campaign = await sendTo(customer, list);
  const [tally, over] = [new Tally(), new AbortController()];
  const meanwhile = asking(tally, over.signal, calls());
  const uploads: string[] = [];
  const uploading = (async () => {
    while (!over.signal.aborted) {
      const rows = csv(`uploaded${uploads.length}-`, UPLOADED_ROWS);
      let isIn: string | undefined;
      const send = async (ask: () => Promise<Response>) => {
        const response = await ask();
        isIn = await tally.request("upload", async () => response);
        return response;
      };
      const done = await upload(customer, rows, { send }).catch(({ message }: Error) =>
        tally.failed("upload", message, true),
      );
      if (done && isIn !== undefined) uploads.push(done.list);
    }
  })();
  const began = performance.now();
  const codes = await cluster.rollOut().finally(() => over.abort());
  say(
    `${codes.length} pods replaced in ${((performance.now() - began) / 1_000).toFixed(0)} s, ${backends.mail.accepted} mails sent by then`,
  );
  await Promise.all([meanwhile, uploading]);
  const done = await finished(customer, campaign.id, CAMPAIGN_WITHIN_MS);
  console.table(tally.rows());
  if (tally.serverErrors.length > 0) process.stdout.write(await cluster.said());

  expect(new Set(codes)).toEqual(new Set([0]));
  expect(tally.serverErrors).toEqual([]);
  expect(done).toMatchObject({ status: "completed", total_emails: READERS, sent_count: READERS, failed_count: 0 });
  expect(backends.mail.accepted).toBe(READERS);
  expect(backends.mail.doubled).toEqual([]);
  const members = await backends.query<{ n: number }>(
    "select count(*)::int as n from list_members where list_id = any ($1) group by list_id",
    [uploads],
  );
  expect(uploads.length).toBeGreaterThan(0);
  expect(members.map(({ n }) => n)).toEqual(uploads.map(() => UPLOADED_ROWS));
});

test("a sender at full speed stays within its memory", async () => {
  backends.mail.options.delayMs = 0;
  cluster.forgetPeaks();
  const before = backends.mail.accepted;
  const { list } = await upload(customer, csv("fast", READERS));
  const began = performance.now();
  const campaign = await sendTo(customer, list);
  expect(await finished(customer, campaign.id, CAMPAIGN_WITHIN_MS)).toMatchObject({ sent_count: READERS });
  const perSecond = READERS / ((performance.now() - began) / 1_000);
  const senders = cluster.peaks().filter(({ pod }) => pod.startsWith("smtp-sender"));
  const limitMib = one("smtp-sender").plan.memoryBytes / 1_048_576;
  say(
    `${perSecond.toFixed(0)} mails/s; senders: ${senders.map(({ peak }) => peak.workingSetMib.toFixed(0)).join(", ")} of ${limitMib} MiB`,
  );
  expect(backends.mail.accepted - before).toBe(READERS);
  expect(senders.length).toBeGreaterThan(0);
  for (const { peak } of senders) {
    expect(peak.kills).toBe(0);
    expect(peak.workingSetMib).toBeLessThan(limitMib);
  }
});

test("1.2 million rows are imported with less than 250 MiB in every pod", async () => {
  cluster.forgetPeaks();
  const began = performance.now();
  const { list, answer } = await upload(customer, csv("many", IMPORTED_ROWS), { background: true });
  expect(answer!.status).toBe(202);
  const { import_id } = (await answer!.json()) as { import_id: string };
  let state: { status: string; created: number };
  do {
    await sleep(1_000);
    state = await customer.api("GET", `/api/emails/imports/${import_id}/`);
  } while (["waiting", "running"].includes(state.status) && performance.now() - began < CAMPAIGN_WITHIN_MS);
  const peaks = cluster.peaks().toSorted((a, b) => b.peak.anonymousMib - a.peak.anonymousMib);
  const most = peaks.map(({ pod, peak }) => `${pod} ${peak.anonymousMib.toFixed(0)}`);
  say(`${IMPORTED_ROWS} rows in ${((performance.now() - began) / 1_000).toFixed(0)} s; MiB: ${most.join(", ")}`);
  expect(state).toMatchObject({ status: "done", created: IMPORTED_ROWS });
  const [members] = await backends.query<{ n: number }>(
    "select count(*)::int as n from list_members where list_id = $1",
    [list],
  );
  expect(members!.n).toBe(IMPORTED_ROWS);
  expect(peaks.filter(({ peak }) => peak.anonymousMib >= 250)).toEqual([]);
});

test("a container killed and restarted in its pod delays no call by more than 7 s", async () => {
  const [tally, over] = [new Tally(), new AbortController()];
  const meanwhile = Promise.all([asking(tally, over.signal, calls()), asking(tally, over.signal, calls())]);
  for (const name of ["campaigns", "accounts", "subscribers"]) {
    await one(name)
      .killAndRestart()
      .catch((error) => {
        over.abort();
        throw error;
      });
  }
  over.abort();
  const seen = await meanwhile;
  const [longestMs, lateMs] = [Math.max(...seen.map((s) => s.longestMs)), Math.max(...seen.map((s) => s.lateMs))];
  say(`the longest call took ${longestMs.toFixed(0)} ms, this process was ${lateMs.toFixed(0)} ms late`);
  console.table(tally.rows());
  expect(longestMs).toBeLessThan(7_000 + lateMs);
});

test("no container has exited, been killed for its memory or failed its liveness probe after all these tests", () => {
  expect(cluster.died).toEqual([]);
  expect(cluster.peaks().filter(({ peak }) => peak.kills > 0)).toEqual([]);
  for (const pod of cluster.pods) {
    expect(pod.mostFailedLooks).toBeLessThan(pod.plan.probes.liveness?.failureThreshold ?? Number.POSITIVE_INFINITY);
  }
});
