import { parseRedisUrl } from "../../services/lib/redis-url.ts";

test.each([
  ["redis://127.0.0.1", { tls: false, db: 0, addresses: [{ host: "127.0.0.1", port: 6_379 }] }],
  ["rediss://cache.example:6380/3", { tls: true, db: 3, addresses: [{ host: "cache.example", port: 6_380 }] }],
  ["redis://:p%40ss%3A@h", { tls: false, db: 0, password: "p@ss:", addresses: [{ host: "h", port: 6_379 }] }],
  [
    "redis://ann:a:b@[::1]:1/",
    { tls: false, db: 0, username: "ann", password: "a:b", addresses: [{ host: "::1", port: 1 }] },
  ],
  [
    "rediss+sentinel://ann:pw@a,b:1/birds/2?sentinel_username=eve&sentinel_password=x%20y",
    {
      tls: true,
      db: 2,
      username: "ann",
      password: "pw",
      addresses: [
        { host: "a", port: 26_379 },
        { host: "b", port: 1 },
      ],
      sentinel: { group: "birds", username: "eve", password: "x y" },
    },
  ],
])("%s", (url, target) => {
  expect(parseRedisUrl(url)).toEqual(target);
});

test.each([
  "http://h",
  "redis://",
  "redis://a,b",
  "redis://h:70000",
  "redis://h/one",
  "redis://h/1/2",
  "redis://:%zz@h",
  "redis+sentinel://h:26379",
])("%s is not a Redis URL", (url) => {
  expect(parseRedisUrl(url)).toBeUndefined();
});
