/** Makes self-signed X.509 certificates (ECDSA P-256) as DER, without programs or packages. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80
      ? Buffer.of(length)
      : length < 0x100
        ? Buffer.of(0x81, length)
        : Buffer.of(0x82, length >> 8, length & 0xff);
  return Buffer.concat([Buffer.of(tag), size, body]);
};

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const SUBJECT_ALT_NAME = "551d11";
const BASIC_CONSTRAINTS = "551d13";
const DAY_MS = 86_400_000;

const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n")}\n-----END ${label}-----\n`;

export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Valid for localhost and 127.0.0.1 unless other names, or no address, are given. It is its own authority, so that it
 * can be trusted.
 */
export function selfMadeCertificate(
  options: { names?: string[]; address?: false; expired?: boolean } = {},
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const names = options.names ?? ["localhost"];
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(names[0]!)))));
  const until = Date.now() + (options.expired ? -DAY_MS : 30 * DAY_MS);
  const address = options.address === false ? [] : [der(0x87, Buffer.of(127, 0, 0, 1))];
  const altNames = [...names.map((dns) => der(0x82, Buffer.from(dns))), ...address];
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name,
    sequence(utcTime(new Date(until - 60 * DAY_MS)), utcTime(new Date(until))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        extension(SUBJECT_ALT_NAME, sequence(...altNames)),
        extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.of(0xff)))),
      ),
    ),
  );
  const signature = der(0x03, Buffer.of(0), sign("sha256", toBeSigned, privateKey));
  return {
    cert: pem("CERTIFICATE", sequence(toBeSigned, algorithm, signature)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
