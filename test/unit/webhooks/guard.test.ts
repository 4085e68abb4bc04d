import { isPublicAddress, literalAddress } from "../../../services/lib/ssrf/address-range.ts";
import { parseAllowedHosts } from "../../../services/lib/ssrf/allowed-hosts.ts";
import { isPermittedHost, resolvePublic } from "../../../services/lib/ssrf/guard.ts";
import { urlError } from "../../../services/webhooks/endpoints.ts";

const refused = [
  ["loopback", "127.0.0.1"],
  ["loopback, another", "127.255.255.254"],
  ["decimal", "2130706433"],
  ["hex", "0x7f000001"],
  ["hex, dotted", "0x7f.0.0.0x1"],
  ["octal", "017700000001"],
  ["octal, dotted", "0177.0.0.1"],
  ["short", "127.1"],
  ["unspecified", "0.0.0.0"],
  ["private 10/8", "10.1.2.3"],
  ["private 172.16/12", "172.31.255.255"],
  ["private 192.168/16", "192.168.0.1"],
  ["CGNAT", "100.64.0.1"],
  ["CGNAT, Alibaba's metadata", "100.100.100.200"],
  ["link-local, metadata", "169.254.169.254"],
  ["Azure's wire server", "168.63.129.16"],
  ["Oracle's metadata", "192.0.0.192"],
  ["multicast", "224.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["reserved", "240.0.0.1"],
  ["documentation", "203.0.113.7"],
  ["benchmarking", "198.18.0.1"],
  ["v6 loopback", "::1"],
  ["v6 loopback, bracketed", "[::1]"],
  ["v6 unspecified", "::"],
  ["v6 link-local", "fe80::1"],
  ["v6 link-local with a zone", "fe80::1%eth0"],
  ["v6 public with a zone", "2606:4700::1111%eth0"],
  ["v6 unique local, AWS metadata", "fd00:ec2::254"],
  ["v6 site-local", "fec0::1"],
  ["v6 multicast", "ff02::1"],
  ["v4-mapped", "::ffff:127.0.0.1"],
  ["v4-mapped, hex", "::ffff:7f00:1"],
  ["v4-mapped private", "::ffff:a00:1"],
  ["v4-compatible", "::7f00:1"],
  ["v4-compatible public", "::808:808"],
  ["v4-translated", "::ffff:0:127.0.0.1"],
  ["6to4", "2002:7f00:1::1"],
  ["6to4 of a public address", "2002:808:808::1"],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["NAT64 of loopback", "64:ff9b::7f00:1"],
  ["NAT64 of metadata", "64:ff9b::169.254.169.254"],
  ["local NAT64", "64:ff9b:1::808:808"],
  ["v6 documentation", "2001:db8::1"],
  ["ORCHID", "2001:20::1"],
  ["discard", "100::1"],
  ["segment routing", "5f00::1"],
];

describe("addresses that are not public", () => {
  test.each(refused)("are refused: %s: %s", async (_, host) => {
    const literal = literalAddress(host);
    expect(literal).not.toBeNull();
    expect(isPublicAddress(literal!)).toBe(false);
    await expect(resolvePublic(host, { allowPrivate: false })).rejects.toMatchObject({ reason: "refused" });
  });

  test.each(refused)("are refused in a URL, %s: %s", async (_, host) => {
    const bare = host.replace(/[[\]]/g, "");
    const error = await urlError(`https://${bare.includes(":") ? `[${bare}]` : bare}/hook`, false);
    expect(error).toMatch(/not on the public internet|valid URL/);
  });

  test.each(["localhost", "foo.localhost", "LOCALHOST.", "１２７.０.０.１", "①②⑦.⓪.⓪.①"])(
    "are refused by name or lookalike: %s",
    async (host) => {
      await expect(resolvePublic(host, { allowPrivate: false })).rejects.toMatchObject({ reason: "refused" });
    },
  );
});

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "2606:4700::1111",
  "2a00:1450:4001:830::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
])("%s is public", async (host) => {
  const [address] = await resolvePublic(host, { allowPrivate: false });
  expect(isPublicAddress(address!.address)).toBe(true);
});

describe("a host name", () => {
  const answers = (...addresses: string[]) => ({ allowPrivate: false, resolve: async () => addresses });

  test("is refused if one of its addresses is private", async () => {
    await expect(resolvePublic("x.example", answers("1.1.1.1", "10.0.0.1"))).rejects.toMatchObject({
      reason: "refused",
    });
    await expect(resolvePublic("x.example", answers("1.1.1.1", "::ffff:10.0.0.1"))).rejects.toMatchObject({
      reason: "refused",
    });
  });

  test("is resolved once, and the checked address is used", async () => {
    const next = ["1.1.1.1", "127.0.0.1"];
    const resolve = async () => [next.shift()!];
    expect(await resolvePublic("rebind.example", { allowPrivate: false, resolve })).toEqual([
      { address: "1.1.1.1", family: 4 },
    ]);
    expect(next).toEqual(["127.0.0.1"]);
  });

  test("is distinguished from a refused one if it has no address", async () => {
    const fails = async () => {
      throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
    };
    await expect(resolvePublic("x.example", { allowPrivate: false, resolve: fails })).rejects.toMatchObject({
      reason: "dns",
      message: "The host name x.example cannot be resolved (ENOTFOUND).",
    });
    await expect(resolvePublic("x.example", answers())).rejects.toMatchObject({ reason: "dns" });
  });

  test("may lead to private networks if the operator allows them", async () => {
    expect(await resolvePublic("127.0.0.1", { allowPrivate: true })).toEqual([{ address: "127.0.0.1", family: 4 }]);
    expect((await resolvePublic("localhost", { allowPrivate: true })).length).toBeGreaterThan(0);
  });
});

describe("private hosts that the operator permits", () => {
  const permitted = parseAllowedHosts("10.1.0.0/16, 192.168.7.9,fd00:7::/64 ,Mail.Corp.example., localhost")!;
  const ask = (host: string, ...addresses: string[]) =>
    resolvePublic(host, { allowPrivate: false, permitted, resolve: async () => addresses });

  test.each(["10.1.255.1", "192.168.7.9", "[fd00:7::25]", "::ffff:10.1.2.3", "0x0a010203"])(
    "may have the address %s",
    async (host) => {
      expect(await ask(host)).toHaveLength(1);
      expect(isPermittedHost(host, permitted)).toBe(true);
    },
  );

  test.each(["10.2.0.1", "192.168.7.8", "127.0.0.1", "169.254.169.254", "fd00:8::1"])(
    "stay refused at %s",
    async (host) => {
      await expect(ask(host)).rejects.toMatchObject({ reason: "refused" });
      expect(isPermittedHost(host, permitted)).toBe(false);
    },
  );

  test("may have any address by name; subdomains of the name are not permitted", async () => {
    expect(await ask("mail.corp.EXAMPLE", "172.16.3.4")).toEqual([{ address: "172.16.3.4", family: 4 }]);
    expect(await ask("localhost", "127.0.0.1")).toHaveLength(1);
    await expect(ask("x.mail.corp.example", "172.16.3.4")).rejects.toMatchObject({ reason: "refused" });
    await expect(ask("foo.localhost", "127.0.0.1")).rejects.toMatchObject({ reason: "refused" });
  });

  test("may be any name that resolves only into a permitted network", async () => {
    expect(await ask("any.example", "10.1.0.1", "1.1.1.1")).toHaveLength(2);
    await expect(ask("any.example", "10.1.0.1", "10.2.0.1")).rejects.toMatchObject({ reason: "refused" });
  });

  test.each(["10.0.0.0/33", "a b", "http://x", "10.0.0.0/", "-x"])("cannot be listed as %s", (text) => {
    expect(parseAllowedHosts(`1.2.3.4, ${text}`)).toBeNull();
  });
});

test.each([
  ["http://example.com/", false, "The URL must start with https://."],
  ["ftp://example.com/", true, "The URL must start with https://."],
  ["https://user:secret@example.com/", true, "The URL must not contain a user name or password."],
  ["https://user@example.com/", true, "The URL must not contain a user name or password."],
  ["nonsense", true, "Enter a valid URL."],
  ["http://127.0.0.1:8080/", true, null],
  ["https://1.1.1.1/hook", false, null],
])("the URL %s (private networks: %p) has the error %p", async (url, allowPrivate, error) => {
  expect(await urlError(url as string, allowPrivate as boolean)).toBe(error);
});
