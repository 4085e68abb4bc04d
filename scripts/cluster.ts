/** `npm run cluster -- --senders 3`: runs a cluster with its own servers on this machine until Ctrl-C. */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../services/lib/processes/embedded-postgres.ts";
import { startCluster } from "../test/support/cluster.ts";
import { startNats, startRedis } from "../test/support/servers.ts";
import { dataFolder } from "../test/support/service-process.ts";

const { values } = parseArgs({ options: { senders: { type: "string", default: "2" }, data: { type: "string" } } });
const senders = Number(values.senders);
if (!Number.isInteger(senders) || senders < 1) {
  process.stderr.write("Usage: npm run cluster -- --senders 3 [--data FOLDER]\n");
  process.exit(64);
}
const say = (text: string) => process.stdout.write(`${text}\n`);
const endings: (() => unknown)[] = [];

/** Closes in reverse order; a second Ctrl-C does not interrupt it. */
const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
process.on("SIGINT", () => {}).on("SIGTERM", () => {});
try {
  const folder = values.data ? { path: values.data, remove: () => {} } : dataFolder();
  endings.push(folder.remove);
  say("Starting PostgreSQL, Redis and NATS …");
  const postgres = await startEmbeddedPostgres(folder.path, { max_connections: 400 });
  endings.push(postgres.stop);
  const redis = await startRedis();
  endings.push(redis.stop);
  const nats = await startNats();
  endings.push(nats.stop);
  const backends = { databaseUrl: postgres.url, redisUrl: redis.url, natsUrl: nats.url };
  const PORT = process.env.PORT || "3000";
  say("Starting the services, each in its own process …");
  let ready = 0;
  const cluster = await startCluster({
    ...backends,
    senders,
    env: { PORT },
    ready: (name, processes) => say(`  ${name} is ready (${++ready} of ${processes})`),
    died: (name, child, how) => {
      const last = child.output().trim().split("\n").at(-1) || "No output";
      process.stderr.write(
        `\n${name} (pid ${child.pid}) died with ${Number.isInteger(how) ? "code " : ""}${how}: ${last}\n`,
      );
    },
  });
  endings.push(cluster.stop);

  say("");
  for (const [name, { child, healthUrl }] of cluster.processes) {
    say(`  ${name.padEnd(12)} pid ${child.pid}  ${healthUrl}/metrics`);
  }
  const names = ["TRANSPORTER", "REDIS_URL", "DATABASE_URL", "SECRET_KEY"];
  say(`\nThe API is at ${cluster.url}/api/. To attach an operator's console:`);
  say(`  ${names.map((name) => `${name}='${cluster.env[name]}'`).join(" ")} npm run repl`);
  say("\nCtrl-C stops everything.");
  await stopped;
  say("\nStopping …");
} catch (error) {
  process.stderr.write(`The cluster cannot start: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  for (const end of endings.reverse()) await end();
}
process.exit();
