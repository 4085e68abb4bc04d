/**
 * Tracking domains. A new domain is checked at once and every minute until verified. A domain in use is checked every
 * hour and disabled after a day without proof.
 */
import { randomBytes } from "node:crypto";
import pLimit from "p-limit";
import { QueryTypes, type Transaction, UniqueConstraintError } from "sequelize";
import { sequelize } from "../../../models/database/db.ts";
import {
  type Claim,
  dueClaims,
  FORGET_STALE,
  markLost,
  markProved,
} from "../../../models/statements/tracking-domains.ts";
import { TrackingDomain } from "../../../models/tracking-domain.ts";
import { broadcast } from "../../call.ts";
import { asciiDomain } from "../../lib/address.ts";
import { invalid } from "../../lib/errors.ts";
import { ownHost } from "../../lib/links-base.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import { findProof } from "./proof.ts";

type CanBroadcast = Parameters<typeof broadcast>[0];
type OnError = (error: unknown) => void;

const TAKEN = "This domain belongs to another company.";
const TOKEN_BYTES = 24;
/** Time limit while a PATCH waits; later results are found by the next check. */
const CHECK_ON_PATCH_MS = 6_000;
const CLAIMS_PER_RUN = 50;
const MAX_CONCURRENT_CHECKS = 10;

/** Returns an error sentence for an invalid host, otherwise undefined. */
export function trackingDomainError(given: string): string | undefined {
  const domain = asciiDomain(given);
  if (domain === null) return "Enter a valid host name.";
  return domain === ownHost() ? "This is the service's own host." : undefined;
}

/** Null removes the domain. An unchanged domain keeps its state and token. */
export async function claimDomain(companyId: string, given: string | null, transaction: Transaction): Promise<void> {
  const domain = given === null ? null : asciiDomain(given)!;
  const now = await TrackingDomain.findByPk(companyId, { transaction, lock: true });
  if (now?.domain === domain) return;
  await now?.destroy({ transaction });
  if (domain === null) return;
  await sequelize().query(FORGET_STALE, { bind: [domain, companyId], type: QueryTypes.RAW, transaction });
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  await TrackingDomain.create({ companyId, domain, token }, { transaction }).catch((error: unknown) => {
    throw error instanceof UniqueConstraintError ? invalid({ tracking_domain: [TAKEN] }) : error;
  });
}

const announce = (from: CanBroadcast, companyId: string) =>
  broadcast(from, "trackingDomain.changed", { companyId }).catch(() => {});

async function checkClaim(from: CanBroadcast, claim: Claim): Promise<void> {
  const proof = await findProof(claim.domain, claim.token);
  const hasChanged =
    proof === "found" ? (await markProved(claim)) && !claim.is_active : proof === "missing" && (await markLost(claim));
  if (hasChanged) await announce(from, claim.company_id);
}

/**
 * Checks a domain after a PATCH so that the answer shows the result. Errors are left to the next check, because the
 * settings are already stored.
 */
export async function afterPatch(
  from: CanBroadcast,
  { companyId, isAsked }: { companyId: string; isAsked: boolean },
  onError: OnError,
): Promise<void> {
  const row = await TrackingDomain.findByPk(companyId);
  if (isAsked) await announce(from, companyId);
  if (!row || (row.provedAt && !isAsked)) return;
  const { domain, token } = row;
  const check = checkClaim(from, { company_id: companyId, domain, token, is_active: row.provedAt !== null });
  await withTimeout(check, CHECK_ON_PATCH_MS, () => new Error("It took too long.")).catch(onError);
}

/** Returns the number of checked domains. A failed check is retried and does not delay others. */
export async function checkDueClaims(from: CanBroadcast, onError: OnError): Promise<number> {
  const limit = pLimit(MAX_CONCURRENT_CHECKS);
  const claims = await dueClaims(CLAIMS_PER_RUN);
  await Promise.all(claims.map((claim) => limit(() => checkClaim(from, claim).catch(onError))));
  return claims.length;
}
