/**
 * Holds everything granted to one recipient before its email may be sent. Grants are returned only here.
 *
 * | grant | from | until | returned |
 * |---|---|---|---|
 * | a unit of MAX_IN_DOUBT | before it is marked | its result is written, or no mark in the database covers it | always (`end`) |
 * | hourly token, and daily token of a warm-up | before it is marked | the answer | unless the email was accepted, or may have been |
 * | domain token | before it is marked | the hand-over | if it was not handed over |
 * | domain connection slot | the hand-over | the answer | always |
 */
import { performance } from "node:perf_hooks";
import type { DomainConnections } from "../domains/domain-connections.ts";
import type { DomainGate, DomainToken } from "../domains/domain-gate.ts";
import type { HourToken, HourTokens } from "../limits/hour-limit.ts";
import type { BudgetClient, InDoubtBudget } from "../limits/in-doubt-budget.ts";

/** Limits that grant the permits of a batch. */
export interface Granters {
  readonly hour: HourTokens;
  readonly domains: DomainGate;
  readonly budget: InDoubtBudget;
  /** Takes permits from the budget. */
  readonly client: BudgetClient;
}

export class Permit {
  readonly #granters: Granters;
  #isInDoubt = true;
  #hour: HourToken | undefined;
  #domainToken: DomainToken | undefined;
  #connections: DomainConnections | undefined;
  #handedOverAtMs = 0;

  private constructor(granters: Granters) {
    this.#granters = granters;
  }

  /** Takes up to `n` permits within the budget. `promised`: units that are returned no later than these are marked. */
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

  grantDomain(token: DomainToken | undefined): void {
    this.#domainToken = token;
  }

  /** Domain token; undefined: none was needed, or it was used. */
  get domainToken(): DomainToken | undefined {
    return this.#domainToken;
  }

  /** True while more than half of the token's life is left: enough to write the body of the email. */
  get isFresh(): boolean {
    return this.#hour === undefined || this.#granters.hour.isFresh(this.#hour);
  }

  /** True while the hourly and daily tokens have not expired. */
  get isValid(): boolean {
    return this.#hour === undefined || this.#granters.hour.isValid(this.#hour);
  }

  /** Called when a connection takes the email: the domain token is used, whatever the reply. */
  handedOver(): void {
    const token = this.#domainToken;
    if (!token) return;
    this.#domainToken = undefined;
    if (!token.connections) return;
    this.#connections = token.connections;
    this.#handedOverAtMs = performance.now();
    token.connections.begin();
  }

  /** Called when the connection has the reply. */
  answered(): void {
    this.#connections?.end(performance.now() - this.#handedOverAtMs);
    this.#connections = undefined;
  }

  /** Ends the grants of this try. `isUsed`: the email was accepted, or may have been. A second call has no effect. */
  settle(isUsed: boolean): void {
    if (isUsed) this.#hour = undefined;
    else if (this.#hour || this.#domainToken) Permit.giveBack([this]);
  }

  /** Returns the permits of emails of one batch that are not sent now. Grouped, because a return may be a statement. */
  static giveBack(permits: readonly Permit[]): void {
    const domainTokens: DomainToken[] = [];
    const hourTokens = new Map<string, HourToken[]>();
    for (const permit of permits) {
      if (permit.#domainToken) domainTokens.push(permit.#domainToken);
      const token = permit.#hour;
      permit.#domainToken = undefined;
      permit.#hour = undefined;
      if (!token) continue;
      const key = `${token.bucket} ${token.ofDay?.day.date ?? ""}`;
      const same = hourTokens.get(key);
      if (same) same.push(token);
      else hourTokens.set(key, [token]);
    }
    if (domainTokens.length > 0) permits[0]!.#granters.domains.giveBack(...domainTokens);
    for (const same of hourTokens.values()) void permits[0]!.#granters.hour.giveBack(...same);
  }

  /** Called when the recipient can no longer be in doubt. A second call has no effect. */
  end(): void {
    if (!this.#isInDoubt) return;
    this.#isInDoubt = false;
    this.#granters.budget.giveBack(this.#granters.client, 1);
  }
}
