/**
 * Kills the listener or PostgreSQL during a storm of bounces: everything answered with 250 is stored, and nothing
 * counts twice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne } from "../../../models/database/db.ts";
import { migrate } from "../../../models/database/migrate.ts";
import { bounceTokens, mailIds, mailsOf } from "../../../models/statements/mail-key.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../services/lib/processes/embedded-postgres.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { tokenAddress } from "../../../services/lib/tokens/bounce-token.ts";
import type { MailNumber } from "../../../services/lib/tokens/mail-id.ts";
import { bounceMessage } from "../../support/bounce-message.ts";
import { dataFolder, type ServiceProcess, startService } from "../../support/service-process.ts";
import { SmtpDialogue } from "../../support/smtp-dialogue.ts";
import { newWorld, type World } from "../tracking/world.ts";

const SECRET_KEY = "test-secret-test-secret-test-secret";
const MAILS = 300;
const CONNECTIONS = 8;
const KILL_AFTER = 100;

describe("kill -9 in a storm", () => {
  const folder = dataFolder();
  let postgres: EmbeddedPostgres;
  let startDatabase: () => Promise<EmbeddedPostgres>;
  let port: number;
  let node: ServiceProcess;

  beforeAll(async () => {
    process.env.SECRET_KEY = SECRET_KEY;
    const databasePort = await unusedPort();
    startDatabase = () => startEmbeddedPostgres(folder.path, { port: databasePort });
    postgres = await startDatabase();
    await migrate(postgres.url);
    openDatabase(postgres.url, 4);
    port = await unusedPort();
    node = await start();
  });
  afterAll(async () => {
    await node?.child.stop();
    await closeDatabase();
    await postgres?.stop();
    folder.remove();
  });

  const start = () => {
    const env = {
      DATABASE_URL: postgres.url,
      SECRET_KEY,
      HOST: "127.0.0.1",
      INBOUND_PORT: String(port),
      LOGLEVEL: "fatal",
    };
    return startService({ services: ["bounces"], env });
  };

  async function killDatabase(): Promise<void> {
    const postmaster = Number(readFileSync(join(folder.path, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ");
    process.kill(postmaster, "SIGKILL");
    for (const pid of children.filter(Boolean)) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // The process ended with its parent.
      }
    }
    await postgres.ended;
  }

  interface Storm {
    world: World;
    /** Ids of messages whose bounce was answered with 250. */
    answered: Set<string>;
    over: Promise<unknown>;
  }

  /** Sends a bounce for each message of a campaign until it is answered with 250. */
  async function storm(): Promise<Storm> {
    const world = await newWorld(MAILS);
    const address = `b${newId().slice(-8)}@b.example`;
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email, bounce_address)
       values ($1, $2, 'S', 'localhost', 25, 'news@acme.example', $3)`,
      [newId(), world.companyId, address],
    );
    const codec = await bounceTokens();
    const numbers = new Map((await mailsOf(world.mails.map(({ id }) => id))).map((mail) => [mail.id, mail]));
    const waiting = world.mails.map(({ id, email }) => ({
      id,
      to: tokenAddress(address, codec.of(numbers.get(id)!)),
      message: bounceMessage({ recipient: email, bytes: 5_000 }),
    }));
    const answered = new Set<string>();
    const mailServer = async () => {
      let next = waiting.shift();
      while (next) {
        const { dialogue, greeting } = await SmtpDialogue.open(port);
        let goesOn = greeting.startsWith("220");
        if (goesOn) await dialogue.say("EHLO mx.example");
        while (next && goesOn) {
          goesOn = (await dialogue.send([next.to], next.message)).startsWith("250");
          if (!goesOn) break;
          answered.add(next.id);
          next = waiting.shift();
        }
        dialogue.close();
        if (next) await sleep(50);
      }
    };
    return { world, answered, over: Promise.all(Array.from({ length: CONNECTIONS }, mailServer)) };
  }

  const bounced = async ({ campaignNo }: World) => {
    const sql = "select campaign_no, seq from sent_emails where campaign_no = $1 and status = 4";
    return new Set((await mailIds()).of(await query<MailNumber>(sql, [campaignNo])));
  };

  async function everythingOnce({ world, answered, over }: Storm): Promise<void> {
    await over;
    expect(answered.size).toBe(MAILS);
    expect((await bounced(world)).size).toBe(MAILS);
    const counted = await queryOne<Record<string, number>>(
      `select (select count(*) from email_events where company_id = $1) as events,
         (select count(*) from suppressions where company_id = $1) as suppressed,
         (select coalesce(sum(n), 0) from campaign_counts where company_id = $1 and metric = 'bounced_hard')::int as counted`,
      [world.companyId],
    );
    expect(counted).toEqual({ events: MAILS, suppressed: MAILS, counted: MAILS });
  }

  const untilMany = async ({ answered }: Storm) => {
    while (answered.size < KILL_AFTER) await sleep(1);
  };

  test("killing the listening node: every message answered with 250 has its effect, and duplicates have none", async () => {
    const now = await storm();
    await untilMany(now);
    node.child.signal("SIGKILL");
    await node.child.ended;
    const there = await bounced(now.world);
    expect([...now.answered].filter((id) => !there.has(id))).toEqual([]);
    expect(there.size).toBeLessThan(MAILS);
    node = await start();
    await everythingOnce(now);
  });

  test("killing PostgreSQL: every message answered with 250 is there after the restart, and the storm continues", async () => {
    const now = await storm();
    await untilMany(now);
    await killDatabase();
    const answered = [...now.answered];
    await closeDatabase();
    postgres = await startDatabase();
    openDatabase(postgres.url, 4);
    const there = await bounced(now.world);
    expect(answered.filter((id) => !there.has(id))).toEqual([]);
    await everythingOnce(now);
    expect(node.child.running()).toBe(true);
  });
});
