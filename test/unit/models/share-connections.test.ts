import { halfOf, shareConnections, thirdOf } from "../../../models/database/shares.ts";
import { readConfig } from "../../../services/lib/config.ts";

const SHARES = Array.from({ length: 498 }, (_, i) => [i + 3, shareConnections(i + 3)] as const);

test("a process never opens more connections than DATABASE_POOL, and every use has one", () => {
  for (const [total, { sql, bulk, prepared, models }] of SHARES) {
    expect([total, sql + bulk + prepared + models]).toEqual([total, total]);
    expect(Math.min(sql, prepared, models)).toBeGreaterThanOrEqual(1);
  }
});

test("sending has the largest share, and Sequelize the same few in a large pool", () => {
  for (const [total, { sql, prepared, models }] of SHARES.filter(([total]) => total >= 10)) {
    expect([total, sql >= prepared + models]).toEqual([total, true]);
    expect(models).toBeLessThanOrEqual(4);
  }
  expect(shareConnections(readConfig({}).DATABASE_POOL)).toEqual({ sql: 8, bulk: 6, prepared: 3, models: 3 });
});

test("the least pool still has a connection for each use", () => {
  expect(shareConnections(3)).toEqual({ sql: 1, bulk: 0, prepared: 1, models: 1 });
});

test("imports and costly reads together leave connections to expansion, and one company leaves some to others", () => {
  for (const [total, { bulk }] of SHARES.filter(([, shares]) => shares.bulk >= 3)) {
    expect([total, 2 * thirdOf(bulk) < bulk]).toEqual([total, true]);
    expect([total, halfOf(bulk) < bulk]).toEqual([total, true]);
  }
  for (const [total, { sql, bulk }] of SHARES) {
    // Besides an import and a costly read there is one for its transactional mail, and a sender keeps two for itself.
    if (bulk > 0) expect([total, bulk >= 4, sql >= 6]).toEqual([total, true, true]);
  }
});

test("the table in the source matches the shares", () => {
  expect([3, 10, 20, 100].map((total) => shareConnections(total))).toEqual([
    { sql: 1, bulk: 0, prepared: 1, models: 1 },
    { sql: 6, bulk: 0, prepared: 2, models: 2 },
    { sql: 8, bulk: 6, prepared: 3, models: 3 },
    { sql: 55, bulk: 38, prepared: 3, models: 4 },
  ]);
});
