/** Records proposed by the report, read by mailauth, an independent implementation, and then by the report itself. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import getDmarcRecord from "mailauth/lib/dmarc/get-dmarc-record.js";
import { spf as verifySpf } from "mailauth/lib/spf/index.js";
import { getPublicKey } from "mailauth/lib/tools.js";
import { Lookups } from "../../../../services/lib/dns-lookups.ts";
import { checkDkim, dkimRecord } from "../../../../services/smtp-sender/deliverability/dkim-key.ts";
import { checkDmarc } from "../../../../services/smtp-sender/deliverability/dmarc.ts";
import { checkSpf } from "../../../../services/smtp-sender/deliverability/spf.ts";
import { type DnsServer, startDnsServer } from "../../../support/dns-server.ts";

type Record_ = { name: string; value: string };

let server: DnsServer;
let dns: Lookups;
beforeAll(async () => {
  server = await startDnsServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.zones.clear();
  dns = new Lookups(300, [server.address]);
});
afterEach(() => dns.close());

const DOMAIN = "acme.example";
const ADDRESS = "192.0.2.4";

/** DNS interface of mailauth: rows of strings. */
const resolverOf =
  (txt: Record_, a: string[] = []) =>
  async (name: string, type: string) => {
    if (type === "TXT" && name === txt.name) return [txt.value.match(/.{1,255}/g) ?? []];
    if (type === "A" && a.includes(name)) return [ADDRESS];
    throw Object.assign(new Error(name), { code: "ENOTFOUND" });
  };

const publish = (record: Record_) => {
  server.zones.set(record.name, { txt: [record.value] });
  dns = new Lookups(300, [server.address]);
};

test.each<[string, string[], string]>([
  ["203.0.113.7", [], "ip4:203.0.113.7"],
  ["[2001:db8::7]", [], "ip6:2001:db8::7"],
  ["::ffff:192.0.2.9", [], "ip4:192.0.2.9"],
  ["postfix", ["203.0.113.8"], "ip4:203.0.113.8"],
  ["relay.corp.internal", [ADDRESS, "2001:db8::4"], `ip4:${ADDRESS} ip6:2001:db8::4`],
  ["mail.bücher.example", [ADDRESS], "a:mail.xn--bcher-kva.example"],
  ["Relay.Example.", [ADDRESS], "a:relay.example"],
])("SPF for the relay %s allows it", async (relayHost, relayAddresses, terms) => {
  const asked = { domain: DOMAIN, relayHost, relayAddresses };
  const record = { name: DOMAIN, value: `v=spf1 ${terms} ~all` };
  expect(await checkSpf(dns, asked)).toMatchObject({ status: "warn", expected: record });
  const names = ["relay.example", "mail.xn--bcher-kva.example"];
  for (const name of names) server.zones.set(name, { a: [ADDRESS] });
  const ip = /ip[46]:(\S+)/.exec(terms)?.[1] ?? ADDRESS;
  const asks = {
    sender: `news@${DOMAIN}`,
    helo: DOMAIN,
    mta: "mx.receiver.example",
    resolver: resolverOf(record, names),
  };
  expect((await verifySpf({ ip, ...asks })).status.result).toBe("pass");
  expect((await verifySpf({ ip: "198.51.100.1", ...asks })).status.result).toBe("softfail");
  publish(record);
  expect(await checkSpf(dns, asked)).toMatchObject({ status: "pass" });
});

test("SPF for a relay in the same network asks for its public address; without any address nothing is proposed", async () => {
  const check = (relayHost: string) => checkSpf(dns, { domain: DOMAIN, relayHost, relayAddresses: [] });
  for (const host of ["127.0.0.1", "2130706433", "::1", "10.0.0.9"]) {
    expect([host, (await check(host)).expected]).toEqual([host, null]);
  }
  expect((await check("127.0.0.1")).help).toMatch(/Receivers never see 127\.0\.0\.1: write the public address/);
  expect((await check("relay.example")).help).not.toContain("never see");
  expect(await check("mailpit")).toMatchObject({ status: "warn", expected: null });
});

test.each([
  ["rsa", generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey],
  ["ed25519", generateKeyPairSync("ed25519").privateKey],
] as const)("DKIM of a key of type %s is read as that key", async (_type, key) => {
  const privateKey = key.export({ format: "pem", type: "pkcs8" }) as string;
  const signature = { domain: DOMAIN, selector: "s1", privateKey };
  const { expected } = await checkDkim(dns, signature);
  expect(expected).toEqual(dkimRecord(signature));
  const record = expected as Record_;
  const read = await getPublicKey("DKIM", record.name, 1_024, resolverOf(record));
  expect(createPublicKey(read.publicKey).equals(createPublicKey(key))).toBe(true);
  publish(record);
  expect(await checkDkim(dns, signature)).toMatchObject({ status: "pass" });
});

test.each(["acme.example", "news.acme.example"])("DMARC of %s is read as a policy", async (from) => {
  const record = (await checkDmarc(dns, from)).check.expected as Record_;
  expect(await getDmarcRecord(from, resolverOf(record))).toMatchObject({ v: "DMARC1", p: "none" });
  publish(record);
  expect((await checkDmarc(dns, from)).check).toMatchObject({ status: "pass" });
});
