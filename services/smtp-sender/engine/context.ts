/** What claims, batches and transports need of the engine. */
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { Batch } from "../delivery/batch.ts";
import type { Outcome } from "../delivery/outcome.ts";
import type { Recorder } from "../delivery/recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "../delivery/rows.ts";
import type { ConnectionSlots } from "../limits/connection-slots.ts";
import type { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import type { MakingTime } from "../transport/making-time.ts";
import type { EngineSettings } from "./settings.ts";

export interface EngineContext {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly budget: InDoubtBudget;
  readonly limiter: Limiter;
  /** Bounds how long mails are made at a time. */
  readonly making: MakingTime;
  readonly recorder: Recorder;
  /** For reading recipients. Results are written over a connection of their own, so that neither waits for the other. */
  readonly reads: PinnedConnection;
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<(Rendered | MakeMail)[]>;
  /** Claims name the database's timeline (database-history.ts); null: any. Undefined: nothing may be claimed now. */
  timeline(): string | null | undefined;
  /** Something that is needed is away; logged once, until it works again. */
  reportOutage(error: Error): void;
  /** The configuration's limits cannot be counted: its campaigns say so. */
  limitsUnknown(companyId: string, smtpConfigId: string): void;
  /** For what must not be forgotten: `what` names it in the log, should the process stop before it succeeds. */
  retryUntilDone(what: string, work: () => Promise<void>): Promise<void>;
  count(status: Outcome["status"]): void;
  /** The company's hour is full: no lease for it until then. */
  parkCompany(companyId: string, ms: number): void;
  /** The day of an SMTP configuration is full: nothing is claimed for it until then. */
  parkConfig(smtpConfigId: string, ms: number): void;
  /** Claims nothing of this campaign for some seconds. */
  skipCampaign(campaignId: string): void;
  /** `complete`: every recipient of it is final or waits by itself. Resolves when its lease is closed or given back. */
  batchOver(batch: Batch, complete: boolean, leaseIsLost: boolean): Promise<void>;
  /** Other nodes should look for work of this campaign now. */
  notifyOtherNodes(campaign: ClaimableCampaign): void;
  /** `hasWork`: whether the open connections will be needed any longer. */
  slots(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
  /** Looks for work soon. */
  lookForWork(): void;
  stopCampaign(companyId: string, campaignId: string, error: string): Promise<void>;
}
