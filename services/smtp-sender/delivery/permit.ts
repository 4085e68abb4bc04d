/**
 * All that was granted for one recipient before the mail may go. It is given back here and nowhere else.
 *
 * | granted                     | from                | until                                                       | given back                          |
 * |-----------------------------|---------------------|-------------------------------------------------------------|-------------------------------------|
 * | a unit of MAX_IN_DOUBT      | before it is marked | its result is written, or no mark in the database covers it | always (`end`)                      |
 * | room in the company's hour, and in the day of a warm-up | before it is marked | the answer                      | unless the mail was accepted, or may have been |
 * | room within the limits of its domain | before it is marked | the hand-over                                      | where it was not handed over        |
 * | a connection of its domain  | the hand-over       | the answer                                                  | always                              |
 */
import { performance } from "node:perf_hooks";
import type { DomainConnections } from "../domains/domain-connections.ts";
import type { DomainGate, DomainRoom } from "../domains/domain-gate.ts";
import type { HourToken, HourTokens } from "../limits/hour-limit.ts";
import type { BudgetClient, InDoubtBudget } from "../limits/in-doubt-budget.ts";

/** Limits that grant the permits of a batch. */
export interface Granters {
  readonly hour: HourTokens;
  readonly domains: DomainGate;
  readonly budget: InDoubtBudget;
  /** Takes of the budget. */
  readonly client: BudgetClient;
}

export class Permit {
  readonly #granters: Granters;
  #isInDoubt = true;
  #hour: HourToken | undefined;
  #room: DomainRoom | undefined;
  #connections: DomainConnections | undefined;
  #handedOverAtMs = 0;

  private constructor(granters: Granters) {
    this.#granters = granters;
  }

  /** At most `n`, as far as the budget goes. `promised`: units that come back before, or together with, the mark of these. */
  static take(granters: Granters, n: number, isTransactional: boolean, promised: number): Permit[] {
    const { budget, client } = granters;
    const taken = n === 0 ? 0 : budget.take(client, n, isTransactional, promised);
    const permits: Permit[] = [];
    while (permits.length < taken) permits.push(new Permit(granters));
    return permits;
  }

  grantHour(token: HourToken): void {
    this.#hour = token;
  }

  grantDomain(room: DomainRoom | undefined): void {
    this.#room = room;
  }

  /** Within the limits of its domain; undefined: none was needed, or it was used. */
  get room(): DomainRoom | undefined {
    return this.#room;
  }

  /** More than half of its time is left: enough to write the body of the mail. */
  get isFresh(): boolean {
    return this.#hour === undefined || this.#granters.hour.isFresh(this.#hour);
  }

  /** Its room in hour and day has not expired. */
  get isValid(): boolean {
    return this.#hour === undefined || this.#granters.hour.isValid(this.#hour);
  }

  /** A connection takes the mail: the room within its domain's limits is used, whatever the answer. */
  handedOver(): void {
    const room = this.#room;
    if (!room) return;
    this.#room = undefined;
    if (!room.connections) return;
    this.#connections = room.connections;
    this.#handedOverAtMs = performance.now();
    room.connections.begin();
  }

  /** The connection has the answer. */
  answered(): void {
    this.#connections?.end(performance.now() - this.#handedOverAtMs);
    this.#connections = undefined;
  }

  /** `isUsed`: the mail was accepted, or may have been. Else it does not go now. A second call has no effect. */
  settle(isUsed: boolean): void {
    if (isUsed) this.#hour = undefined;
    else if (this.#hour || this.#room) Permit.giveBack([this]);
  }

  /** Gives back the permits of mails that do not go now; all of one batch. Grouped, because a return may be a statement. */
  static giveBack(permits: readonly Permit[]): void {
    const rooms: DomainRoom[] = [];
    const tokens = new Map<string, HourToken[]>();
    for (const permit of permits) {
      if (permit.#room) rooms.push(permit.#room);
      const token = permit.#hour;
      permit.#room = undefined;
      permit.#hour = undefined;
      if (!token) continue;
      const key = `${token.bucket} ${token.ofDay?.day.date ?? ""}`;
      const same = tokens.get(key);
      if (same) same.push(token);
      else tokens.set(key, [token]);
    }
    if (rooms.length > 0) permits[0]!.#granters.domains.give(...rooms);
    for (const same of tokens.values()) void permits[0]!.#granters.hour.give(...same);
  }

  /** The recipient cannot be in doubt any more. A second call has no effect. */
  end(): void {
    if (!this.#isInDoubt) return;
    this.#isInDoubt = false;
    this.#granters.budget.give(this.#granters.client, 1);
  }
}
