/** API contracts of DKIM keys. */
import { DKIM_ALGORITHMS } from "../../models/dkim-key.ts";
import type { ServiceContract } from "../define.ts";
import { Bool, Described, Id, Line, Nullable, OneOf, type Static, Text, Type } from "../lib/shapes.ts";

const GivenKey = Type.Object({
  domain: Described(Line(253), "A domain.", "example.org"),
  selector: Described(Line(253), "DNS selector of the key.", "fm1"),
  private_key: Type.Optional(Described(Text(16_384), "The key (PEM). Write-only.", "-----BEGIN PRIVATE KEY-----\n…")),
});
export type GivenKey = Static<typeof GivenKey>;

/** `private_key` is write-only: a PEM, RSA from 1,024 bits or Ed25519. Null removes signing. */
export const GivenDkim = Nullable(Type.Union([GivenKey, Type.Array(GivenKey, { maxItems: 2 })]));
export type GivenDkim = Static<typeof GivenDkim>;

const madeKey = {
  algorithm: Described(OneOf(...DKIM_ALGORITHMS), "Algorithm of the key."),
  /** The TXT record to publish; `value` is one text, which DNS consoles cut into strings of 255 octets themselves. */
  record: Described(
    Type.Object({
      name: Described(Type.String(), "Name.", "fm1._domainkey.lantern.example"),
      value: Described(Type.String(), "Value of the record.", "v=DKIM1; k=rsa; p=MIIB…"),
    }),
    "TXT record to publish.",
  ),
  /** False: it starts signing once its DNS record is found. */
  active: Described(Bool, "False until its record is found; then it signs."),
};
const namedKey = {
  domain: Described(Type.String(), "A domain.", "example.org"),
  selector: Described(Type.String(), "DNS selector of the key.", "fm1"),
};

export const MadeKey = Type.Object({ ...namedKey, ...madeKey });
export type MadeKey = Static<typeof MadeKey>;

/** An active key. A key that was given shows only its name; one generated here also shows its DNS record. */
const ShownKey = Type.Object({ ...namedKey, ...Type.Partial(Type.Object(madeKey)).properties });
export const DkimView = Nullable(Type.Union([ShownKey, Type.Array(ShownKey)]));
export type DkimView = Static<typeof DkimView>;

const NewDkimKey = Type.Object({
  id: Id,
  domain: Described(Line(253), "A domain.", "example.org"),
  selector: Described(Line(253), "DNS selector of the key.", "fm1"),
  algorithm: Described(OneOf(...DKIM_ALGORITHMS), "Algorithm of the key."),
});
export type NewDkimKey = Static<typeof NewDkimKey>;

export const dkim = {
  createDkimKey: {
    summary: "Create a DKIM key",
    description:
      "RSA (2,048 bits) or Ed25519; the private key stays in the service. Publish `record` as a TXT record: within a minute of being found in DNS the key signs and replaces the key of the same algorithm. Until then `dkim_waiting` of the configuration shows it. Keep the old record published for a week, because mails in transit and in mailboxes are verified with it. One key of each algorithm can wait: a new one replaces it, and the same request again returns the same key. At most 20 a minute.",
    params: NewDkimKey,
    returns: MadeKey,
    example: { domain: "acme.example", selector: "fm1", algorithm: "rsa" },
  },
  activateDkimKeys: {
    summary: "Look for the records of DKIM keys that wait (internal, repeated by each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Null(),
  },
} as const satisfies ServiceContract;
