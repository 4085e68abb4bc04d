import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal } from "../../../services/lib/secrets.ts";
import { newSecret } from "../../../services/webhooks/signature.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ServiceProcess, startService } from "../../support/service-process.ts";

const SECRET_KEY = "test-secret-test-secret-test-secret";
const EVENTS = 300;
/** Maximum concurrent deliveries of one node to one endpoint. */
const MAX_IN_FLIGHT = 16;

describe("killing the node that delivers", () => {
  let database: TestDatabase;
  const nodes: ServiceProcess[] = [];
  const got: string[] = [];
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      got.push(request.headers["webhook-id"] as string);
      setTimeout(() => response.end(), 20);
    });
  });

  beforeAll(async () => {
    process.env.SECRET_KEY = SECRET_KEY;
    database = await createDatabase();
    openDatabase(database.url, 4);
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await Promise.all(nodes.map(({ child }) => child.stop()));
    receiver.closeAllConnections();
    receiver.close();
    await closeDatabase();
    await database.drop();
  });

  const start = async () => {
    const env = { DATABASE_URL: database.url, SECRET_KEY, ALLOW_PRIVATE_NETWORKS: "true", LOGLEVEL: "error" };
    const node = await startService({ services: ["webhooks"], env });
    nodes.push(node);
    return node;
  };
  const until = async (done: () => boolean | Promise<boolean>) => {
    for (let i = 0; !(await done()); i++) {
      if (i === 1_000) throw new Error(`It did not happen: ${nodes.at(-1)?.child.output()}`);
      await sleep(20);
    }
  };

  test("loses no event; deliveries in flight are repeated with the same id", async () => {
    const [companyId, endpointId] = [newId(), newId()];
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [companyId]);
    await query(
      "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values ($1, $2, $3, '{opened}', $4)",
      [endpointId, companyId, url, seal(newSecret(), endpointId)],
    );
    const ids = Array.from({ length: EVENTS }, newId);
    await query(
      `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload)
       select $1, $2, id, 'opened', '{}' from unnest($3::uuid[]) id`,
      [companyId, endpointId, ids],
    );

    const { child } = await start();
    await until(() => got.length >= 50);
    child.signal("SIGKILL");
    await child.ended;
    // The dead node's leases expire.
    await query("update webhook_deliveries set next_attempt_at = now() where status = 'pending'");
    await start();
    const open = "select from webhook_deliveries where status <> 'succeeded' limit 1";
    await until(async () => !(await queryOne(open)));

    expect(new Set(got)).toEqual(new Set(ids));
    expect(got.length - EVENTS).toBeLessThanOrEqual(MAX_IN_FLIGHT);
  });
});
