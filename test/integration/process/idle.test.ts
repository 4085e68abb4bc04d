/** What an idle process does without: it is loaded, begun or connected at its first use. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createDatabase } from "../../support/database.ts";

const SOURCE = join(import.meta.dirname, "../../support/idle-node.js");

interface IdleReport {
  packages: string[];
  /** Modules of Node itself. */
  builtins: string[];
  /** Of the kinds that Node knows: timers, sockets, message ports … */
  resources: string[];
}

/** On a machine that does much else a process takes minutes of the clock for its two seconds of CPU. */
const START_TIMEOUT_MS = 240_000;
/**
 * Of worker threads, IMAP, MJML, password guessing, reports of domains, webhooks, the operators' REPL and the reference's page; of
 * clusters, SMTP sessions, bodies, logins and codes by time.
 */
const AT_FIRST_USE = [
  ...["piscina", "imapflow", "mailparser", "mrml", "juice", "@zxcvbn-ts/core", "@zxcvbn-ts/language-common"],
  ...["tldts", "smtp-server", "undici", "moleculer-repl", "swagger-ui-dist"],
  ...["nats", "ioredis", "nodemailer", "html-to-text", "htmlparser2", "jsonwebtoken", "otplib"],
];
/** Node builds WebSockets and fetch on it (services/lib/node-http.ts). */
const OF_NODE = /undici/;

test(
  "a process with all services and nothing to do has no worker threads, and has loaded nothing that few ever use",
  async () => {
    const database = await createDatabase();
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      SECRET_KEY: "test-secret-test-secret-test-secret",
      HOST: "127.0.0.1",
      PORT: "0",
      HEALTH_PORT: "0",
      LOGLEVEL: "error",
      // Traces are on, and nobody has made one yet.
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      OTEL_TRACES_SAMPLER_ARG: "1",
    };
    const child = fork(SOURCE, [], { env });
    try {
      const [report] = (await once(child, "message")) as [IdleReport];
      // Of both kinds of modules, so that the list is known to be whole.
      expect(report.packages).toEqual(expect.arrayContaining(["sequelize", "@sinclair/typebox", "lru-cache"]));
      expect(report.packages.filter((name) => AT_FIRST_USE.includes(name))).toEqual([]);
      expect(report.builtins).toContain("NativeModule http");
      expect(report.builtins.filter((name) => OF_NODE.test(name))).toEqual([]);
      expect(report.resources.filter((kind) => /MessagePort|Worker/.test(kind))).toEqual([]);
      child.send("stop");
      expect((await once(child, "exit"))[0]).toBe(0);
    } finally {
      child.kill("SIGKILL");
      await database.drop();
    }
  },
  START_TIMEOUT_MS,
);
