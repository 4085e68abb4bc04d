import { randomBytes } from "node:crypto";
import { newId } from "../../../services/lib/ids.ts";
import { MailIds } from "../../../services/lib/tokens/mail-id.ts";

const ids = new MailIds(Buffer.alloc(32, 7));
const MAILS = [
  { campaign_no: 0, seq: 1 },
  { campaign_no: 1, seq: 1 },
  { campaign_no: 2_147_483_647, seq: 2_147_483_647 },
  ...Array.from({ length: 2_000 }, (_, n) => ({ campaign_no: 5, seq: n + 1 })),
];

test("an id is a UUID of version 8, unique and constant per message, from which its numbers are decoded", () => {
  const made = ids.of(MAILS);
  for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(made).size).toBe(MAILS.length);
  expect(ids.of([MAILS[1]!])).toEqual([made[1]]);
  expect(made.map((id) => ids.read(id))).toEqual(MAILS);
  expect(ids.read(made[0]!.toUpperCase())).toEqual(MAILS[0]);
  expect(ids.of([])).toEqual([]);
});

test("its 122 free bits look random, and another key yields others", () => {
  const bits = ids.of(MAILS).map((id) =>
    BigInt(`0x${id.replaceAll("-", "")}`)
      .toString(2)
      .padStart(128, "0"),
  );
  const share = (at: number) => bits.filter((text) => text[at] === "1").length / bits.length;
  expect([...Array(128).keys()].filter((at) => share(at) > 0.4 && share(at) < 0.6)).toHaveLength(122);
  const others = new MailIds(randomBytes(32));
  expect(others.read(ids.of(MAILS)[0]!)).toBeNull();
});

test("a stored, invented or changed id is not decoded", () => {
  const [id] = ids.of([{ campaign_no: 3, seq: 9 }]) as [string];
  for (const other of [newId(), "", "no id", id.slice(1)]) expect(ids.read(other)).toBeNull();
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  for (let bit = 0; bit < 128; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const hex = changed.toString("hex");
    const text = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    expect([bit, ids.read(text)]).toEqual([bit, null]);
  }
});

test("many ids are decoded independently, valid or not", () => {
  const made = ids.of(MAILS.slice(0, 3));
  const asked = [
    newId(),
    made[2]!,
    "",
    made[0]!,
    "no id",
    made[1]!.replace(/.$/, (end) => (end === "0" ? "1" : "0")),
    made[2]!,
  ];
  expect(ids.readAll(asked)).toEqual([null, MAILS[2], null, MAILS[0], null, null, MAILS[2]]);
  expect(ids.readAll([])).toEqual([]);
});

test("the Message-ID differs from the id, and only ours are decoded", () => {
  const made = ids.of(MAILS.slice(0, 3));
  const opaque = ids.messageIds(made);
  for (const text of opaque) expect(text).toMatch(/^[\w-]{22}$/);
  expect(opaque.map((text) => ids.readMessageId(text))).toEqual(made);
  for (const other of ["", "A".repeat(22), `${opaque[0]}A`, randomBytes(16).toString("base64url")])
    expect(ids.readMessageId(other)).toBeNull();
});
