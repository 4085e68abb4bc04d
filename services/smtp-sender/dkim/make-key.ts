/** Generates a DKIM key. Its private half never leaves the service, and it waits until its record is found. */
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { sequelize } from "../../../models/database/db.ts";
import type { DkimAlgorithm } from "../../../models/dkim-key.ts";
import { audit } from "../../../models/statements/audit-log.ts";
import { asciiDomain } from "../../lib/address.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { type FieldErrors, invalid } from "../../lib/errors.ts";
import { findConfig, requireRightsNow } from "../configs/smtp-configs.ts";
import { limitKeys } from "../configs/try-server.ts";
import type { MadeKey, NewDkimKey } from "../contract-dkim.ts";
import { domainError, selectorError } from "./given-keys.ts";
import { algorithmOf, isSameName, keysOf, madeKeyView, newKey, saveKeys } from "./key-set.ts";

/** Minimum of RFC 8301; some DNS consoles cannot store the records of longer keys. */
const RSA_BITS = 2_048;

const encoding = { privateKeyEncoding: { type: "pkcs8", format: "pem" } } as const;
const publicKeyEncoding = { type: "spki", format: "pem" } as const;

/** Runs on the thread pool: an RSA key takes up to a second. */
async function generated(algorithm: DkimAlgorithm): Promise<string> {
  const make = promisify(generateKeyPair);
  const { privateKey } =
    algorithm === "rsa"
      ? await make("rsa", { modulusLength: RSA_BITS, publicKeyEncoding, ...encoding })
      : await make("ed25519", { publicKeyEncoding, ...encoding });
  return privateKey;
}

export function newDkimKeyErrors(
  { params: { domain, selector } }: Ctx<NewDkimKey>,
  isValid: (field: keyof NewDkimKey) => boolean,
): FieldErrors {
  return {
    ...(isValid("domain") && domainError(domain)),
    ...(isValid("selector") && selectorError(selector)),
  };
}

export async function createDkimKey(ctx: Ctx<NewDkimKey>): Promise<MadeKey> {
  const companyId = companyOf(ctx);
  const { id, algorithm } = ctx.params;
  const name = { domain: asciiDomain(ctx.params.domain)!, selector: ctx.params.selector.toLowerCase() };
  await findConfig(companyId, id);
  await limitKeys(companyId);
  const key = newKey(name, await generated(algorithm), true);
  return sequelize().transaction(async (transaction) => {
    await requireRightsNow(ctx.meta, "smtp-sender.createDkimKey", transaction);
    const found = await findConfig(companyId, id, transaction);
    const stored = await keysOf(found, transaction);
    const existing = stored.find((key) => isSameName(key, name));
    if (existing && !existing.isActive && existing.record && algorithmOf(existing) === algorithm)
      return madeKeyView(existing, existing.record);
    if (existing) {
      const sentence = "This configuration already has a key with this name. Choose another selector.";
      throw invalid({ selector: [sentence] });
    }
    const others = stored.filter((key) => key.isActive || algorithmOf(key) !== algorithm);
    await saveKeys(found, [...others, key], transaction);
    const detail = { name: found.name, ...name, algorithm };
    await audit(companyId, ctx.meta, { action: "dkim_key.created", target: id, detail }, transaction);
    return madeKeyView(key, key.record!);
  });
}
