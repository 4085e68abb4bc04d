import fc from "fast-check";
import { NotSmtp, type Reply, ReplyReader } from "../../../services/smtp-sender/smtp/replies.ts";

function read(...chunks: string[]): Reply[] {
  const reader = new ReplyReader();
  const replies: Reply[] = [];
  for (const chunk of chunks) reader.push(chunk, (reply) => replies.push(reply));
  return replies;
}

test("reads one-line and multi-line replies with their enhanced codes", () => {
  expect(read("250 2.1.0 Ok\r\n550-5.1.1 No\r\n550 5.1.1 such user\r\n354\r\n")).toEqual([
    { code: 250, enhanced: "2.1.0", text: "250 2.1.0 Ok" },
    { code: 550, enhanced: "5.1.1", text: "550 5.1.1 No 5.1.1 such user" },
    { code: 354, enhanced: "", text: "354" },
  ]);
});

test("a code at the end, as qmail writes it, is an enhanced code", () => {
  const [reply] = read("553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)\r\n");
  expect(reply!.enhanced).toBe("5.7.1");
});

test("any cut of the bytes gives the same replies", () => {
  const text = "250-a\r\n250-b\r\n250 c\r\n354 go\r\n451 4.3.0 later\n250 2.0.0 ok\r\n";
  const whole = read(text);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 20 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      expect(read(...at.slice(1).map((end, i) => text.slice(at[i], end)))).toEqual(whole);
    }),
  );
});

test("a line that was a whole reply before is also read as a part of one", () => {
  const [alone] = read("250 same\r\n");
  expect(read("250-first\r\n250 same\r\n250 same\r\n").map(({ text }) => text)).toEqual([
    "250 first same",
    alone!.text,
  ]);
  expect(() => read("550-first\r\n250 same\r\n")).toThrow(NotSmtp);
});

test.each(["hello\r\n", "250-a\r\n550 b\r\n", "25\r\n", "2500 x\r\n", "199 x\r\n", "\r\n"])(
  "%j is not a reply",
  (text) => {
    expect(() => read(text)).toThrow(NotSmtp);
  },
);

test("a line or a reply without end is not waited for", () => {
  expect(() => read("250 ".padEnd(5_000, "x"))).toThrow(NotSmtp);
  expect(() => read("250-x\r\n".repeat(20_000))).toThrow(NotSmtp);
});
