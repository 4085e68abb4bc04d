/** kill -9 in the middle of a storm of bounces: what was answered with 250 is there, and nothing counts twice. */
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne } from "../../../models/database/db.ts";
import { bounceTokens, mailsOf } from "../../../models/statements/mail-key.ts";
import { newId } from "../../../services/lib/ids.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { tokenAddress } from "../../../services/lib/tokens/bounce-token.ts";
import { bounceMessage } from "../../support/bounce-message.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ServiceProcess, startService } from "../../support/service-process.ts";
import { SmtpDialogue } from "../../support/smtp-dialogue.ts";
import { newWorld, type World } from "../tracking/world.ts";

const SECRET_KEY = "test-secret-test-secret-test-secret";
const MAILS = 400;
const CONNECTIONS = 8;
const KILL_AFTER = 120;
const ADDRESS = "bounces@b.example";

describe("kill -9 of the node that listens", () => {
  let database: TestDatabase;
  let port: number;
  let world: World;
  const nodes: ServiceProcess[] = [];

  beforeAll(async () => {
    process.env.SECRET_KEY = SECRET_KEY;
    database = await createDatabase();
    openDatabase(database.url, 4);
    port = await unusedPort();
    world = await newWorld(MAILS);
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email, bounce_address)
       values ($1, $2, 'S', 'localhost', 25, 'news@acme.example', $3)`,
      [newId(), world.companyId, ADDRESS],
    );
  });
  afterAll(async () => {
    await Promise.all(nodes.map(({ child }) => child.stop()));
    await closeDatabase();
    await database.drop();
  });

  const start = async () => {
    const env = {
      DATABASE_URL: database.url,
      SECRET_KEY,
      HOST: "127.0.0.1",
      INBOUND_PORT: String(port),
      LOGLEVEL: "error",
    };
    const node = await startService({ services: ["bounces"], env });
    nodes.push(node);
    return node;
  };

  test("every message that got its 250 has its effect, and one that comes again has none", async () => {
    const { child } = await start();
    const codec = await bounceTokens();
    const numbers = new Map((await mailsOf(world.mails.map(({ id }) => id))).map((mail) => [mail.id, mail]));
    const waiting = world.mails.map(({ id, email }) => ({
      id,
      to: tokenAddress(ADDRESS, codec.of(numbers.get(id)!)),
      message: bounceMessage({ recipient: email, bytes: 5_000 }),
    }));
    const answered = new Set<string>();

    /** One mail server: it keeps a message until it is answered with 250, and comes again when the connection ends. */
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
    const storm = Promise.all(Array.from({ length: CONNECTIONS }, mailServer));
    while (answered.size < KILL_AFTER) await sleep(1);
    child.signal("SIGKILL");
    await child.ended;
    const bounced = async () => {
      const rows = await query<{ id: string }>("select id from sent_emails where company_id = $1 and status = 4", [
        world.companyId,
      ]);
      return new Set(rows.map(({ id }) => id));
    };
    const before = await bounced();
    expect([...answered].filter((id) => !before.has(id))).toEqual([]);
    expect(before.size).toBeLessThan(MAILS);

    await start();
    await storm;
    expect(answered.size).toBe(MAILS);
    expect((await bounced()).size).toBe(MAILS);
    const counted = await queryOne<Record<string, number>>(
      `select (select count(*) from email_events where company_id = $1) as events,
         (select count(*) from suppressions where company_id = $1) as suppressed,
         (select coalesce(sum(n), 0) from campaign_counts where company_id = $1 and metric = 'bounced_hard')::int as counted`,
      [world.companyId],
    );
    expect(counted).toEqual({ events: MAILS, suppressed: MAILS, counted: MAILS });
  });
});
