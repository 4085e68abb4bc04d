/** Validates the `dkim` field of an SMTP configuration and makes its keys. */
import { createPrivateKey } from "node:crypto";
import type { DkimAlgorithm } from "../../../models/dkim-key.ts";
import { asciiDomain, LABELS } from "../../lib/address.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import type { GivenDkim, GivenKey } from "../contract-dkim.ts";
import { algorithmOf, type ConfigKey, isSameName, newKey } from "./key-set.ts";

const MIN_RSA_BITS = 1_024;

const listOf = (given: GivenDkim): GivenKey[] => (given === null ? [] : Array.isArray(given) ? given : [given]);

const nameOf = ({ domain, selector }: GivenKey) => ({
  domain: asciiDomain(domain) ?? domain,
  selector: selector.toLowerCase(),
});

/**
 * The stored key that an entry without a private key refers to: the one with its name, or the only active one, which is
 * renamed.
 */
function storedKeyOf(
  entry: GivenKey,
  entries: readonly GivenKey[],
  stored: readonly ConfigKey[],
): ConfigKey | undefined {
  const active = stored.filter(({ isActive }) => isActive);
  const named = active.find((key) => isSameName(key, nameOf(entry)));
  return named ?? (entries.length === 1 && active.length === 1 ? active[0] : undefined);
}

function privateKeyError(pem: string): string | undefined {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    if (asymmetricKeyType === "ed25519") return undefined;
    if (asymmetricKeyType !== "rsa") return "private_key: Only RSA and Ed25519 keys can sign mail.";
    if ((asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS) return undefined;
    return `private_key: An RSA key must have at least ${MIN_RSA_BITS} bits.`;
  } catch {
    return "private_key: Not a valid private key in PEM format.";
  }
}

/** Errors by field. */
export const domainError = (domain: string): FieldErrors =>
  asciiDomain(domain) ? {} : { domain: ["Enter a valid domain name."] };
export const selectorError = (selector: string): FieldErrors =>
  LABELS.test(selector.toLowerCase()) ? {} : { selector: ["Enter a valid DKIM selector."] };

function entryErrors(entry: GivenKey, key: ConfigKey | undefined): string[] {
  const ofName = { ...domainError(entry.domain), ...selectorError(entry.selector) };
  const errors = Object.entries(ofName).map(([field, [sentence]]) => `${field}: ${sentence}`);
  if (entry.private_key === undefined) return key ? errors : [...errors, "private_key: This field is required."];
  const error = privateKeyError(entry.private_key);
  return error ? [...errors, error] : errors;
}

function algorithmGiven(entry: GivenKey, key: ConfigKey | undefined): DkimAlgorithm | undefined {
  if (entry.private_key !== undefined) return createPrivateKey(entry.private_key).asymmetricKeyType as DkimAlgorithm;
  return key && algorithmOf(key);
}

/** Error sentences, each with the position in the field. `stored`: the configuration's current keys. */
export function dkimErrors(given: GivenDkim, stored: readonly ConfigKey[]): string[] {
  const entries = listOf(given);
  const errors = entries.flatMap((entry, at) => {
    const found = entryErrors(entry, storedKeyOf(entry, entries, stored));
    return Array.isArray(given) ? found.map((sentence) => `Item at index ${at}: ${sentence}`) : found;
  });
  const [one, two] = entries;
  if (errors.length > 0 || !one || !two) return errors;
  if (isSameName(nameOf(one), nameOf(two)))
    return ["Two keys need different selectors, because each has its own record."];
  const algorithm = algorithmGiven(one, storedKeyOf(one, entries, stored));
  return algorithm && algorithm === algorithmGiven(two, storedKeyOf(two, entries, stored))
    ? ["Two keys must be of different algorithms: one RSA, one Ed25519."]
    : [];
}

/** The configuration's new keys. Waiting keys stay, unless another key now has their name. */
export function keysFrom(given: GivenDkim, stored: readonly ConfigKey[]): ConfigKey[] {
  if (given === null) return [];
  const entries = listOf(given);
  const active = entries.map((entry) => {
    const name = nameOf(entry);
    if (entry.private_key !== undefined) return newKey(name, entry.private_key, false);
    return { ...storedKeyOf(entry, entries, stored)!, ...name };
  });
  const waiting = stored.filter((key) => !key.isActive && !active.some((one) => isSameName(one, key)));
  return [...active, ...waiting];
}
