/** The engine as claims, batches and servers see it. */

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

/** Looking for work (claim/claimer.ts). */
export interface Claims {
  /** Soon; many calls at once are one look. */
  look(): void;
  /** The company's hour is full: no lease for it until then. */
  park(companyId: string, ms: number): void;
  /** The day of an SMTP configuration is full: nothing is claimed for it until then. */
  parkConfig(smtpConfigId: string, ms: number): void;
  /** Claims nothing of this campaign for some seconds. */
  skip(campaignId: string): void;
}

/** Functions of the node that the sender runs on. */
export interface NodeOutputs {
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<(Rendered | MakeMail)[]>;
  /** A campaign may have nothing left to send. */
  campaignDrained(campaignId: string): void;
  /** Other nodes should look for work of this campaign. Absent: there are none. */
  notifyOtherNodes?(campaign: ClaimableCampaign): void;
}

export interface EngineContext {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly budget: InDoubtBudget;
  readonly limiter: Limiter;
  /** Configurations whose limits cannot be counted: their campaigns say so. */
  readonly unknownLimits: UnknownLimits;
  readonly recorder: Recorder;
  /** For reading recipients. Results are written over a connection of their own, so that neither waits for the other. */
  readonly reads: PinnedConnection;
  readonly outage: DependencyOutage;
  readonly claims: Claims;
  readonly counts: OutcomeCounts;
  readonly outputs: NodeOutputs;
  /** Claims name the database's timeline (database-history.ts); null: any. Undefined: nothing may be claimed now. */
  readonly history: { readonly timeline: string | null | undefined };
  /** Stops campaigns for what only the user can change (stops.ts). */
  readonly stops: { stop(companyId: string, campaignId: string, error: string): Promise<void> };
  /** `hasWork`: whether the open connections will be needed any longer. */
  slots(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
}
