/**
 * An address that was erased, as a keyed hash: it is recognized when it comes again, and whoever has the database alone cannot
 * tell which addresses these are, not even by trying them.
 */
import { createHmac, hkdfSync } from "node:crypto";
import { addressKey, addressText } from "../address.ts";

export class AddressHashes {
  readonly #key: Buffer;

  /** `key`: the installation's, of 32 bytes. */
  constructor(key: Buffer) {
    this.#key = Buffer.from(hkdfSync("sha256", key, "flockmail", "erased address", 32));
  }

  /** The same for all spellings of one mailbox, and another one for each company. */
  of(companyId: string, address: string): Buffer {
    return createHmac("sha256", this.#key)
      .update(`${companyId.toLowerCase()} ${addressKey(addressText(address))}`)
      .digest();
  }
}
