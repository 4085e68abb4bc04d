/**
 * Schedules delivery attempts fairly: round robin over companies, then over the endpoints of each company. Neither a
 * company with thousands of endpoints nor an endpoint with a million events delays the others. A node has one queue for
 * working and one for failing endpoints.
 */
import type { DueEndpoint, Grant } from "../../models/statements/webhook-deliveries.ts";

export interface QueueLimits {
  inFlight: number;
  perCompany: number;
  perEndpoint: number;
}

type Endpoint = Pick<DueEndpoint, "companyId" | "endpointId">;

interface EndpointState {
  companyId: string;
  inFlight: number;
  /** True if more deliveries may be due. */
  waits: boolean;
}

export class EndpointQueue {
  readonly #limits: QueueLimits;
  readonly #endpoints = new Map<string, EndpointState>();
  /** Waiting endpoints by company; both levels in round-robin order. */
  readonly #turns = new Map<string, Set<string>>();
  readonly #inFlightByCompany = new Map<string, number>();
  #inFlight = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Number of endpoints held in memory: waiting or with attempts in flight. */
  get size(): number {
    return this.#endpoints.size;
  }

  /** Number of companies that may have due deliveries. */
  get waiting(): number {
    return this.#turns.size;
  }

  add({ companyId, endpointId }: Endpoint): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (endpoint) endpoint.waits = true;
    else this.#endpoints.set(endpointId, { companyId, inFlight: 0, waits: true });
    const turns = this.#turns.get(companyId);
    if (turns) turns.add(endpointId);
    else this.#turns.set(companyId, new Set([endpointId]));
  }

  /** Removes an endpoint that has no more deliveries or belongs to the other queue. Returns true if it was waiting. */
  remove(endpointId: string): boolean {
    const state = this.#endpoints.get(endpointId);
    if (!state?.waits) return false;
    state.waits = false;
    const turns = this.#turns.get(state.companyId);
    turns?.delete(endpointId);
    if (turns?.size === 0) this.#turns.delete(state.companyId);
    this.#forgetIfIdle(endpointId, state);
    return true;
  }

  /** Allocates free attempts to endpoints. They count as in flight only after `begin`. */
  grant(): Grant[] {
    const granted = new Map<string, Grant>();
    const grantedByCompany = new Map<string, number>();
    let free = this.#limits.inFlight - this.#inFlight;
    const companies = this.#firstTurns(free);
    // Grants one attempt per company in each round.
    for (let given = 1; given > 0 && free > 0; ) {
      given = 0;
      for (const companyId of companies) {
        const used = (this.#inFlightByCompany.get(companyId) ?? 0) + (grantedByCompany.get(companyId) ?? 0);
        if (free === 0 || used >= this.#limits.perCompany) continue;
        const endpointId = this.#nextOf(companyId, granted);
        if (!endpointId) continue;
        this.#endpointToTheEnd(companyId, endpointId);
        const grant = granted.get(endpointId) ?? { companyId, endpointId, slots: 0 };
        grant.slots++;
        granted.set(endpointId, grant);
        grantedByCompany.set(companyId, (grantedByCompany.get(companyId) ?? 0) + 1);
        given++;
        free--;
      }
    }
    for (const companyId of grantedByCompany.keys()) this.#toTheEnd(companyId);
    return [...granted.values()];
  }

  /**
   * Returns the next companies in round-robin order. Companies at their limit are skipped later; at most `#inFlight`
   * companies can be at it, so `free + #inFlight` candidates suffice.
   */
  #firstTurns(free: number): string[] {
    const first: string[] = [];
    if (free === 0) return first;
    for (const companyId of this.#turns.keys()) {
      first.push(companyId);
      if (first.length === free + this.#inFlight) break;
    }
    return first;
  }

  #nextOf(companyId: string, granted: ReadonlyMap<string, Grant>): string | undefined {
    for (const endpointId of this.#turns.get(companyId)!) {
      const { inFlight } = this.#endpoints.get(endpointId)!;
      if (inFlight + (granted.get(endpointId)?.slots ?? 0) < this.#limits.perEndpoint) return endpointId;
    }
    return undefined;
  }

  #endpointToTheEnd(companyId: string, endpointId: string): void {
    const turns = this.#turns.get(companyId)!;
    turns.delete(endpointId);
    turns.add(endpointId);
  }

  #toTheEnd(companyId: string): void {
    const turns = this.#turns.get(companyId);
    if (!turns) return;
    this.#turns.delete(companyId);
    this.#turns.set(companyId, turns);
  }

  begin({ endpointId, companyId }: Endpoint): void {
    if (!this.#endpoints.has(endpointId)) this.add({ companyId, endpointId });
    this.#endpoints.get(endpointId)!.inFlight++;
    this.#count(companyId, 1);
    this.#inFlight++;
  }

  end({ endpointId, companyId }: Endpoint): void {
    const state = this.#endpoints.get(endpointId)!;
    state.inFlight--;
    this.#count(companyId, -1);
    this.#inFlight--;
    this.#forgetIfIdle(endpointId, state);
  }

  #count(companyId: string, change: 1 | -1): void {
    const n = (this.#inFlightByCompany.get(companyId) ?? 0) + change;
    if (n === 0) this.#inFlightByCompany.delete(companyId);
    else this.#inFlightByCompany.set(companyId, n);
  }

  #forgetIfIdle(endpointId: string, { inFlight, waits }: EndpointState): void {
    if (inFlight === 0 && !waits) this.#endpoints.delete(endpointId);
  }
}
