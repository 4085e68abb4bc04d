import { binary } from "../../../models/database/binary-arrays.ts";
import { queryOne } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";

let app: App;
beforeAll(async () => {
  app = await startApp({ services: [] });
});
afterAll(() => app.stop());

const ID = newId();
const CASES: [type: keyof typeof binary, values: (string | number | boolean | null)[]][] = [
  ["int2", [0, 1, -1, 32_767, -32_768, null]],
  ["int4", [0, 1, -1, 2_147_483_647, -2_147_483_648, null]],
  ["float8", [0, -1.5, 1_732_370_000_123, Number.MAX_SAFE_INTEGER, null]],
  ["bool", [true, false, null]],
  ["uuid", [ID, "ffffffff-ffff-ffff-ffff-ffffffffffff", null]],
  ["text", ["", "null", "NULL", '"', "\\", "{a,b}", "Zoë, Liège", "🐦", "x".repeat(5_000), null]],
];

test.each(CASES)("an array of %s arrives as PostgreSQL has it: %j", async (type, values) => {
  const pack = binary[type] as (values: unknown[]) => Buffer;
  for (const given of [values, values.filter((value) => value !== null), values.slice(0, 1), [null], []]) {
    const row = await queryOne<{ got: unknown[]; n: number }>(`select $1::${type}[] as got, cardinality($1) as n`, [
      pack(given),
    ]);
    expect(row).toEqual({ got: given, n: given.length });
  }
});

test("so do numbers of transactions, also those above 2^31", async () => {
  const row = await queryOne<{ got: string[] }>("select $1::xid[]::text[] as got", [
    binary.xid([3, 2_147_483_648, 4_294_967_295]),
  ]);
  expect(row!.got).toEqual(["3", "2147483648", "4294967295"]);
});
