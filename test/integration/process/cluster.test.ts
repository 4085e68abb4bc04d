import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { type Child, startChild } from "../../support/child.ts";
import { node } from "../../support/service-process.ts";

const SCRIPT = join(import.meta.dirname, "../../../scripts/cluster.ts");

/** Resolves with the match in the process's output; rejects if the process ends first. */
async function untilSaid(child: Child, text: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const said = text.exec(child.output());
    if (said) return said;
    if (!child.running()) throw new Error(`It ended before it said ${text}:\n${child.output()}`);
    await sleep(50);
  }
}

test("the cluster script reports each process as it becomes ready, and names one that died", async () => {
  const child = startChild(node, [SCRIPT, "--senders", "1"], { env: { PORT: `${await unusedPort()}` } });
  try {
    await untilSaid(child, /Ctrl-C stops everything/);
    expect(child.output()).toContain("Starting PostgreSQL, Redis and NATS");
    for (const name of ["gateway", "campaigns", "sender-1"]) {
      expect(child.output()).toMatch(new RegExp(`^ {2}${name} is ready \\(\\d of 9\\)$`, "m"));
    }
    const [, pid] = await untilSaid(child, /^ {2}sender-1 +pid (\d+)/m);
    process.kill(Number(pid), "SIGKILL");
    await untilSaid(child, new RegExp(`^sender-1 \\(pid ${pid}\\) died with SIGKILL`, "m"));
    child.signal("SIGTERM");
    expect(await child.ended).toBe(0);
  } finally {
    await child.stop();
  }
}, 180_000);
