/**
 * Measures the whole delivery path at full speed.
 *
 *     node test/bench delivery [recipients=50000] [connections=20] [rounds=1] [kinds=plain]
 *
 * One service process with an embedded PostgreSQL sends the 10 KB newsletter with full tracking to a list, from the
 * POST to `completed`, into Debian's smtp-sink. In the same run, smtp-source sends as many bytes over as many
 * connections into the same sink. Prints rates, CPU per mail (the service's by thread), the ratio to smtp-source, and
 * the service's peak memory. `kinds` alternate within each round: plain,ed25519,rsa,both (signed),cyrillic,cjk.
 * DATA_DIR may name a folder with an existing database, which is kept.
 */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { startSmtpSink } from "../support/servers.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { type Api, type Ids, type Kind, newAccount, prepare, send, wireBytes } from "./campaign.ts";
import { cpuUs, postmasterOf, type ThreadsUs, threadsUs, untilQuiet } from "./cpu.ts";
import { forgetPeak, peakMegabytes, serviceProcess } from "./resources.ts";
import { smtpSource } from "./smtp-source.ts";

const [recipients = 50_000, connections = 20, rounds = 1] = process.argv.slice(2, 5).map(Number);
const wanted = (process.argv[5] ?? "plain").split(",");

/** Enough to measure its CPU, however large the campaign is. */
const MAX_SOURCE_MAILS = 100_000;
const RSA_BITS = 2_048;

const dkim = (key: { export(options: { type: "pkcs8"; format: "pem" }): string | Buffer }, selector = "bench") => ({
  domain: "example.com",
  selector,
  private_key: String(key.export({ type: "pkcs8", format: "pem" })),
});

const KINDS: Record<string, () => Kind> = {
  plain: () => ({}),
  ed25519: () => ({ dkim: dkim(generateKeyPairSync("ed25519").privateKey) }),
  rsa: () => ({ dkim: dkim(generateKeyPairSync("rsa", { modulusLength: RSA_BITS }).privateKey) }),
  both: () => ({
    dkim: [
      dkim(generateKeyPairSync("rsa", { modulusLength: RSA_BITS }).privateKey, "rsa"),
      dkim(generateKeyPairSync("ed25519").privateKey, "ed25519"),
    ],
  }),
  cyrillic: () => ({ language: "ru" }),
  cjk: () => ({ language: "ja" }),
};

interface Prepared {
  name: string;
  ids: Ids;
  bytes: number;
}

async function prepared(api: Api, sink: URL, name: string): Promise<Prepared> {
  const kindOf = KINDS[name];
  if (!kindOf) throw new Error(`${name} is not one of ${Object.keys(KINDS).join(", ")}`);
  const kind = kindOf();
  const bytes = await wireBytes(api, kind);
  return { name, ids: await prepare(api, sink, recipients, connections, kind), bytes };
}

interface Measured {
  threads: ThreadsUs;
  postgres: number;
}

const perMail = (us: number) => us / recipients;
const total = ({ main, v8, pool }: ThreadsUs) => main + v8 + pool;

const kept = process.env.DATA_DIR;
const data = kept ? { path: kept, remove: () => {} } : dataFolder();
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
  const pid = serviceProcess(service.child.pid);
  const postmaster = postmasterOf(join(data.path, "postgres"));
  const used = (): Measured => ({ threads: threadsUs(pid), postgres: cpuUs(postmaster) });

  const measure = async ({ name, ids, bytes }: Prepared) => {
    await untilQuiet(postmaster);
    const source = await smtpSource(address, Math.min(recipients, MAX_SOURCE_MAILS), connections, bytes);
    forgetPeak(pid);
    const idle = peakMegabytes(pid);
    const before = used();
    const { ms, answerMs } = await send(api, ids);
    const after = used();
    const of = (thread: keyof ThreadsUs) => perMail(after.threads[thread] - before.threads[thread]).toFixed(0);
    const serviceUs = perMail(total(after.threads) - total(before.threads));
    const postgresUs = perMail(after.postgres - before.postgres);
    const perSecond = (recipients / ms) * 1_000;
    console.log(
      `${name}: ${recipients} recipients, ${connections} connections, ${bytes} bytes: ${Math.round(perSecond)} mails/s; ` +
        `smtp-source ${Math.round(source.perSecond)}/s; ratio ${(perSecond / source.perSecond).toFixed(2)}; ` +
        `POST ${Math.round(answerMs)} ms; CPU per mail: service ${serviceUs.toFixed(0)} µs ` +
        `(event loop ${of("main")}, V8's threads ${of("v8")}, thread pool ${of("pool")}), ` +
        `Postgres ${postgresUs.toFixed(0)} µs, smtp-source ${source.cpuUsPerMail.toFixed(0)} µs: ` +
        `${((serviceUs + postgresUs) / source.cpuUsPerMail).toFixed(1)} times; ` +
        `memory ${idle} MB before, at most ${peakMegabytes(pid)} MB`,
    );
    return serviceUs + postgresUs;
  };

  const kinds: Prepared[] = [];
  for (const name of wanted) kinds.push(await prepared(api, address, name));
  for (let round = 1; round <= rounds; round++) {
    let first: number | undefined;
    for (const kind of kinds) {
      const us = await measure(kind);
      if (first !== undefined) console.log(`  ${kind.name}: ${(us / first).toFixed(2)} times ${kinds[0]!.name}`);
      first ??= us;
    }
  }
} finally {
  await service.child.stop();
  await sink.stop();
  data.remove();
}
