/** Defines the engine's interface for claiming, batches and servers. */

import type { Limiter } from "../../lib/limits/limiter.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { Recorder } from "../delivery/recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "../delivery/rows.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import type { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import type { UnknownLimits } from "../limits/unknown-limits.ts";
import type { DependencyOutage } from "./dependency-outage.ts";
import type { OutcomeCounts } from "./metrics.ts";
import type { PinnedConnection } from "./pinned-connection.ts";
import type { EngineSettings } from "./settings.ts";

/** Claiming of work (claim/claimer.ts). */
export interface Claims {
  /** Checks for work soon; concurrent calls share one check. */
  check(): void;
  /** Hourly limit reached: no lease for the company until then. */
  park(companyId: string, ms: number): void;
  /** Daily limit reached: nothing is claimed for the configuration until then. */
  parkConfig(smtpConfigId: string, ms: number): void;
  /** Skips this campaign for some seconds. */
  skip(campaignId: string): void;
}

/** Functions provided by the sender's node. */
export interface NodeOutputs {
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<(Rendered | MakeMail)[]>;
  /** Called when a campaign may have nothing left to send. */
  campaignDrained(campaignId: string): void;
  /** Tells other nodes to check for work of this campaign. Absent on a single node. */
  notifyOtherNodes?(campaign: ClaimableCampaign): void;
}

export interface EngineContext {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly budget: InDoubtBudget;
  readonly limiter: Limiter;
  /** Configurations whose limits cannot be counted; their campaigns show it. */
  readonly unknownLimits: UnknownLimits;
  readonly recorder: Recorder;
  /** Connection for reading recipients. Results use another one, so that neither waits for the other. */
  readonly reads: PinnedConnection;
  readonly outage: DependencyOutage;
  readonly claims: Claims;
  readonly counts: OutcomeCounts;
  readonly outputs: NodeOutputs;
  /**
   * The database timeline that claims must match (database-history.ts); null: any. Undefined: nothing may be claimed
   * now.
   */
  readonly history: { readonly timeline: string | null | undefined };
  /** Stops campaigns for errors that only the user can fix (stops.ts). */
  readonly stops: { stop(companyId: string, campaignId: string, error: string): Promise<void> };
  /** `hasWork`: true while the open connections are needed. */
  slots(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
}
