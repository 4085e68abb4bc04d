/**
 * Correct and wrong DNS records as people publish them, for third-party verifiers and ours (verifiers.test.ts). `why`
 * explains cases in which the two must differ.
 */
import type { Zone } from "../support/dns-server.ts";

export interface SpfCase {
  record: string | string[];
  /** Added to the common zones (SPF_ZONES). */
  zones?: Record<string, Zone>;
  why?: string;
}

/** The domain whose record is tested. */
export const SPF_DOMAIN = "acme.example";
/** An address that no record contains, so that each record is evaluated to its end. */
export const STRANGER = "203.0.113.99";

const many = (n: number, term: (at: number) => string) => Array.from({ length: n }, (_, at) => term(at)).join(" ");

export const SPF_ZONES: Record<string, Zone> = {
  "mx.acme.example": { a: ["192.0.2.25"] },
  "relay.example": { a: ["192.0.2.10"], aaaa: ["2001:db8::10"] },
  "spf.relay.example": { txt: ["v=spf1 ip4:192.0.2.0/28 ~all"] },
  "softer.example": { txt: ["v=spf1 include:spf.relay.example ?all"] },
  "no-record.example": { txt: ["something else"] },
  "broken.example": { txt: ["v=spf1 ipv4:192.0.2.1 -all"] },
  "two.example": { txt: ["v=spf1 -all", "v=spf1 ~all"] },
  "self.example": { txt: ["v=spf1 include:self.example -all"] },
  "failing.example": { fault: "servfail" },
  "many-mx.example": { mx: Array.from({ length: 11 }, (_, n) => [n, `mx${n}.example`] as [number, string]) },
  ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`mx${n}.example`, { a: ["198.51.100.7"] }])),
  ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`i${n}.example`, { txt: ["v=spf1 -all"] }])),
};

export const SPF_CASES: SpfCase[] = [
  // Records that large providers recommend, and variations.
  { record: "v=spf1 -all" },
  { record: "v=spf1 ~all" },
  { record: "v=spf1 ?all" },
  { record: "v=spf1" },
  { record: "V=SPF1 -ALL" },
  { record: "v=spf1 ip4:192.0.2.10 -all" },
  { record: "v=spf1 ip4:192.0.2.0/24 -all" },
  { record: "v=spf1 ip4:0.0.0.0/32 -all" },
  { record: "v=spf1 ip6:2001:db8::/32 -all" },
  { record: "v=spf1 ip6:2001:db8::1 ip6:::ffff:192.0.2.1 -all" },
  { record: "v=spf1 a mx ~all", zones: { [SPF_DOMAIN]: { a: ["192.0.2.80"], mx: [[10, "mx.acme.example"]] } } },
  { record: "v=spf1 include:spf.relay.example ~all" },
  { record: "v=spf1 include:softer.example -all" },
  { record: "v=spf1 a:relay.example -all" },
  { record: "v=spf1 a:relay.example/24 -all" },
  { record: "v=spf1 a:relay.example//64 -all" },
  { record: "v=spf1 a:relay.example/24//64 -all" },
  { record: "v=spf1 mx:acme.example/28 -all", zones: { [SPF_DOMAIN]: { mx: [[10, "mx.acme.example"]] } } },
  { record: "v=spf1 redirect=spf.relay.example" },
  { record: "v=spf1 exists:%{i}.spf.%{d} -all" },
  { record: "v=spf1 exists:%{ir}.%{v}._spf.%{d2} -all" },
  { record: "v=spf1 exists:%{l1r+-}.%{d} -all" },
  { record: "v=spf1 exp=why.acme.example -all" },
  { record: "v=spf1 moo.cow-far_out=man:dog/cat -all" },
  { record: "v=spf1  ip4:192.0.2.10   -all" },
  { record: "v=spf1 -all " },
  { record: "v=spf1 ~all ip4:192.0.2.1" },
  { record: "v=spf1 +ip4:192.0.2.1 -ip4:192.0.2.2 ~ip4:192.0.2.3 ?ip4:192.0.2.4 -all" },
  { record: "v=spf1 include:spf.relay.example. -all" },
  { record: "v=spf1 a:_spf.relay.example -all", zones: { "_spf.relay.example": { a: ["192.0.2.4"] } } },
  { record: ["google-site-verification=abc", "v=spf1 -all"] },
  { record: `v=spf1 ${many(20, (n) => `ip4:192.0.2.${n}`)} -all` },
  { record: `v=spf1 ${many(10, (n) => `include:i${n}.example`)} -all` },
  { record: `v=spf1 ip4:192.0.2.1 ${"x".repeat(200)}=${"y".repeat(100)} -all` },
  { record: "v=spf1 ptr -all" },
  { record: "v=spf1 ptr:acme.example -all" },
  // Not an SPF record.
  { record: "v=spf10 -all" },
  { record: "v=spf2.0/pra -all" },
  { record: "spf1 -all" },
  { record: " v=spf1 -all" },
  { record: "v=spf1-all" },
  { record: [] },
  // Typical errors in handwritten records.
  { record: ["v=spf1 -all", "v=spf1 ~all"] },
  { record: "v=spf1 ipv4:192.0.2.1 -all" },
  { record: "v=spf1 ip4=192.0.2.1 -all" },
  { record: "v=spf1 ip4:192.0.2 -all" },
  { record: "v=spf1 ip4:192.0.2.256 -all" },
  { record: "v=spf1 ip4:192.0.2.0/33 -all" },
  { record: "v=spf1 ip4:192.0.2.0/ -all" },
  { record: "v=spf1 ip4:192.0.2.0/024 -all" },
  { record: "v=spf1 ip4:2001:db8::1 -all" },
  { record: "v=spf1 ip4 -all" },
  { record: "v=spf1 ip6:2001:db8::/129 -all" },
  { record: "v=spf1 ip6:192.0.2.1 -all" },
  { record: "v=spf1 ip6:2001:db8:::1 -all" },
  { record: "v=spf1 include -all" },
  { record: "v=spf1 include: -all" },
  { record: "v=spf1 include:spf.relay.example/24 -all" },
  { record: "v=spf1 include:relay -all" },
  { record: "v=spf1 all. " },
  { record: "v=spf1 all:acme.example" },
  { record: "v=spf1 all/8" },
  { record: "v=spf1 --all" },
  { record: "v=spf1 -all;" },
  { record: "v=spf1, -all" },
  { record: "v=spf1 a:relay.example/33 -all" },
  { record: "v=spf1 a:relay.example//129 -all" },
  { record: "v=spf1 a:relay.example/ -all" },
  { record: "v=spf1 a: -all" },
  { record: "v=spf1 mx: -all" },
  { record: "v=spf1 mx/24/64 -all" },
  { record: "v=spf1 exists -all" },
  { record: "v=spf1 exists:%{x}.example -all" },
  { record: "v=spf1 exists:%(i).example -all" },
  {
    record: "v=spf1 exists:%{i.example -all",
    why: "RFC 7208 section 7.1: a macro that is not closed is a syntax error. pyspf takes it for text.",
  },
  { record: "v=spf1 exists:100%.example -all" },
  { record: "v=spf1 redirect:spf.relay.example" },
  { record: "v=spf1 redirect=" },
  { record: "v=spf1 redirect=spf.relay.example redirect=softer.example" },
  { record: "v=spf1 exp=a.example exp=b.example -all" },
  { record: "v=spf1 redirect=no-record.example" },
  { record: "v=spf1 a:foo-bar -all" },
  { record: "v=spf1 a:relay.example:8080 -all" },
  { record: "v=spf1 a:192.0.2.1 -all" },
  { record: "v=spf1 a:mail.123 -all" },
  { record: "v=spf1 mx:museum. -all" },
  { record: "v=spf1 exp= -all" },
  { record: "v=spf1 exp=-all" },
  { record: "v=spf1 -all exp=%{r}.acme.example" },
  { record: "v=spf1 a:b.example/x -all" },
  { record: "v=spf1 moo -all" },
  { record: "v=spf1 moo.cow/far_out=man -all" },
  { record: "v=spf1 -all moo" },
  { record: 'v=spf1 "ip4:192.0.2.1" -all' },
  { record: "v=spf1 ip4:192.0.2.1\t-all" },
  { record: "v=spf1 include:https://spf.relay.example -all" },
  // Records that refer to others.
  { record: "v=spf1 include:no-record.example -all" },
  { record: "v=spf1 include:gone.example -all" },
  { record: "v=spf1 include:broken.example -all" },
  { record: "v=spf1 include:two.example -all" },
  { record: "v=spf1 include:self.example -all" },
  {
    record: "v=spf1 include:failing.example -all",
    why: "RFC 7208 section 2.6.6: a name server that fails is a temporary error. pyspf's resolver takes it for no records.",
  },
  {
    record: "v=spf1 a:failing.example -all",
    why: "RFC 7208 section 2.6.6: a name server that fails is a temporary error. pyspf's resolver takes it for no records.",
  },
  { record: "v=spf1 include:acme.example -all" },
  { record: "v=spf1 mx:many-mx.example -all" },
  { record: `v=spf1 ${many(11, (n) => `include:i${n}.example`)} -all` },
  { record: "v=spf1 a:gone1.example a:gone2.example -all" },
  { record: "v=spf1 a:gone1.example a:gone2.example a:gone3.example -all" },
  { record: "v=spf1 mx:gone1.example mx:gone2.example mx:gone3.example -all" },
  { record: "v=spf1 exists:gone1.example exists:gone2.example exists:gone3.example -all" },
  { record: "v=spf1 +all", why: "Valid, and worth nothing: it lets the whole world send in this name." },
  {
    record: `v=spf1 ip4:203.0.113.0/24 ${many(11, (n) => `include:i${n}.example`)} -all`,
    why: "Mail from that network stops at its first term; ours counts what mail from anywhere else needs.",
  },
  {
    record: "v=spf1 ip4:203.0.113.0/24 include:gone.example -all",
    why: "The same: mail from anywhere else ends in an error.",
  },
];

export interface KeyCase {
  /** The TXT records of a selector. KEY stands for the matching public key, PKCS1 for its bare form. */
  records: string[];
  why?: string;
}

export const KEY_CASES: KeyCase[] = [
  { records: ["v=DKIM1; k=rsa; p=KEY"] },
  { records: ["v=DKIM1; p=KEY"] },
  { records: ["p=KEY"] },
  { records: ["k=rsa; p=KEY"] },
  { records: ["v=DKIM1;k=rsa;p=KEY"] },
  { records: ["v=DKIM1; k=rsa; p=KEY;"] },
  { records: ["v=DKIM1 ; k = rsa ; p = KEY"] },
  { records: ["v=DKIM1; k=rsa; t=s; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; t=y; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; s=email; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; s=*; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; s=other; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; h=sha256; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; h=sha1:sha256; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; n=made in spring; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; x=1; p=KEY"] },
  {
    records: ["v=DKIM1; k=rsa; p=PKCS1"],
    why: "The form that RFC 6376 describes; opendkim reads that of its erratum alone, so it is a warning here.",
  },
  { records: ["v=DKIM1; k=rsa; p=SPACED"] },
  { records: [] },
  { records: ["something else"] },
  { records: ["v=DKIM1; k=rsa; p="] },
  { records: ["v=DKIM1; k=rsa"] },
  { records: ["v=DKIM2; k=rsa; p=KEY"] },
  { records: ["v=DKIM1 k=rsa p=KEY"] },
  {
    records: ["v=DKIM1; k=ed25519; p=KEY"],
    why: "opendkim 2.11 knows no other type than rsa, and does not look at k=.",
  },
  { records: ["v=DKIM1; k=dsa; p=KEY"] },
  { records: ["v=DKIM1; k=rsa; p=OTHER"] },
  { records: ["v=DKIM1; k=rsa; p=CUT"] },
  { records: ["v=DKIM1; k=rsa; p=KEY; p=OTHER"] },
  { records: ['v=DKIM1; k=rsa; p="KEY"'] },
  {
    records: ["v=DKIM1; k=rsa; h=sha1; p=KEY"],
    why: "opendkim-testkey does not look at h=; a verifier refuses SHA-256 under it (RFC 6376 section 3.6.1).",
  },
];

export interface PolicyCase {
  records: string[];
  why?: string;
}

export const POLICY_CASES: PolicyCase[] = [
  { records: ["v=DMARC1; p=none"] },
  { records: ["v=DMARC1; p=quarantine"] },
  { records: ["v=DMARC1; p=reject"] },
  { records: ["v=DMARC1;p=reject;"] },
  { records: ["v=DMARC1; p = none"] },
  {
    records: ["v = DMARC1; p=none"],
    why: "RFC 7489 section 6.4 allows the spaces; opendmarc does not.",
  },
  { records: ["v=DMARC1; P=NONE"] },
  { records: ["v=DMARC1; p=none;;"] },
  { records: ["v=DMARC1; p=none; rua=mailto:dmarc@acme.example"] },
  { records: ["v=DMARC1; p=none; rua=mailto:a@acme.example,mailto:b@acme.example; ruf=mailto:c@acme.example; fo=1"] },
  { records: ["v=DMARC1; p=reject; sp=none; adkim=s; aspf=r; pct=50; ri=86400; rf=afrf"] },
  { records: ["v=DMARC1; p=none; foo=bar"] },
  {
    records: ["google-site-verification=abc", "v=DMARC1; p=none"],
    why: "RFC 7489 section 6.6.3: other records are left out; opendmarc looks at the first one alone.",
  },
  { records: [] },
  { records: ["something else"] },
  { records: ["v=DMARC1"] },
  { records: ["v=DMARC1; rua=mailto:dmarc@acme.example"] },
  { records: ["v=dmarc1; p=none"] },
  { records: ["v=DMARC2; p=none"] },
  { records: ["v=DMARC1 p=none"] },
  { records: ["v=DMARC1, p=none"] },
  { records: ["v=DMARC1; p=none, rua=mailto:dmarc@acme.example"] },
  { records: ["v=DMARC1; p=monitor"] },
  { records: ["v=DMARC1; p="] },
  { records: ["v=DMARC1; p=none; aspf=x"] },
  {
    records: ["v=DMARC1; p=none; adkim=strict"],
    why: "RFC 7489 section 6.3 knows r and s; opendmarc reads the first letter.",
  },
  { records: ["v=DMARC1; p=none; sp=maybe"] },
  { records: ["v=DMARC1; p=none; pct=101"] },
  {
    records: ["v=DMARC1; p=none; pct=all"],
    why: "RFC 7489 section 6.3: a number from 0 to 100; opendmarc takes any word for 0.",
  },
  {
    records: ["v=DMARC1; p=no"],
    why: "opendmarc takes the beginning of a word for the word.",
  },
  {
    records: ["p=none; v=DMARC1"],
    why: "RFC 7489 section 6.3: v= comes first, or the record is none.",
  },
  {
    records: ["v=DMARC1; p=none; p=reject"],
    why: "RFC 6376 section 3.2: of two tags with one name neither holds; opendmarc takes the last.",
  },
  {
    records: ["v=DMARC1; p=none", "v=DMARC1; p=reject"],
    why: "RFC 7489 section 6.6.3: of two records none holds; opendmarc takes the first.",
  },
];
