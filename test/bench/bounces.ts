/**
 * Measures bounces per second that one node accepts by SMTP and stores durably (fsync on). Each bounce has 5 KB and is
 * about another mail; 20 connections.
 *
 *     node test/bench bounces [bounces]
 *
 * Prints CPU of the service and PostgreSQL per bounce, and the service's memory. Load and service are separate
 * processes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { bounceMessage } from "../support/bounce-message.ts";
import { SmtpDialogue } from "../support/smtp-dialogue.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";
import { residentMegabytes } from "./resources.ts";

const BOUNCES = Number(process.argv[2] ?? 5_000);
const CONNECTIONS = 20;
const ADDRESS = "bounces@b.example";

interface Serving {
  port: number;
  mails: { to: string; email: string }[];
}

/** The process under load. */
async function serve(): Promise<void> {
  const { ServiceBroker } = await import("moleculer");
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const { query } = await import("../../models/database/db.ts");
  const { newId } = await import("../../services/lib/ids.ts");
  const { bounceTokens, mailsOf } = await import("../../models/statements/mail-key.ts");
  const { tokenAddress } = await import("../../services/lib/tokens/bounce-token.ts");
  const { newWorld } = await import("../integration/tracking/world.ts");
  const broker = new ServiceBroker(brokerOptions(config()));
  broker.createService((await import("../../services/bounces/bounces.service.ts")).default);
  await broker.start();
  const { mails, companyId } = await newWorld(BOUNCES);
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, sender_email, bounce_address)
     values ($1, $2, 'S', 'localhost', 25, 'news@acme.example', $3)`,
    [newId(), companyId, ADDRESS],
  );
  const codec = await bounceTokens();
  const numbers = new Map((await mailsOf(mails.map(({ id }) => id))).map((mail) => [mail.id, mail]));
  const { listener } = broker.getLocalService("bounces") as unknown as { listener: { port: number } };
  process.send!({
    port: listener.port,
    mails: mails.map(({ id, email }) => ({ to: tokenAddress(ADDRESS, codec.of(numbers.get(id)!)), email })),
  } satisfies Serving);
  await once(process, "message");
  await broker.stop();
  process.exit(0);
}

async function load(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bounces-"));
  const database = await startEmbeddedPostgres(folder);
  const service = fork(fileURLToPath(import.meta.url), [String(BOUNCES)], {
    env: {
      ...process.env,
      SERVE: "1",
      DATABASE_URL: database.url,
      SECRET_KEY: "bench-secret-bench-secret",
      HOST: "127.0.0.1",
      INBOUND_PORT: "0",
      HEALTH_PORT: "0",
      LOGLEVEL: "fatal",
    },
  });
  try {
    await run(service, postmasterOf(join(folder, "postgres")));
  } finally {
    service.kill();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(service: ChildProcess, postmaster: number): Promise<void> {
  const [{ port, mails }] = (await once(service, "message")) as [Serving];
  const messages = mails.map(({ email }) => bounceMessage({ recipient: email, bytes: 5_000 }));
  const before = [cpuUs(service.pid!), cpuUs(postmaster)];
  const began = performance.now();
  let next = 0;
  const resident: number[] = [];
  const talk = async () => {
    const dialogue = await SmtpDialogue.greeted(port);
    for (let n = next++; n < mails.length; n = next++) {
      if (n > 0 && n % Math.ceil(mails.length / 4) === 0) resident.push(residentMegabytes(service.pid!));
      const reply = await dialogue.send([mails[n]!.to], messages[n]!);
      if (!reply.startsWith("250")) throw new Error(reply);
    }
    dialogue.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, talk));
  const seconds = (performance.now() - began) / 1_000;
  const [node, postgres] = [cpuUs(service.pid!) - before[0]!, cpuUs(postmaster) - before[1]!];
  console.log(`${Math.round(BOUNCES / seconds)} bounces/s`);
  console.log(
    `CPU of a bounce: service ${Math.round(node / BOUNCES)} µs, PostgreSQL ${Math.round(postgres / BOUNCES)} µs`,
  );
  console.log(`${Math.round(1e6 / ((node + postgres) / BOUNCES))} bounces a second and core, PostgreSQL included`);
  resident.push(residentMegabytes(service.pid!));
  console.log(`resident after each quarter: ${resident.map((mb) => Math.round(mb)).join(", ")} MB`);
  const ended = once(service, "exit");
  service.send("stop");
  await ended;
}

await (process.env.SERVE ? serve() : load());
