/** Types of mailauth functions that it publishes without types. */
type Resolver = (name: string, type: string) => Promise<string[] | string[][]>;

declare module "mailauth/lib/dmarc/get-dmarc-record.js" {
  export default function getDmarcRecord(domain: string, resolver: Resolver): Promise<Record<string, unknown> | false>;
}

declare module "mailauth/lib/tools.js" {
  export function getPublicKey(
    type: "DKIM",
    name: string,
    minBitLength: number,
    resolver: Resolver,
  ): Promise<{ publicKey: string; type?: string }>;
}
