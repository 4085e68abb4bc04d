/** A claimed domain is untrusted: where the service looks for the token, and where it must not. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { findProof } from "../../../services/accounts/tracking-domain/proof.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";

let dns: DnsServer;
let server: Server;
let asked = 0;
beforeAll(async () => {
  dns = await startDnsServer();
  server = createServer((_request, response) => {
    asked++;
    response.end("token");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, {
    DATABASE_URL: "postgres://unused/unused",
    SECRET_KEY: "test-secret-test-secret-test-secret",
    BASE_URL: `http://home.example:${port}`,
    DNS_SERVERS: dns.address,
    ALLOW_PRIVATE_NETWORKS: "false",
  });
});
afterAll(async () => {
  await dns.stop();
  await new Promise((done) => server.close(done));
});

test("the token is never fetched from a private network", async () => {
  for (const zone of [
    { a: ["127.0.0.1"] },
    { a: ["192.0.2.1", "127.0.0.1"] },
    { a: ["10.0.0.1"] },
    { aaaa: ["::1"] },
  ]) {
    dns.zones.set("read.acme.example", zone);
    expect([zone, await findProof("read.acme.example", "token")]).toEqual([zone, "missing"]);
  }
  expect(asked).toBe(0);
});

test("circular aliases, or more than five, verify nothing", async () => {
  dns.zones.set("a.acme.example", { cname: "b.acme.example" });
  dns.zones.set("b.acme.example", { cname: "a.acme.example" });
  expect(await findProof("a.acme.example", "token")).not.toBe("found");
  for (let i = 0; i < 6; i++) dns.zones.set(`c${i}.acme.example`, { cname: `c${i + 1}.acme.example` });
  dns.zones.set("c6.acme.example", { cname: "home.example" });
  expect(await findProof("c1.acme.example", "token")).not.toBe("found");
  expect(await findProof("c2.acme.example", "token")).toBe("found");
});

test("a name server's failure does not change the verification", async () => {
  dns.zones.set("read.acme.example", { fault: "servfail" });
  expect(await findProof("read.acme.example", "token")).toBe("unknown");
  dns.zones.delete("read.acme.example");
  expect(await findProof("read.acme.example", "token")).toBe("missing");
});
