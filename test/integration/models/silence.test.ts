/** A database that stops answering: connections accept what is sent, and nothing is ever returned. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { closeDatabase, openDatabase, query, sequelize, transaction } from "../../../models/database/db.ts";
import { allowLonger } from "../../../models/database/silence.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const SILENT_MS = 300;

let database: TestDatabase;
let isGone = false;
const sockets = new Set<Socket>();

const proxy = createServer((near) => {
  const { hostname, port } = new URL(database.url);
  const far = connect(Number(port), hostname);
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(from);
    from.on("data", (data) => {
      if (!isGone) to.write(data);
    });
    from.on("error", () => {}).on("close", () => to.destroy());
  }
});

beforeAll(async () => {
  database = await createDatabase();
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  openDatabase(url.href, 5, SILENT_MS);
});
beforeEach(() => {
  isGone = false;
});
afterAll(async () => {
  await closeDatabase();
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await database.drop();
});

test.each([
  ["a statement", () => query("select 1 as one")],
  ["a transaction", () => transaction((client) => query("select 1 as one", [], client))],
  ["a model's statement", async () => (await sequelize().query("select 1 as one"))[0]],
])("%s fails soon, and the next one finds the database that replaced it", async (_what, ask) => {
  expect(await ask()).toEqual([{ one: 1 }]);
  isGone = true;
  await expect(ask()).rejects.toThrow();
  isGone = false;
  expect(await ask()).toEqual([{ one: 1 }]);
});

test("a transaction with a longer limit may take longer, and its connection has the usual limit afterwards", async () => {
  const long = `select pg_sleep(${(SILENT_MS / 1_000) * 2})`;
  await transaction(async (client) => {
    await allowLonger(client, 10_000);
    await query(long, [], client);
  });
  await expect(query(long)).rejects.toThrow();
});
