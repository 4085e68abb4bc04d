import { addressBlock, clientIp } from "../../../services/gateway/http/client-ip.ts";

describe("the client's address", () => {
  test("is the socket's if no proxy is trusted, whatever the header claims", () => {
    expect(clientIp("203.0.113.9", "198.51.100.1", 0)).toBe("203.0.113.9");
    expect(clientIp("::ffff:203.0.113.9", undefined, 0)).toBe("203.0.113.9");
  });

  test("counts trusted proxies from the right; everything further left is the client's own claim", () => {
    expect(clientIp("10.0.0.1", "6.6.6.6, 198.51.100.1", 1)).toBe("198.51.100.1");
    expect(clientIp("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", 2)).toBe("198.51.100.1");
    expect(clientIp("10.0.0.1", "198.51.100.1", 2)).toBe("198.51.100.1");
  });

  test("is the socket's if the header contains no address", () => {
    for (const nonsense of ["", "unknown", "1.2.3", "<script>", "1.2.3.4:80"]) {
      expect(clientIp("10.0.0.1", nonsense, 1)).toBe("10.0.0.1");
    }
  });

  test("counts as its /64 for IPv6, because one customer has 2^64 of them", () => {
    expect(addressBlock("2001:db8:1:2:3:4:5:6")).toBe(addressBlock("2001:db8:1:2::1"));
    expect(addressBlock("2001:db8:1:2::1")).not.toBe(addressBlock("2001:db8:1:3::1"));
    expect(addressBlock("203.0.113.9")).toBe("203.0.113.9");
  });
});
