import { shareConnections } from "../../../models/database/db.ts";
import { readConfig } from "../../../services/lib/config.ts";

const SHARES = Array.from({ length: 498 }, (_, i) => [i + 3, shareConnections(i + 3)] as const);

test("a process never opens more connections than DATABASE_POOL, and leaves no use without one", () => {
  for (const [total, { sql, prepared, models }] of SHARES) {
    expect([total, sql + prepared + models]).toEqual([total, total]);
    expect(Math.min(sql, prepared, models)).toBeGreaterThanOrEqual(1);
  }
});

test("what sends mail has the most, and Sequelize the same few in a large pool", () => {
  for (const [total, { sql, prepared, models }] of SHARES.filter(([total]) => total >= 10)) {
    expect([total, sql >= prepared + models]).toEqual([total, true]);
    expect(models).toBeLessThanOrEqual(4);
  }
  expect(shareConnections(readConfig({}).DATABASE_POOL)).toEqual({ sql: 14, prepared: 3, models: 3 });
});

test("the least pool still has a connection for each use", () => {
  expect(shareConnections(3)).toEqual({ sql: 1, prepared: 1, models: 1 });
});
