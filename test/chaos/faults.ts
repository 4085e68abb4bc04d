/** Causes and heals each kind of fault. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Command } from "../support/smtp-server.ts";
import type { KindName } from "./kinds.ts";
import type { PlannedFault } from "./plan.ts";
import type { Scene } from "./scene.ts";
import type { Breakable } from "./servers.ts";

type Heal = () => Promise<void>;
type Begin = (scene: Scene, target: string) => Promise<Heal> | Heal;

const SLOW_LINK_MS = 300;
const SLOW_MAIL_MS = 3_000;
/** Delay after which swallowed connections notice, like a server's keepalive would. */
const MUTE_FOR_MS = 5_000;

/** Evicts whole keys in arbitrary order, like a server short of memory. */
const EVICT_HALF =
  "local keys = redis.call('keys', 'flockmail:*') for n = 1, #keys do if math.random(2) == 1 then redis.call('del', keys[n]) end end";

const serverOf = (scene: Scene, target: string): Breakable => scene.servers.get(target)!;
const linkOf = (scene: Scene, target: string) => scene.links.get(target)!;
const linksTo = (scene: Scene, server: string) =>
  [...scene.links].filter(([link]) => link.endsWith(`>${server}`)).map(([, proxy]) => proxy);

function link(break_: (proxy: ReturnType<typeof linkOf>) => unknown): Begin {
  return async (scene, target) => {
    const proxy = linkOf(scene, target);
    await break_(proxy);
    return () => proxy.pass();
  };
}

/** Connections that lost bytes stay mute for a while after the network recovers. */
function swallowed(
  proxiesOf: (scene: Scene, target: string) => ReturnType<typeof linkOf>[],
  way: "both" | "toServer" | "toClient" = "both",
): Begin {
  return (scene, target) => {
    const proxies = proxiesOf(scene, target);
    for (const proxy of proxies) proxy.swallow(way);
    return async () => {
      for (const proxy of proxies) await proxy.pass();
      await sleep(MUTE_FOR_MS);
      for (const proxy of proxies) proxy.cut({ onlyMute: true });
    };
  };
}

const mailAnswer =
  (answer: (command: Command, n: number) => Answer): Begin =>
  (scene) => {
    let dots = 0;
    scene.answering.answer = (command) => (command.verb === "DOT" ? answer(command, dots++) : undefined);
    return async () => {
      delete scene.answering.answer;
    };
  };

const BEGIN: Record<KindName, Begin> = {
  async killed(scene, name) {
    await scene.end(name, "SIGKILL");
    return () => scene.revive(name);
  },
  frozen(scene, name) {
    const { child } = scene.cluster.processes.get(name)!;
    child.signal("SIGSTOP");
    return async () => child.signal("SIGCONT");
  },
  async "stopped in order"(scene, name) {
    const ended = scene.end(name, "SIGTERM");
    return async () => {
      await ended;
      await scene.revive(name);
    };
  },
  "link held": link((proxy) => proxy.hold()),
  "link held to server": link((proxy) => proxy.hold("toServer")),
  "link held to client": link((proxy) => proxy.hold("toClient")),
  "link swallowed": swallowed((scene, target) => [linkOf(scene, target)]),
  "link swallowed to server": swallowed((scene, target) => [linkOf(scene, target)], "toServer"),
  "link swallowed to client": swallowed((scene, target) => [linkOf(scene, target)], "toClient"),
  "link reset": link((proxy) => proxy.reset()),
  "link refused": link((proxy) => proxy.refuse()),
  "link slow": link((proxy) => proxy.delay(SLOW_LINK_MS)),
  async "server killed"(scene, target) {
    await serverOf(scene, target).kill();
    return () => serverOf(scene, target).start();
  },
  "server frozen"(scene, target) {
    serverOf(scene, target).freeze();
    return async () => serverOf(scene, target).thaw();
  },
  "server swallowed": swallowed(linksTo),
  async "PostgreSQL fails over"(scene) {
    await scene.postgres.kill();
    return () => scene.failOver();
  },
  async "Redis emptied"(scene) {
    await scene.redis.command("flushall");
    return async () => {};
  },
  async "Redis evicts half"(scene) {
    await scene.redis.command("eval", EVICT_HALF, "0");
    return async () => {};
  },
  async "Redis read-only"(scene) {
    // Makes it a replica of a missing primary: it answers PING and reads.
    await scene.redis.command("replicaof", "127.0.0.1", "1");
    return async () => void (await scene.redis.command("replicaof", "no", "one"));
  },
  "mail server slow": mailAnswer(() => ({ delayMs: SLOW_MAIL_MS })),
  // Every third connection accepts and never answers, every third loses the message.
  "mail server drops connections": mailAnswer((_command, n) =>
    n % 3 === 0 ? { drop: true, accept: n % 2 === 0 } : undefined,
  ),
  "mail server answers 4xx": mailAnswer(() => "451 4.3.0 Try again later"),
  async "mail server refuses connections"(scene) {
    await scene.mail.refuse();
    return () => scene.mail.pass();
  },
  async "webhook receiver away"(scene) {
    await scene.hooks.refuse();
    return () => scene.hooks.pass();
  },
  "webhook receiver silent"(scene) {
    scene.hooks.hold();
    return () => scene.hooks.pass();
  },
};

/**
 * A fault that was applied, with wall-clock times of its start and of full recovery (process ready, connection closed).
 */
export interface AppliedFault extends PlannedFault {
  fromMs: number;
  toMs: number;
}

async function strike(scene: Scene, fault: PlannedFault): Promise<AppliedFault> {
  const fromMs = Date.now();
  const heal = await BEGIN[fault.kind](scene, fault.target);
  await sleep(fault.durationMs);
  await heal();
  return { ...fault, fromMs, toMs: Date.now() };
}

/** Executes the plan. A fault that takes longer than planned delays later ones. */
export async function runFaults(
  scene: Scene,
  plan: readonly PlannedFault[],
  say: (text: string) => void,
): Promise<AppliedFault[]> {
  const beganMs = Date.now();
  let lateMs = 0;
  const applied: Promise<AppliedFault>[] = [];
  for (const [index, fault] of plan.entries()) {
    if (!fault.together) await Promise.all(applied);
    const dueMs = beganMs + fault.atMs + lateMs;
    lateMs += Math.max(0, Date.now() - dueMs);
    await sleep(Math.max(0, dueMs - Date.now()));
    say(
      `${fault.no}. ${fault.kind}: ${fault.target}, ${(fault.durationMs / 1_000).toFixed(1)} s${fault.together ? ", together with the one before" : ""}`,
    );
    applied[index] = strike(scene, fault);
    // The error surfaces where all faults are awaited.
    applied[index].catch(() => {});
  }
  return Promise.all(applied);
}
