/**
 * Marks SMTP configurations whose limits cannot be counted because Redis is unavailable, so that their campaigns show
 * the reason (CAMPAIGN_ERROR in models/campaign.ts). Marks expire.
 */
import { performance } from "node:perf_hooks";
import { query } from "../../../models/database/db.ts";

const NOTE_AGAIN_MS = 5_000;
const NOTE = `update smtp_configs set limits_unknown_until = now() + interval '10 seconds' where company_id = $1 and id = $2`;

export class UnknownLimits {
  /** Time of the last mark of each, by the monotonic clock. */
  readonly #notedAtMs = new Map<string, number>();

  note(companyId: string, smtpConfigId: string): void {
    const now = performance.now();
    if (now - (this.#notedAtMs.get(smtpConfigId) ?? Number.NEGATIVE_INFINITY) < NOTE_AGAIN_MS) return;
    for (const [id, atMs] of this.#notedAtMs) if (now - atMs > NOTE_AGAIN_MS) this.#notedAtMs.delete(id);
    this.#notedAtMs.set(smtpConfigId, now);
    // If PostgreSQL is unavailable too, the mark could not be read either.
    void query(NOTE, [companyId, smtpConfigId]).catch(() => {});
  }
}
