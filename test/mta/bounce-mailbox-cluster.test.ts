/** Two processes of the bounces service over a real NATS read one mailbox in a real Dovecot. Needs root. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../models/database/db.ts";
import { newWorld, type World } from "../integration/tracking/world.ts";
import { type App, startApp } from "../support/app.ts";
import { BounceBoxes, bounceOf, expected, inbound, PASSWORD } from "../support/mta/bounce-boxes.ts";
import { type Dovecot, startDovecot } from "../support/mta/dovecot.ts";
import { type NatsCluster, startNatsCluster } from "../support/nats-cluster.ts";
import { type Server, startRedis } from "../support/servers.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";

jest.setTimeout(300_000);

/** Longer than the 30 s for which a killed reader keeps its mailbox. */
const WAIT_MS = 120_000;

let app: App;
let dovecot: Dovecot;
let nats: NatsCluster;
let redis: Server;
let processes: ServiceProcess[] = [];

beforeAll(async () => {
  [dovecot, nats, redis] = await Promise.all([startDovecot({ password: PASSWORD }), startNatsCluster(1), startRedis()]);
  app = await startApp({ services: [] });
  const env = {
    TRANSPORTER: nats.url,
    REDIS_URL: redis.url,
    DATABASE_URL: app.databaseUrl,
    DATABASE_POOL: "8",
    SECRET_KEY: "test-secret-test-secret-test-secret",
    ALLOW_PRIVATE_NETWORKS: "true",
    LOGLEVEL: "warn",
  };
  processes = await Promise.all([1, 2].map(() => startService({ services: ["bounces"], env })));
  await Promise.all(processes.map((each) => each.ready()));
});
afterAll(async () => {
  await Promise.all(processes.map(({ child }) => child.stop()));
  await app?.stop();
  await Promise.all([dovecot?.stop(), nats?.stop(), redis?.stop()]);
});

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS; !(await what()); await sleep(50)) {
    const said = () => processes.map(({ child }) => child.output()).join("\n");
    if (Date.now() > deadline) throw new Error(`It did not happen in time\n${said()}`);
  }
}

/** Open files of a process; empty if it has just ended. */
function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

/** The process that connects from this local port. Files may change during the search. */
function processAt(port: number): ServiceProcess {
  const end = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const connections = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const inode = connections.map((line) => line.trim().split(/\s+/)).find(([, local]) => local === end)?.[9];
  for (let tries = 0; tries < 100; tries++) {
    const found = processes.find(({ child }) => openFiles(child.pid).includes(`socket:[${inode}]`));
    if (found) return found;
  }
  throw new Error(`No process of the test has the connection from port ${port}`);
}

/** Returns all rows that a bounce changes. */
const effects = ({ companyId, campaignNo }: World) =>
  queryOne(
    `select (select count(*)::int from sent_emails where campaign_no = $2 and status = 4) as bounced,
       (select count(*)::int from email_events where company_id = $1) as events,
       (select count(*)::int from suppressions where company_id = $1) as suppressed,
       (select count(*)::int from subscribers where company_id = $1 and status = 'bounced') as people,
       (select count(*)::int from inbound_seen where company_id = $1) as marks`,
    [companyId, campaignNo],
  );

test("one of two processes reads; when it is killed the other continues, and every bounce counts once", async () => {
  await until(async () => (await nats.nodes[0]!.clients()).length === 2);
  const boxes = new BounceBoxes(dovecot.imapPort);
  const world = await newWorld(300);
  const notices = world.mails.map(({ email }) => bounceOf(email));
  const user = "bounces@to.example";
  await boxes.put({ user }, notices.slice(0, 250));
  // A process moves 100 at a time. It dies at the second time: these are committed but not moved, and 50 were never
  // read.
  let moves = 0;
  let reader: ServiceProcess | undefined;
  const between = await boxes.proxy((text) => {
    if (!/ MOVE /.test(text) || ++moves !== 2) return false;
    process.kill(reader!.child.pid, "SIGKILL");
    return true;
  });
  const open = new Set<Socket>();
  const readers: ServiceProcess[] = [];
  let mostAtOnce = 0;
  between.server.on("connection", (socket) => {
    open.add(socket.once("close", () => open.delete(socket)));
    mostAtOnce = Math.max(mostAtOnce, open.size);
    reader = processAt(socket.remotePort!);
    readers.push(reader);
  });
  try {
    const box = await boxes.add(world, { username: user, port: between.port });
    await until(() => readers.length > 0);
    const [first] = readers;
    const [other] = processes.filter((each) => each !== first);
    expect(await first!.child.ended).toBe("SIGKILL");
    expect(await inbound(world)).toHaveLength(200);
    expect(await boxes.countIn(box, "INBOX")).toBe(150);
    await boxes.put(box, notices.slice(250));
    await until(async () => (await boxes.countIn(box, "INBOX")) === 0);

    expect(readers.at(-1)).toBe(other);
    expect(mostAtOnce).toBe(1);
    expect(await boxes.countIn(box, "Processed")).toBe(300);
    expect(await inbound(world)).toEqual(expected(world));
    expect(await effects(world)).toEqual({ bounced: 300, events: 300, suppressed: 300, people: 300, marks: 300 });
    expect(await query("select sent_count, failed_count from campaigns where id = $1", [world.campaignId])).toEqual([
      { sent_count: 300, failed_count: 0 },
    ]);
  } finally {
    between.cut();
    between.server.close();
  }
});
