import { groupCommit } from "../../services/lib/group-commit.ts";

/** Store whose batches end when the test says so. */
function heldStore() {
  const batches: number[][] = [];
  const releases: (() => void)[] = [];
  const store = async (items: number[]) => {
    batches.push(items);
    await new Promise<void>((resolve) => releases.push(resolve));
    return items.map((item) => item * 10);
  };
  const nextTick = () => new Promise(setImmediate);
  const release = async () => {
    releases.shift()!();
    await nextTick();
    await nextTick();
  };
  return { store, batches, nextTick, release };
}

test("items that arrive during a commit form the next one, and nobody is answered before it", async () => {
  const { store, batches, nextTick, release } = heldStore();
  const commit = groupCommit(store, { maxBatch: 10, maxWaiting: 100 });
  const answered: number[] = [];
  const add = (item: number) => commit.add(item).then((result) => answered.push(result));
  add(1);
  await nextTick();
  add(2);
  add(3);
  expect(batches).toEqual([[1]]);
  expect(answered).toEqual([]);
  await release();
  expect(batches).toEqual([[1], [2, 3]]);
  expect(answered).toEqual([10]);
  await release();
  await commit.idle();
  expect(answered).toEqual([10, 20, 30]);
});

test("batches and the queue are limited", async () => {
  const { store, batches, nextTick, release } = heldStore();
  const commit = groupCommit(store, { maxBatch: 2, maxWaiting: 3 });
  const added = [1, 2, 3].map((item) => commit.add(item));
  await expect(commit.add(4)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await nextTick();
  expect(batches).toEqual([[1, 2]]);
  await release();
  await release();
  expect(await Promise.all(added)).toEqual([10, 20, 30]);
});

test("a failed batch fails its own items and no others", async () => {
  let fail = true;
  const commit = groupCommit(
    async (items: number[]) => {
      if (fail) throw new Error("disk full");
      return items;
    },
    { maxBatch: 10, maxWaiting: 10 },
  );
  await expect(commit.add(1)).rejects.toThrow("disk full");
  fail = false;
  expect(await commit.add(2)).toBe(2);
});

test("a refused item fails alone, even in the middle of a batch; any other error fails the whole batch", async () => {
  const batches: number[] = [];
  let error = "refused";
  const commit = groupCommit(
    async (items: number[]) => {
      batches.push(items.length);
      if (items.includes(13)) throw new Error(error);
      return items;
    },
    { maxBatch: 100, maxWaiting: 100, isItemError: (cause) => (cause as Error).message === "refused" },
  );
  const outcomes = async () => {
    const items = Array.from({ length: 32 }, (_, n) => n);
    const settled = await Promise.allSettled(items.map((item) => commit.add(item)));
    return settled.flatMap(({ status }, at) => (status === "rejected" ? [at] : []));
  };
  expect(await outcomes()).toEqual([13]);
  // Halving repeatedly: twice the logarithm instead of one statement per item.
  expect(batches).toHaveLength(11);
  error = "disk full";
  expect(await outcomes()).toHaveLength(32);
});

test("two commits may run at once: the next batch starts while one is stored, and later items wait together", async () => {
  const { store, batches, nextTick, release } = heldStore();
  const commit = groupCommit(store, { maxBatch: 10, maxWaiting: 100, atOnce: 2 });
  const added = [commit.add(1), commit.add(2)];
  await nextTick();
  added.push(commit.add(3));
  await nextTick();
  added.push(commit.add(4), commit.add(5));
  await nextTick();
  expect(batches).toEqual([[1, 2], [3]]);
  await release();
  expect(batches).toEqual([[1, 2], [3], [4, 5]]);
  await release();
  await release();
  expect(await Promise.all(added)).toEqual([10, 20, 30, 40, 50]);
  await commit.idle();
});
