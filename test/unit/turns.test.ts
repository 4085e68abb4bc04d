import { type Owner, Turns } from "../../services/lib/turns.ts";

const turnsOf = (inAll: number, perOwner: number) =>
  new Turns({ inAll, perOwner, refusal: (ofOwner) => new Error(ofOwner ? "its share" : "all taken") });

/** More than any wait here lasts. */
const LONG_MS = 60_000;
const settled = () => new Promise(setImmediate);

test("owners that wait are served in rotation, whoever asked how often", async () => {
  const turns = turnsOf(1, 1);
  const order: Owner[] = [];
  const first = await turns.take("noisy", LONG_MS);
  const asked = ["noisy", "noisy", "noisy", "quiet", undefined, "quiet"];
  const all = asked.map((owner) =>
    turns.take(owner, LONG_MS).then((release) => {
      order.push(owner);
      release();
    }),
  );
  first();
  await Promise.all(all);
  expect(order).toEqual(["noisy", "quiet", undefined, "noisy", "quiet", "noisy"]);
});

test("an owner has its share at most, the service itself what there is", async () => {
  const turns = turnsOf(4, 2);
  const noisy = [turns.tryTake("a"), turns.tryTake("a")];
  expect(turns.tryTake("a")).toBeUndefined();
  const own = [turns.tryTake(undefined), turns.tryTake(undefined)];
  expect([...noisy, ...own].every(Boolean)).toBe(true);
  expect(turns.tryTake("b")).toBeUndefined();
  own[0]!();
  expect(turns.tryTake("a")).toBeUndefined();
  expect(turns.tryTake("b")).toBeDefined();
});

test("an owner is served while it has a turn or waits for one", async () => {
  const turns = turnsOf(1, 1);
  const first = await turns.take("a", LONG_MS);
  const second = turns.take("b", LONG_MS);
  expect(["a", "b", "c"].map((owner) => turns.serves(owner))).toEqual([true, true, false]);
  first();
  (await second)();
  expect(["a", "b"].map((owner) => turns.serves(owner))).toEqual([false, false]);
});

test("who has waited too long fails with the reason, and takes no turn from others later", async () => {
  const turns = turnsOf(2, 1);
  const a = (await turns.take("a", LONG_MS))!;
  await expect(turns.take("a", 1)).rejects.toThrow("its share");
  const b = (await turns.take("b", LONG_MS))!;
  await expect(turns.take("c", 1)).rejects.toThrow("all taken");
  a();
  b();
  expect([turns.tryTake("d"), turns.tryTake("e")].every(Boolean)).toBe(true);
});

test("a turn given back twice is one turn", async () => {
  const turns = turnsOf(1, 1);
  const release = turns.tryTake("a")!;
  release();
  const other = turns.tryTake("b");
  release();
  expect(other).toBeDefined();
  expect(turns.tryTake("c")).toBeUndefined();
});

test("one that waits for its own share holds up nobody behind it", async () => {
  const turns = turnsOf(2, 1);
  const release = turns.tryTake("a")!;
  let served = false;
  const late = turns.take("a", LONG_MS).then((turn) => {
    served = true;
    return turn;
  });
  const other = await turns.take("b", LONG_MS);
  other();
  await settled();
  expect(served).toBe(false);
  release();
  (await late)();
  expect(served).toBe(true);
});
