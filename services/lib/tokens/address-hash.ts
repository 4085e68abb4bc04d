/**
 * Hashes erased addresses with a key: a returning address is recognized, and the database alone does not reveal which
 * addresses these are, not even by trying them.
 */
import { createHmac, hkdfSync } from "node:crypto";
import { addressKey, addressText } from "../address.ts";

export class AddressHashes {
  readonly #key: Buffer;

  /** `key`: the installation's 32-byte key. */
  constructor(key: Buffer) {
    this.#key = Buffer.from(hkdfSync("sha256", key, "flockmail", "erased address", 32));
  }

  /** Equal for all spellings of one mailbox, and different per company. */
  of(companyId: string, address: string): Buffer {
    return createHmac("sha256", this.#key)
      .update(`${companyId.toLowerCase()} ${addressKey(addressText(address))}`)
      .digest();
  }
}
