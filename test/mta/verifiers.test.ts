/**
 * Compares our report with pyspf, opendkim and opendmarc on more than 150 records, all with the test's own name server.
 * Needs python3, and root for opendmarc-check (another /etc/resolv.conf in a mount namespace).
 */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { Lookups } from "../../services/lib/dns-lookups.ts";
import type { Check } from "../../services/smtp-sender/deliverability/check.ts";
import { checkDkim } from "../../services/smtp-sender/deliverability/dkim-key.ts";
import { checkDmarc } from "../../services/smtp-sender/deliverability/dmarc.ts";
import { checkSpf } from "../../services/smtp-sender/deliverability/spf.ts";
import { type DnsServer, startDnsServer, type Zone } from "../support/dns-server.ts";
import { remove, serverFolder } from "../support/mta/daemon.ts";
import { askOpendkim, askOpendmarc, askPyspf } from "../support/mta/verifiers.ts";
import { KEY_CASES, POLICY_CASES, SPF_CASES, SPF_DOMAIN, SPF_ZONES, STRANGER } from "./verifier-records.ts";

jest.setTimeout(240_000);

/** A loopback address of its own, because port 53 of 127.0.0.1 may belong to a resolver. */
const RESOLVER = { address: "127.0.0.153", port: 53 };
const LOOKUP_MS = 30_000;

let dns: DnsServer;
let folder: string;
beforeAll(async () => {
  folder = serverFolder("verifiers");
});
afterEach(() => dns.stop());
afterAll(() => remove(folder));

/** Our report through the same name server. */
async function ours<T>(check: (lookups: Lookups) => Promise<T>): Promise<T> {
  const lookups = new Lookups(LOOKUP_MS, [dns.address]);
  try {
    return await check(lookups);
  } finally {
    lookups.close();
  }
}

interface Compared {
  record: string;
  ours: string;
  theirs: string;
  said: string;
}

/** Unexplained differences, and explanations without a difference. */
function unexplained(cases: readonly { why?: string }[], compared: readonly Compared[]): Compared[] {
  expect(compared).toHaveLength(cases.length);
  return compared.filter(({ ours, theirs }, at) => (ours !== theirs) !== (cases[at]!.why !== undefined));
}

const spfClass = ({ status, found }: Check): string =>
  status === "unknown" ? "temperror" : status === "fail" ? "permerror" : found === null ? "none" : "valid";

test("SPF: the service finds the same errors as pyspf", async () => {
  dns = await startDnsServer();
  // Cases have a domain each, so that a single run of pyspf covers all.
  const domains = SPF_CASES.map((_, at) => `acme${at}.example`);
  for (const [at, { record, zones = {} }] of SPF_CASES.entries()) {
    const given = { ...SPF_ZONES, ...zones, [SPF_DOMAIN]: { ...zones[SPF_DOMAIN], txt: [record].flat() } };
    const named = JSON.stringify(given).replaceAll(SPF_DOMAIN, domains[at]!);
    for (const [name, zone] of Object.entries<Zone>(JSON.parse(named))) dns.zones.set(name, zone);
  }
  const verdicts = await askPyspf(
    Number(dns.address.split(":")[1]),
    domains.map((domain) => [domain, STRANGER]),
  );
  const compared: Compared[] = [];
  for (const [at, { record }] of SPF_CASES.entries()) {
    const [result, said] = verdicts[at]!;
    const asked = { domain: domains[at]!, relayHost: "relay.example", relayAddresses: [] };
    const check = await ours((lookups) => checkSpf(lookups, asked));
    const theirs = ["none", "permerror", "temperror"].includes(result) ? result : "valid";
    compared.push({
      record: [record].flat().join(" | "),
      ours: spfClass(check),
      theirs,
      said: `${said} / ${check.help}`,
    });
  }
  expect(unexplained(SPF_CASES, compared)).toEqual([]);
});

test("DKIM: the service accepts the published keys that opendkim accepts", async () => {
  dns = await startDnsServer();
  const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
  const base64 = (key: ReturnType<typeof pair>["publicKey"], type: "spki" | "pkcs1" = "spki") =>
    key.export({ format: "der", type }).toString("base64");
  const own = pair();
  const privateKey = own.privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  const key = base64(createPublicKey(own.privateKey));
  const values = {
    PKCS1: base64(own.publicKey, "pkcs1"),
    SPACED: key.replace(/.{60}/g, "$& "),
    OTHER: base64(pair().publicKey),
    CUT: key.slice(0, 200),
    KEY: key,
  };
  const published = (record: string) =>
    Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), record);
  const compared: Compared[] = [];
  for (const [at, { records }] of KEY_CASES.entries()) {
    // Cases have a selector each, because opendkim's resolver caches.
    const [domain, selector] = ["acme.example", `s${at}`];
    if (records.length > 0) dns.zones.set(`${selector}._domainkey.${domain}`, { txt: records.map(published) });
    const { code, text } = await askOpendkim(folder, {
      port: Number(dns.address.split(":")[1]),
      domain,
      selector,
      privateKey,
    });
    const check = await ours((lookups) => checkDkim(lookups, { domain, selector, privateKey }));
    const word = (isGood: boolean) => (isGood ? "good" : "bad");
    const said = `${text} / ${check.help}`;
    compared.push({ record: records.join(" | "), ours: word(check.status !== "fail"), theirs: word(code === 0), said });
  }
  expect(unexplained(KEY_CASES, compared)).toEqual([]);
});

test("DMARC: the service finds the policies that opendmarc finds", async () => {
  dns = await startDnsServer({}, RESOLVER);
  const compared: Compared[] = [];
  for (const [at, { records }] of POLICY_CASES.entries()) {
    const domain = `d${at}.example`;
    if (records.length > 0) dns.zones.set(`_dmarc.${domain}`, { txt: records });
    const { code, text } = await askOpendmarc(folder, RESOLVER.address, domain);
    const { check } = await ours((lookups) => checkDmarc(lookups, domain));
    const word = (isValid: boolean) => (isValid ? "policy" : "none");
    const said = `${text.split("\n")[0]} / ${check.help}`;
    compared.push({ record: records.join(" | "), ours: word(check.status === "pass"), theirs: word(code === 0), said });
  }
  expect(unexplained(POLICY_CASES, compared)).toEqual([]);
});
