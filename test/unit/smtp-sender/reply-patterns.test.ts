import { ReplyPatterns, splitReply } from "../../../services/smtp-sender/delivery/reply-patterns.ts";
import type { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";

const MARK = "\x1f";

test.each([
  ["2.0.0 Ok: queued as 4Zk3Wd1Xx2z9sd", `2.0.0 Ok: queued as ${MARK}`, "4Zk3Wd1Xx2z9sd"],
  ["OK id=1r5abc-0001Xy-2K", `OK id=${MARK}`, "1r5abc-0001Xy-2K"],
  [
    "2.0.0 OK  1700000000 a1-20020a05620a0abc00b0.45 - gsmtp",
    `2.0.0 OK  ${MARK} ${MARK} - gsmtp`,
    `1700000000${MARK}a1-20020a05620a0abc00b0.45`,
  ],
  ["2.0.0 Ok", "2.0.0 Ok", ""],
  ["2.6.0 Queued mail for delivery", "2.6.0 Queued mail for delivery", ""],
])("what repeats and what differs: %j", (text, pattern, rest) => {
  expect(splitReply(text)).toEqual({ pattern, rest });
});

test("a text with the mark in it, or with little else than an id, is kept whole", () => {
  expect(splitReply(`2.0.0 Ok ${MARK}`)).toBeUndefined();
  expect(splitReply("4Zk3Wd1Xx2z9sd")).toBeUndefined();
});

test("until a pattern is learnt rows have the whole text; a company's patterns are its own, and bounded", async () => {
  const patterns = new ReplyPatterns();
  const asked: string[][] = [];
  const known = Array.from({ length: 200 }, (_, n) => ({ no: n + 1, pattern: `said ${MARK} in ${"x".repeat(n)}` }));
  const run = async (_name: string, _text: string, [, texts]: [string, string[]]) => {
    asked.push(texts);
    return known;
  };
  const connection = { run } as unknown as PinnedConnection;
  expect(patterns.stored("a", "said 4Zk3Wd1 in ")).toEqual({ no: null, text: "said 4Zk3Wd1 in " });
  await patterns.learn(connection);
  expect(asked).toEqual([[`said ${MARK} in `]]);
  expect(patterns.stored("a", "said 4Zk3Wd2 in ")).toEqual({ no: 1, text: "4Zk3Wd2" });
  expect(patterns.stored("a", null)).toEqual({ no: null, text: null });
  // Full: nothing more is asked for.
  expect(patterns.stored("a", "quite another 4Zk3Wd2").no).toBeNull();
  await patterns.learn(connection);
  expect(asked).toHaveLength(1);
  expect(patterns.stored("b", "said 4Zk3Wd2 in ").no).toBeNull();
});
