import { BoundedCache } from "../../../services/renderer/bounded-cache.ts";

const LATER = Number.MAX_SAFE_INTEGER;

describe("a bounded cache", () => {
  const filled = () => {
    const cache = new BoundedCache<string>(100);
    for (const key of ["a", "b", "c"]) cache.set(key, key.toUpperCase(), { bytes: 30, until: LATER });
    return cache;
  };
  const kept = (cache: BoundedCache<string>) => ["a", "b", "c", "d"].filter((key) => cache.get(key) !== undefined);

  test("lets go of what was used longest ago when it is full", () => {
    const cache = filled();
    cache.get("a");
    cache.set("d", "D", { bytes: 40, until: LATER });
    expect(kept(cache)).toEqual(["a", "c", "d"]);
  });

  test("keeps the newest, even when that alone is too large", () => {
    const cache = filled();
    cache.set("d", "D", { bytes: 1_000, until: LATER });
    expect(kept(cache)).toEqual(["d"]);
    cache.set("a", "A", { bytes: 10, until: LATER });
    expect(kept(cache)).toEqual(["a"]);
  });

  test("counts an entry that is set again once", () => {
    const cache = filled();
    for (let i = 0; i < 10; i++) cache.set("a", "A", { bytes: 30, until: LATER });
    expect(kept(cache)).toEqual(["a", "b", "c"]);
  });

  test("forgets what is too old or told to go", () => {
    const cache = filled();
    cache.set("d", "D", { bytes: 1, until: 1_000 });
    expect(cache.get("d", 999)).toBe("D");
    expect(cache.get("d", 1_000)).toBeUndefined();
    cache.deleteWhere((value) => value < "C");
    expect(kept(cache)).toEqual(["c"]);
  });
});
