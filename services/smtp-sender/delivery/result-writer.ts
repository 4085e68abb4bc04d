/** Runs the statement that writes a group of results: the least that does, and the whole one where there is more to write. */
import { performance } from "node:perf_hooks";
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { recordStatement } from "./record-statement.ts";
import type { ChunkUpdate, LeasedChunk, RecordedResult } from "./recorded-result.ts";
import type { ReplyPatterns } from "./reply-patterns.ts";

/** A company that had a webhook for accepted mails is taken to have one for so long. */
const WEBHOOKS_KNOWN_MS = 60_000;

interface Writer {
  connection: PinnedConnection;
  replies: ReplyPatterns;
  owner: string;
  leaseMs: number;
}

export interface Group {
  results: readonly RecordedResult[];
  chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>;
  /** Without events and webhooks. */
  rowOnly: boolean;
}

export interface Answer {
  /** Those that are held. */
  leases: [campaignId: string, no: number][] | null;
  stopped: [campaignId: string, error: string][] | null;
  over_guard: [companyId: string, campaignId: string][] | null;
  webhook_company_ids: string[] | null;
  /** How many of the results; the others were fenced off. */
  written: number;
  /** Nothing was written, because these companies have webhooks that want to know of accepted mails. */
  wanted_by?: string[] | null;
}

export class ResultWriter {
  #writer: Writer;
  /** Learnt from the answers, so a hint only: the statement without webhooks looks for itself (record-accepted.ts). */
  #withWebhooks = new Set<string>();
  #forgetAt = 0;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async write({ results, chunks, rowOnly }: Group): Promise<Answer> {
    const { connection, replies, owner, leaseMs } = this.#writer;
    for (let withWebhooks = this.#haveWebhooks(results); ; withWebhooks = true) {
      const options = { owner, leaseMs, rowOnly, withWebhooks, replies };
      const { name, text, values } = recordStatement(results, chunks, options);
      const [answer] = await connection.run<Answer>(name, text, values);
      if (!answer!.wanted_by) return answer!;
      this.#noteWebhooks(answer!.wanted_by);
    }
  }

  #noteWebhooks(companyIds: readonly string[]): void {
    if (this.#withWebhooks.size === 0) this.#forgetAt = performance.now() + WEBHOOKS_KNOWN_MS;
    for (const id of companyIds) this.#withWebhooks.add(id);
  }

  #haveWebhooks(results: readonly RecordedResult[]): boolean {
    if (this.#withWebhooks.size === 0) return false;
    if (performance.now() > this.#forgetAt) this.#withWebhooks.clear();
    return results.some(({ companyId }) => this.#withWebhooks.has(companyId));
  }
}
