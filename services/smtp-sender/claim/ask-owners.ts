/**
 * Asks live senders for their results before their expired leases are recovered. A sender that lost PostgreSQL may
 * still be reachable over NATS: it releases its leases and reports the results of the recipients it has handed over.
 * The asking node writes these results, so no recipient is left in doubt and no transactional mail is sent twice.
 *
 * Recovery waits, for a limited time, only for results whose mail server has not answered yet. It does not wait for
 * senders that are no longer in the registry or that do not know the lease.
 */
import { query } from "../../../models/database/db.ts";
import { recordStatement } from "../delivery/record-statement.ts";
import type { LeasedChunk, RecordedResult } from "../delivery/recorded-result.ts";
import { releaseChunks } from "./claim-statements.ts";
import type { ExpiredLease } from "./recover-leases.ts";

/**
 * Grace period after a lease's end while its owner is alive. Mail servers answer within seconds, and half a minute of
 * delay is better than a second receipt.
 */
const ALIVE_OWNER_WAIT_MS = 30_000;

export type AskedLease = Pick<ExpiredLease, "campaign_id" | "no" | "seq" | "fence">;

/** A result as sent between nodes; the chunk is given by its number. */
export type SerializedResult = Omit<RecordedResult, "chunk" | "by" | "permit"> & { no: number | null };

export interface GivenUp {
  /** The owner's name in the rows. */
  owner: string;
  /** Leases still held, because a mail server may still answer. */
  unsettled: AskedLease[];
  /** Released leases. Their recipients without a result were not handed over. */
  settled: AskedLease[];
  results: SerializedResult[];
}

/** The other sender nodes, as the broker knows them. */
export interface Peers {
  /** Nodes that the registry considers alive. */
  nodes(): string[];
  /** Database history in which each other sender has written all its results; undefined: no answer. */
  histories(): Promise<(string | undefined)[]>;
  /** Asks the sender to release its leases. Undefined: no answer. */
  giveUp(node: string, leases: AskedLease[]): Promise<GivenUp | undefined>;
}

const leaseKey = ({ campaign_id, no, seq, fence }: AskedLease) =>
  `${campaign_id} ${no === null ? `row ${seq}` : no} ${fence}`;

/** `process-7:1f2e3d4c` is an engine of the node process-7. */
const nodeOf = (owner: string) => owner.slice(0, owner.lastIndexOf(":"));

/** Writes results on behalf of a sender under its own lease, then releases the lease. */
async function settle({ owner, settled, results }: GivenUp, expired: ReadonlyMap<string, ExpiredLease>): Promise<void> {
  const chunks = new Map<string, LeasedChunk>();
  for (const lease of settled) {
    const expiredLease = expired.get(leaseKey(lease));
    if (!expiredLease || expiredLease.no === null) continue;
    chunks.set(`${expiredLease.campaign_id} ${expiredLease.no}`, {
      ...expiredLease,
      no: expiredLease.no,
      lo: 0,
      hi: 0,
      companyId: expiredLease.company_id,
      campaignId: expiredLease.campaign_id,
      markedTo: 0,
      validFrom: 0,
    });
  }
  const claimed = new Set(settled.flatMap((lease) => (lease.no === null ? [leaseKey(lease)] : [])));
  const written = results.flatMap((result): RecordedResult[] => {
    const chunk = result.no === null ? null : chunks.get(`${result.campaignId} ${result.no}`);
    const { campaignId: campaign_id, seq, attempts: fence } = result;
    if (chunk === undefined || (chunk === null && !claimed.has(leaseKey({ campaign_id, no: null, seq, fence }))))
      return [];
    return [{ ...result, chunk, by: { recorded: () => {} } }];
  });
  const updates = new Map([...chunks.values()].map((chunk) => [chunk, { done: false, markedTo: 0, resolve: [] }]));
  const { text, values } = recordStatement(written, updates, { owner, leaseMs: 0 });
  await query(text, values);
  await releaseChunks(
    [...chunks.values()].map((chunk) => ({ ...chunk, company_id: chunk.companyId })),
    owner,
  );
}

export interface OwnersAnswer {
  /** Leases that must not be recovered yet. */
  wait: ExpiredLease[];
  /** Campaigns of leases that were settled. */
  settledCampaignIds: string[];
}

export async function askOwners(
  peers: Peers | undefined,
  expired: readonly ExpiredLease[],
  onError: (error: Error) => void,
): Promise<OwnersAnswer> {
  if (!peers || expired.length === 0) return { wait: [], settledCampaignIds: [] };
  const alive = new Set(peers.nodes());
  const open = new Map<string, ExpiredLease>();
  for (const lease of expired) {
    const lives = lease.owner === null ? alive.size > 0 : alive.has(nodeOf(lease.owner));
    if (lives && lease.expired_ms < ALIVE_OWNER_WAIT_MS) open.set(leaseKey(lease), lease);
  }
  const waits = new Set<ExpiredLease>();
  const settledCampaignIds = new Set<string>();
  const ask = async (node: string) => {
    const leases = [...open.values()].filter(({ owner }) => owner === null || nodeOf(owner) === node);
    if (leases.length === 0) return;
    const wait = (these: readonly AskedLease[]) => {
      for (const lease of these) waits.add(open.get(leaseKey(lease))!);
    };
    const leaseRefs = leases.map(({ campaign_id, no, seq, fence }) => ({ campaign_id, no, seq, fence }));
    const answer = await peers.giveUp(node, leaseRefs);
    if (!answer) {
      wait(leases);
      return;
    }
    wait(answer.unsettled);
    if (answer.settled.length === 0) return;
    try {
      await settle(answer, open);
      for (const { campaign_id } of answer.settled) settledCampaignIds.add(campaign_id);
    } catch (error) {
      wait(answer.settled);
      onError(error as Error);
    }
  };
  await Promise.all([...alive].map(ask));
  return { wait: [...waits], settledCampaignIds: [...settledCampaignIds] };
}
