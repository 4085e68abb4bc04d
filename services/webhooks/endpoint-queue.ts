/**
 * Endpoints that have something to deliver, and what is in flight to them on this node: one queue for those that work, one
 * for those that fail. Companies take turns, and each gives its endpoints turns, so that neither a company with thousands of
 * endpoints nor an endpoint with a million events holds up the others.
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
  /** More of it may be due. */
  waits: boolean;
}

export class EndpointQueue {
  readonly #limits: QueueLimits;
  readonly #endpoints = new Map<string, EndpointState>();
  /** The endpoints that wait by company; both in the order of their turns. */
  readonly #turns = new Map<string, Set<string>>();
  readonly #inFlightByCompany = new Map<string, number>();
  #inFlight = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** How many endpoints wait for a lane or have something in flight: what memory is needed for. */
  get size(): number {
    return this.#endpoints.size;
  }

  /** Companies of which something may be due. */
  get waiting(): number {
    return this.#turns.size;
  }

  add({ companyId, endpointId }: Endpoint): void {
    const known = this.#endpoints.get(endpointId);
    if (known) known.waits = true;
    else this.#endpoints.set(endpointId, { companyId, inFlight: 0, waits: true });
    const turns = this.#turns.get(companyId);
    if (turns) turns.add(endpointId);
    else this.#turns.set(companyId, new Set([endpointId]));
  }

  /** It has nothing more, or belongs to the other queue. True where it had waited. */
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

  /** Which endpoints may take how many now. What is granted is in flight from when it `begins`. */
  grant(): Grant[] {
    const granted = new Map<string, Grant>();
    const grantedByCompany = new Map<string, number>();
    let free = this.#limits.inFlight - this.#inFlight;
    const companies = this.#firstTurns(free);
    // Each round gives each company one lane, as long as there are any.
    for (let given = 1; given > 0 && free > 0; ) {
      given = 0;
      for (const companyId of companies) {
        const used = (this.#inFlightByCompany.get(companyId) ?? 0) + (grantedByCompany.get(companyId) ?? 0);
        if (free === 0 || used >= this.#limits.perCompany) continue;
        const endpointId = this.#nextOf(companyId, granted);
        if (!endpointId) continue;
        this.#endpointToTheEnd(companyId, endpointId);
        const grant = granted.get(endpointId) ?? { companyId, endpointId, lanes: 0 };
        grant.lanes++;
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
   * Companies in turn, no more of them than can be served: those that have all that they may are passed over, and there are
   * at most as many as attempts in flight.
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
      if (inFlight + (granted.get(endpointId)?.lanes ?? 0) < this.#limits.perEndpoint) return endpointId;
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

  #count(companyId: string, by: 1 | -1): void {
    const n = (this.#inFlightByCompany.get(companyId) ?? 0) + by;
    if (n === 0) this.#inFlightByCompany.delete(companyId);
    else this.#inFlightByCompany.set(companyId, n);
  }

  #forgetIfIdle(endpointId: string, { inFlight, waits }: EndpointState): void {
    if (inFlight === 0 && !waits) this.#endpoints.delete(endpointId);
  }
}
