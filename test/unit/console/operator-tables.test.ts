import { durationOf, shared, tableOf } from "../../../services/console/pages/operator-tables.ts";

test.each([
  [null, null],
  [0, "0 s"],
  [59, "59 s"],
  [61, "1 min 1 s"],
  [3_600, "1 h 0 min"],
  [86_399, "23 h 59 min"],
  [90_000, "1 d 1 h"],
] as const)("%s seconds are read as %s", (seconds, text) => {
  expect(durationOf(seconds)).toBe(text);
});

test("a table cell is formatted by its content: text, a number, a time, a state", () => {
  const { columns } = tableOf("queues", []);
  expect(columns.map(({ name, kind }) => [name, kind])).toEqual([
    ["queue", "text"],
    ["waiting", "number"],
    ["oldest", "time"],
  ]);
  expect(tableOf("dependencies", []).columns.find(({ name }) => name === "state")?.kind).toBe("state");
});

test("concurrent requests share one query; a failed one is repeated", async () => {
  let asked = 0;
  const ask = async () => ++asked;
  expect(await Promise.all([shared("one", ask), shared("one", ask), shared("other", ask)])).toEqual([1, 1, 2]);
  await expect(shared("failing", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await shared("failing", ask)).toBe(3);
});
