/** Streams between processes: files larger than a NATS message in both directions, and a long export. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { client, fileForm } from "../../support/client.ts";
import { type Cluster, layoutTogether, startCluster } from "../../support/cluster.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type Server, startNats, startRedis } from "../../support/servers.ts";

const API = "/api/emails";
const SMTP_CONFIG = "01a00000-0000-7000-8000-000000000005";

describe("a gateway in a separate process", () => {
  let servers: Server[];
  let database: TestDatabase;
  let db: pg.Client;
  let cluster: Cluster;
  beforeAll(async () => {
    const [nats, redis] = await Promise.all([startNats(), startRedis()]);
    servers = [nats, redis];
    database = await createDatabase();
    db = new pg.Client({ connectionString: database.url });
    await db.connect();
    const backends = { natsUrl: nats.url, redisUrl: redis.url, databaseUrl: database.url };
    cluster = await startCluster({ ...backends, senders: 1, layout: layoutTogether });
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await db?.end();
    await Promise.all(servers.map((server) => server.stop()));
    await database?.drop();
  });

  test("transfers a file of 3 MB and the results of 30,000 recipients completely", async () => {
    const credentials = { email: "owner@example.com", password: "correct horse battery" };
    const registered = await client(cluster).post("/api/auth/register/", { ...credentials, company_name: "Acme" });
    const { company, access: token } = registered.body;
    const { key } = (await client(cluster, { token }).post(`/api/companies/${company.id}/api-keys/`, { name: "k" }))
      .body;
    const api = client(cluster, { key });

    const content = new Uint8Array(randomBytes(3_000_000));
    const { body: media } = await api.post(`${API}/media/`, fileForm(content, "data.bin"));
    expect(media).toMatchObject({ size: 3_000_000, content_type: "application/octet-stream" });
    const { bytes } = await client(cluster).get(media.url);
    expect(bytes.equals(Buffer.from(content))).toBe(true);

    const template = (await api.post(`${API}/templates/`, { name: "T", subject: "S", body: "B" })).body.id;
    const list = (await api.post(`${API}/lists/`, { name: "L" })).body.id;
    await db.query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email) values ($1, $2, 'S', '127.0.0.1', 9, 'a@b.example')`,
      [SMTP_CONFIG, company.id],
    );
    await db.query(
      `with added as (
         insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, 30000) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
      [company.id, list],
    );
    const sent = await api.post(`${API}/send/to-list/`, {
      name: "N",
      template_id: template,
      smtp_config_id: SMTP_CONFIG,
      list_id: list,
    });
    expect(sent).toMatchObject({ status: 201, body: { total_emails: 30_000 } });
    const expanded = async () =>
      (await db.query("select expanded_at from campaigns where id = $1", [sent.body.id])).rows[0].expanded_at !== null;
    while (!(await expanded())) await new Promise((done) => setTimeout(done, 50));
    const csv = (await api.get(`${API}/campaigns/${sent.body.id}/export/`)).text.trimEnd().split("\r\n");
    expect(csv).toHaveLength(30_001);
    expect(new Set(csv).size).toBe(30_001);
  });
});
