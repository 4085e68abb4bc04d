/** What a lane and a relay need of the engine. */

import type { Line } from "../../../models/database/pinned-connection.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import type { Rendered } from "../../renderer/contract.ts";
import type { Lane } from "../delivery/batch-delivery.ts";
import type { Outcome } from "../delivery/outcome.ts";
import type { Recorder } from "../delivery/recorder.ts";
import type { RecipientRow, Turn } from "../delivery/rows.ts";
import type { Slots } from "../limits/connection-slots.ts";
import type { Budget } from "../limits/in-doubt-budget.ts";
import type { EngineSettings } from "./settings.ts";

export interface Tools {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly budget: Budget;
  readonly limiter: Limiter;
  readonly recorder: Recorder;
  /** For reading recipients; results go over a line of their own, so that neither waits for the other. */
  readonly reads: Line;
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<Rendered[]>;
  /** Something that is needed is away; told once, until it works again. */
  trouble(error: Error): void;
  /** Does it until it succeeds, within reason: for what must not be forgotten. */
  insist(work: () => Promise<void>): Promise<void>;
  count(status: Outcome["status"]): void;
  /** The company's hour is full: no lease for it until then. */
  parkCompany(companyId: string, ms: number): void;
  /** Nothing of this campaign for some seconds. */
  skipCampaign(campaignId: string): void;
  /** `whole`: every recipient of it is settled or waits by itself. */
  laneOver(lane: Lane, whole: boolean, leaseIsLost: boolean): void;
  /** Other nodes should look for this work now. */
  passOn(turn: Turn): void;
  /** `hasWork`: whether the connections that are open will be needed any longer. */
  slots(smtpConfigId: string, hasWork: () => boolean): Slots;
  /** Looks for work soon. */
  kick(): void;
  stopCampaign(companyId: string, campaignId: string, error: string): Promise<void>;
}
