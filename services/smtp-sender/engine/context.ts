/** What a lane and a relay need of the engine. */

import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import type { Rendered } from "../../renderer/contract.ts";
import type { BatchDelivery } from "../delivery/batch-delivery.ts";
import type { Outcome } from "../delivery/outcome.ts";
import type { Recorder } from "../delivery/recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "../delivery/rows.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import type { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import type { EngineSettings } from "./settings.ts";

export interface EngineContext {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly budget: InDoubtBudget;
  readonly limiter: Limiter;
  readonly recorder: Recorder;
  /** For reading recipients; results go over a line of their own, so that neither waits for the other. */
  readonly reads: PinnedConnection;
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<Rendered[]>;
  /** Something that is needed is away; told once, until it works again. */
  reportOutage(error: Error): void;
  /** Does it until it succeeds, within reason: for what must not be forgotten. */
  retryUntilDone(work: () => Promise<void>): Promise<void>;
  count(status: Outcome["status"]): void;
  /** The company's hour is full: no lease for it until then. */
  parkCompany(companyId: string, ms: number): void;
  /** Nothing of this campaign for some seconds. */
  skipCampaign(campaignId: string): void;
  /** `whole`: every recipient of it is settled or waits by itself. */
  batchOver(lane: BatchDelivery, whole: boolean, leaseIsLost: boolean): void;
  /** Other nodes should look for this work now. */
  notifyOtherNodes(turn: ClaimableCampaign): void;
  /** `hasWork`: whether the connections that are open will be needed any longer. */
  slots(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
  /** Looks for work soon. */
  lookForWork(): void;
  stopCampaign(companyId: string, campaignId: string, error: string): Promise<void>;
}
