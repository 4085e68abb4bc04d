/** Tests of each check against a name server over UDP, in good, broken, missing and silent form. */
import { generateKeyPairSync } from "node:crypto";
import { Lookups } from "../../../../services/lib/dns-lookups.ts";
import type { Check } from "../../../../services/smtp-sender/deliverability/check.ts";
import { checkDkim, dkimRecord } from "../../../../services/smtp-sender/deliverability/dkim-key.ts";
import { checkAlignment, checkDmarc } from "../../../../services/smtp-sender/deliverability/dmarc.ts";
import { checkBounceAddress, checkLinks, checkMx } from "../../../../services/smtp-sender/deliverability/hosts.ts";
import { checkSpf } from "../../../../services/smtp-sender/deliverability/spf.ts";
import { type DnsServer, startDnsServer, type Zone } from "../../../support/dns-server.ts";

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

const publish = (zones: Record<string, Zone>) => {
  for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
};

const DOMAIN = "acme.example";
const pem = (key: ReturnType<typeof generateKeyPairSync>["privateKey"] | { export: unknown }) =>
  (key as { export(options: object): string }).export({ format: "pem", type: "pkcs8" });

describe("SPF", () => {
  const spf = (relayAddresses = ["192.0.2.10"]) =>
    checkSpf(dns, { domain: DOMAIN, relayHost: "relay.example", relayAddresses });
  const of = async (record: string, others: Record<string, Zone> = {}, relay?: string[]) => {
    publish({ [DOMAIN]: { txt: ["something else", record] }, ...others });
    return spf(relay);
  };

  test.each([
    ["v=spf1 ip4:192.0.2.0/24 -all", 0],
    ["v=spf1 -all", 0],
    ["V=SPF1 IP4:192.0.2.10 ~ALL", 0],
    ["v=spf1 ip6:2001:db8::/32 ?all", 0],
    ["v=spf1 include:_spf.relay.example a mx ~all", 3],
    ["v=spf1 include:_spf.relay.example/24 ~all", undefined],
    ["v=spf1 redirect=_spf.relay.example", 1],
    ["v=spf1 exists:%{i}._spf.%{d2} exp=why.acme.example -all", 1],
    ["v=spf1 a:relay.example/24//64 mx:acme.example/28 -all", 2],
  ])("%s needs %s look-ups", async (record, lookups) => {
    const check = await of(record, {
      [DOMAIN]: { txt: [record], a: ["192.0.2.77"], mx: [[10, "mx.acme.example"]] },
      "mx.acme.example": { a: ["192.0.2.78"] },
      "relay.example": { a: ["192.0.2.10"] },
      "_spf.relay.example": { txt: ["v=spf1 ip4:192.0.2.10 -all"] },
    });
    if (lookups === undefined) return expect(check).toMatchObject({ status: "fail" });
    expect(check).toEqual({ name: "spf", status: "pass", found: { record, lookups }, expected: null, help: null });
  });

  test("a missing record is a warning, with a record to begin with", async () => {
    publish({ [DOMAIN]: { txt: ["google-site-verification=x", "v=spf10 no"] } });
    expect(await spf()).toMatchObject({
      status: "warn",
      found: null,
      expected: { name: DOMAIN, value: "v=spf1 a:relay.example ~all" },
    });
  });

  test("two records fail", async () => {
    publish({ [DOMAIN]: { txt: ["v=spf1 -all", "v=spf1 ~all"] } });
    expect(await spf()).toMatchObject({ status: "fail", help: expect.stringContaining("2 SPF records") });
  });

  test.each([
    ["v=spf1 ipv4:192.0.2.1 -all", '"ipv4:192.0.2.1" is no SPF term'],
    ["v=spf1 ip4:192.0.2 -all", "no IPv4 network"],
    ["v=spf1 ip4:192.0.2.0/33 -all", "no IPv4 network"],
    ["v=spf1 ip6:2001:db8::/129 -all", "no IPv6 network"],
    ["v=spf1 ip4:2001:db8::1 -all", "no IPv4 network"],
    ["v=spf1 include: -all", "no SPF term"],
    ["v=spf1 include -all", "nothing behind"],
    ["v=spf1 a:relay -all", "names no domain"],
    ["v=spf1 a:relay.example/64 -all", "does not exist"],
    ["v=spf1 all:x.example", 'nothing behind "all"'],
    ["v=spf1 exists:%{x}.example -all", "macro that does not exist"],
    ["v=spf1 redirect=nowhere", "names no domain"],
    ["v=spf1 ip4:192.0.2.0/024 -all", "no SPF term"],
    ["v=spf1 a:192.0.2.1 -all", "names no domain"],
    ["v=spf1 mx:museum. -all", "names no domain"],
    ["v=spf1 exp=-all", "names no domain"],
    ["v=spf1 -all exp=%{r}.example", "macro that does not exist"],
    ["v=spf1 redirect=a.example redirect=b.example", '"redirect=" may stand there once'],
    ["v=spf1 exp=a.example exp=b.example -all", '"exp=" may stand there once'],
  ])("%s is a syntax error", async (record, said) => {
    expect(await of(record)).toMatchObject({ status: "fail", help: expect.stringContaining(said) });
  });

  test("+all fails, and a record without all at its end is a warning", async () => {
    expect(await of("v=spf1 +all")).toMatchObject({ status: "fail" });
    dns = new Lookups(300, [server.address]);
    expect(await of("v=spf1 ip4:192.0.2.1")).toMatchObject({ status: "warn" });
  });

  test("an include without a record fails", async () => {
    expect(await of("v=spf1 include:gone.example -all")).toMatchObject({
      status: "fail",
      help: expect.stringContaining("gone.example, which has no SPF record"),
    });
  });

  test("a loop fails, and ends", async () => {
    const check = await of("v=spf1 include:b.example -all", {
      "b.example": { txt: [`v=spf1 include:${DOMAIN} -all`] },
    });
    expect(check).toMatchObject({ status: "fail", help: expect.stringContaining("includes itself") });
  });

  test("eleven look-ups fail, ten do not; no more than some forty are made for any record", async () => {
    const names = Array.from({ length: 11 }, (_, n) => `n${n}.example`);
    for (const name of names) publish({ [name]: { a: ["198.51.100.1"] } });
    const record = (n: number) =>
      `v=spf1 ${names
        .slice(0, n)
        .map((name) => `a:${name}`)
        .join(" ")} -all`;
    expect(await of(record(10))).toMatchObject({ status: "pass", found: { lookups: 10 } });
    dns = new Lookups(300, [server.address]);
    expect(await of(record(11))).toMatchObject({ status: "fail", help: expect.stringContaining("11 lookups") });
    for (let n = 0; n < 80; n++) {
      publish({
        [`t${n}.example`]: { txt: [`v=spf1 include:t${2 * n + 1}.example include:t${2 * n + 2}.example -all`] },
      });
    }
    dns = new Lookups(300, [server.address]);
    const many = await of("v=spf1 include:t0.example -all");
    expect(many).toMatchObject({ status: "fail", help: expect.stringContaining("more than 40") });
  });

  test("names without records: two are a warning, three fail", async () => {
    expect(await of("v=spf1 a:x.example mx:y.example -all")).toMatchObject({ status: "warn" });
    dns = new Lookups(300, [server.address]);
    expect(await of("v=spf1 a:x.example a:z.example mx:y.example -all")).toMatchObject({ status: "fail" });
  });

  test("the relay's own address is judged only if the record names it", async () => {
    expect(await of("v=spf1 -ip4:192.0.2.10 ~all")).toMatchObject({ status: "fail" });
    dns = new Lookups(300, [server.address]);
    expect(await of("v=spf1 ip4:198.51.100.0/24 -all")).toMatchObject({ status: "pass" });
  });

  test.each([
    ["servfail", "SERVFAIL"],
    ["silent", "No name server answered"],
  ] as const)("%s is unknown, in the domain and in an include", async (fault, said) => {
    publish({ [DOMAIN]: { fault } });
    expect(await spf()).toMatchObject({ status: "unknown", help: expect.stringContaining(said) });
    dns = new Lookups(300, [server.address]);
    expect(await of("v=spf1 include:b.example -all", { "b.example": { fault } })).toMatchObject({ status: "unknown" });
  });
});

describe("DKIM", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const ed25519 = generateKeyPairSync("ed25519");
  const NAME = `s1._domainkey.${DOMAIN}`;
  const signature = (key: { privateKey: Parameters<typeof pem>[0] }) => ({
    domain: DOMAIN,
    selector: "s1",
    privateKey: pem(key.privateKey),
  });
  const p = (key: { privateKey: Parameters<typeof pem>[0] }) => dkimRecord(signature(key)).value.split("p=")[1]!;
  const check = async (record: string | undefined, key: { privateKey: Parameters<typeof pem>[0] } = rsa) => {
    if (record !== undefined) publish({ [NAME]: { txt: [record] } });
    return checkDkim(dns, signature(key));
  };

  test.each([
    ["as shown", () => dkimRecord(signature(rsa)).value],
    ["without version and type, with white space", () => ` p = ${p(rsa).slice(0, 99)} ${p(rsa).slice(99)} ;`],
    ["with hashes and services", () => `v=DKIM1; h=sha1:sha256; s=email; t=s; p=${p(rsa)}`],
  ])("passes for an RSA key %s", async (_form, record) => {
    expect(await check(record())).toMatchObject({ status: "pass", help: null, expected: { name: NAME } });
  });

  test("is a warning for an RSA key as PKCS#1: some verifiers cannot read it", async () => {
    const bare = (rsa.publicKey.export({ format: "der", type: "pkcs1" }) as Buffer).toString("base64");
    expect(await check(`v=DKIM1; p=${bare}`)).toMatchObject({
      status: "warn",
      help: expect.stringContaining("PKCS#1"),
    });
  });

  test("passes for an Ed25519 key with 32 bytes", async () => {
    const { value } = dkimRecord(signature(ed25519));
    expect(value).toMatch(/^v=DKIM1; k=ed25519; p=[\w+/]{43}=$/);
    expect(await check(value, ed25519)).toMatchObject({ status: "pass" });
  });

  test.each([
    ["missing", undefined, "has no record"],
    ["revoked", "v=DKIM1; p=", "revoked"],
    ["of another type", `v=DKIM1; k=ed25519; p=${p(ed25519)}`, "type ed25519"],
    ["another", `v=DKIM1; p=${p(generateKeyPairSync("rsa", { modulusLength: 1_024 }))}`, "The published key differs"],
    ["no base64", "v=DKIM1; p=ÄÖÜ", "The published key differs"],
    ["for SHA-1 only", `v=DKIM1; h=sha1; p=${p(rsa)}`, "SHA-256"],
    ["not for mail", `v=DKIM1; s=other; p=${p(rsa)}`, "for mail"],
    ["of another version", `v=DKIM2; p=${p(rsa)}`, "not a DKIM key"],
    ["no tag list", "hello", "not a DKIM key"],
    ["twice the same tag", `v=DKIM1; p=x; p=${p(rsa)}`, "not a DKIM key"],
  ])("fails for a key that is %s, with the record to publish", async (_fault, record, said) => {
    expect(await check(record)).toMatchObject({
      status: "fail",
      help: expect.stringContaining(said),
      expected: dkimRecord(signature(rsa)),
    });
  });

  test("fails with several records, is a warning with a test flag, and unknown without an answer", async () => {
    publish({ [NAME]: { txt: [dkimRecord(signature(rsa)).value, "v=DKIM1; p="] } });
    expect(await check(undefined)).toMatchObject({ status: "fail", found: [expect.any(String), expect.any(String)] });
    dns = new Lookups(300, [server.address]);
    expect(await check(`v=DKIM1; t=y:s; p=${p(rsa)}`)).toMatchObject({ status: "warn" });
    dns = new Lookups(300, [server.address]);
    publish({ [NAME]: { fault: "silent" } });
    expect(await check(undefined)).toMatchObject({ status: "unknown" });
  });
});

describe("DMARC and alignment", () => {
  test.each([
    ["v=DMARC1; p=none", "pass"],
    ["v=DMARC1;p=reject;rua=mailto:d@acme.example;aspf=s", "pass"],
    ["v=DMARC1", "fail"],
    ["v=DMARC1; p=block", "fail"],
    ["v=DMARC1; p=none; adkim=x", "fail"],
    ["v=DMARC1; p=none; sp=maybe", "fail"],
    ["v=DMARC1; p=none; pct=101", "fail"],
    ["v=DMARC1; p=reject; sp=none; pct=50", "pass"],
    ["p=none; v=DMARC1", "warn"],
  ])("give, with %s, %s", async (record, status) => {
    publish({ [`_dmarc.${DOMAIN}`]: { txt: [record] } });
    expect((await checkDmarc(dns, DOMAIN)).check.status).toBe(status);
  });

  test("apply to subdomains of the organisational domain, by the public suffix list", async () => {
    publish({ "_dmarc.acme.co.uk": { txt: ["v=DMARC1; p=reject"] }, "_dmarc.co.uk": { txt: ["v=DMARC1; p=none"] } });
    expect(await checkDmarc(dns, "news.acme.co.uk")).toMatchObject({
      check: { status: "pass" },
      policy: { domain: "acme.co.uk" },
    });
    expect((await checkDmarc(dns, "other.co.uk")).check).toMatchObject({
      status: "warn",
      expected: { name: "_dmarc.other.co.uk" },
    });
  });

  test("fail with two records, and are unknown without an answer", async () => {
    publish({ [`_dmarc.${DOMAIN}`]: { txt: ["v=DMARC1; p=none", "v=DMARC1; p=reject"] } });
    expect((await checkDmarc(dns, DOMAIN)).check.status).toBe("fail");
    publish({ "_dmarc.other.example": { fault: "servfail" } });
    expect((await checkDmarc(dns, "other.example")).check.status).toBe("unknown");
  });

  const check = (name: Check["name"], status: Check["status"], found: string | null = "x"): Check => ({
    name,
    status,
    found,
    expected: null,
    help: null,
  });
  const strict = { domain: DOMAIN, isStrictSpf: true, isStrictDkim: true };
  const relaxed = { ...strict, isStrictSpf: false, isStrictDkim: false };

  test.each([
    ["both", "bounce.acme.example", "pass", "mail.acme.example", "pass", relaxed, "pass"],
    ["DKIM alone", "relay.example", "pass", DOMAIN, "pass", relaxed, "pass"],
    ["SPF alone", "bounce.acme.example", "pass", "relay.example", "pass", relaxed, "warn"],
    ["neither", "relay.example", "pass", "relay.example", "pass", relaxed, "fail"],
    ["neither, without a policy", "relay.example", "pass", "relay.example", "pass", undefined, "warn"],
    ["neither strictly", "bounce.acme.example", "pass", "mail.acme.example", "pass", strict, "fail"],
    ["both strictly", DOMAIN, "pass", DOMAIN, "pass", strict, "pass"],
    ["an aligned key that is refused", "relay.example", "pass", DOMAIN, "fail", relaxed, "fail"],
    ["an aligned key that could not be looked up", "relay.example", "pass", DOMAIN, "unknown", relaxed, "unknown"],
  ] as const)("%s", (_name, envelope, spf, signer, dkim, policy, status) => {
    const found = dkim === "unknown" ? null : "x";
    const signatures = [{ domain: signer, check: check("dkim", dkim, found) }];
    const alignment = checkAlignment({ from: DOMAIN, envelope, spf: check("spf", spf), signatures, policy });
    expect(alignment.status).toBe(status);
    expect(alignment.help === null).toBe(status === "pass");
  });
});

describe("MX, bounce address and links", () => {
  test.each<[string, Record<string, Zone>, Check["status"]]>([
    [
      "a mail server with an address",
      { [DOMAIN]: { mx: [[5, "mx.example"]] }, "mx.example": { a: ["192.0.2.1"] } },
      "pass",
    ],
    ["a mail server without one", { [DOMAIN]: { mx: [[5, "mx.example"]] } }, "fail"],
    ["an address alone", { [DOMAIN]: { a: ["192.0.2.1"] } }, "warn"],
    ["nothing", {}, "fail"],
    ["null MX", { [DOMAIN]: { mx: [[0, "."]] } }, "fail"],
    ["SERVFAIL", { [DOMAIN]: { fault: "servfail" } }, "unknown"],
  ])("are checked: %s", async (_name, zones, status) => {
    publish(zones);
    expect((await checkMx(dns, DOMAIN)).status).toBe(status);
    expect(await checkBounceAddress(dns, `bounce@${DOMAIN}`, DOMAIN)).toMatchObject({
      status,
      found: `bounce@${DOMAIN}`,
    });
  });

  test("cause a warning if there is no bounce address", async () => {
    expect(await checkBounceAddress(dns, null, DOMAIN)).toMatchObject({ status: "warn", found: null });
  });

  test.each([
    ["https://mail.acme.example", "pass"],
    ["http://mail.acme.example", "warn"],
    ["https://gone.example", "fail"],
    ["http://localhost:3000", "fail"],
    ["https://[::1]", "fail"],
    ["https://192.0.2.1", "warn"],
    ["https://silent.example", "unknown"],
  ])("show the links to %s as %s", async (url, status) => {
    publish({ "mail.acme.example": { a: ["192.0.2.1"] }, "silent.example": { fault: "silent" } });
    expect(await checkLinks(dns, url)).toMatchObject({ status, found: new URL(url).origin });
  });
});
