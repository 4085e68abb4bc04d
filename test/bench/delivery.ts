/**
 * The whole path at full speed: `node test/bench delivery [recipients=50000] [connections=20] [rounds=1]`.
 *
 * A service process of its own with an embedded PostgreSQL; the 10 KB newsletter with full tracking to a list, from the
 * POST to `completed`, into Debian's smtp-sink; beside it, in the same run, smtp-source into the same sink with the size
 * on the wire and as many connections. Prints rates, the ratio, CPU per mail, and the peak memory of the service.
 */
import { join } from "node:path";
import { startSmtpSink } from "../support/servers.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { newAccount, prepare, send } from "./campaign.ts";
import { cpuUs, ownCpuUs, postmasterOf } from "./cpu.ts";
import { forgetPeak, peakMegabytes, serviceProcess } from "./resources.ts";
import { sourceRate } from "./smtp-source.ts";

const [recipients = 50_000, connections = 20, rounds = 1] = process.argv.slice(2).map(Number);

const data = dataFolder();
const sink = await startSmtpSink();
const service = await startService({
  env: {
    DATA_DIR: data.path,
    LOGLEVEL: "warn",
    ...(process.env.BENCH_NODE_OPTIONS ? { NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS } : {}),
  },
});
try {
  await service.ready();
  const api = await newAccount(service.url);
  const address = new URL(sink.url);
  const ids = await prepare(api, address, recipients, connections);
  const pid = serviceProcess(service.child.pid);
  const postmaster = postmasterOf(join(data.path, "postgres"));
  for (let round = 1; round <= rounds; round++) {
    const sourcePerSecond = await sourceRate(address, recipients, connections);
    forgetPeak(pid);
    const idle = peakMegabytes(pid);
    const before = { node: ownCpuUs(pid), postgres: cpuUs(postmaster) };
    const { ms, answerMs } = await send(api, ids);
    const perSecond = (recipients / ms) * 1_000;
    const perMail = (us: number) => Math.round(us / recipients);
    console.log(
      `${recipients} recipients, ${connections} connections: ${Math.round(perSecond)} mails/s; ` +
        `smtp-source ${Math.round(sourcePerSecond)}/s; ratio ${(perSecond / sourcePerSecond).toFixed(2)}; ` +
        `POST ${Math.round(answerMs)} ms; CPU per mail: service ${perMail(ownCpuUs(pid) - before.node)} µs, ` +
        `Postgres ${perMail(cpuUs(postmaster) - before.postgres)} µs; ` +
        `memory ${idle} MB before, at most ${peakMegabytes(pid)} MB`,
    );
  }
} finally {
  await service.child.stop();
  await sink.stop();
  data.remove();
}
