/** Everything granted for an email is used or returned exactly once (services/smtp-sender/delivery/permit.ts). */
import { type Granters, Permit } from "../../../services/smtp-sender/delivery/permit.ts";
import type { DomainToken } from "../../../services/smtp-sender/domains/domain-gate.ts";
import type { HourToken } from "../../../services/smtp-sender/limits/hour-limit.ts";
import { InDoubtBudget } from "../../../services/smtp-sender/limits/in-doubt-budget.ts";

function granting() {
  const given: string[] = [];
  const budget = new InDoubtBudget(10);
  const client = { held: 0, mailBytes: 1, slow: false, budgetReturned: () => {} };
  const granters = {
    hour: {
      giveBack: async (...tokens: HourToken[]) => void given.push(`hour ${tokens[0]!.bucket}: ${tokens.length}`),
      isFresh: ({ until }: HourToken) => until !== 0,
      isValid: ({ until }: HourToken) => until !== 0,
    },
    domains: { giveBack: (...tokens: DomainToken[]) => void given.push(`domain: ${tokens.length}`) },
    budget,
    client,
  } as unknown as Granters;
  return { given, budget, take: (n: number) => Permit.take(granters, n, true, 0) };
}

const token = (bucket: number, until?: number): HourToken => ({ bucket, mails: 1, until });
const domainToken = (connections?: object) => ({ domain: "a.example", connections }) as unknown as DomainToken;

test("no more permits are granted than the budget in doubt allows; each returns its unit once", () => {
  const { budget, take } = granting();
  const permits = take(15);
  expect([permits.length, budget.held]).toEqual([10, 10]);
  permits[0]!.end();
  permits[0]!.end();
  expect(budget.held).toBe(9);
  for (const permit of permits) permit.end();
  expect(budget.held).toBe(0);
});

test("an email that was accepted, or may have been, uses its hourly token; one that was not returns it, once", () => {
  const { given, take } = granting();
  const [used, unused] = take(2);
  for (const permit of [used!, unused!]) permit.grantHour(token(1));
  used!.settle(true);
  used!.settle(false);
  expect(given).toEqual([]);
  unused!.settle(false);
  unused!.settle(false);
  expect(given).toEqual(["hour 1: 1"]);
});

test("the domain token is used at the handover, whatever the reply, and its connection slot until the reply", () => {
  const { given, take } = granting();
  const [permit] = take(1);
  const held: string[] = [];
  permit!.grantDomain(domainToken({ begin: () => held.push("begun"), end: () => held.push("ended") }));
  permit!.handedOver();
  expect([permit!.domainToken, held]).toEqual([undefined, ["begun"]]);
  permit!.answered();
  permit!.answered();
  permit!.settle(false);
  expect([held, given]).toEqual([["begun", "ended"], []]);
});

test("emails that are requeued together return tokens together, to the bucket of each grant", () => {
  const { given, take } = granting();
  const permits = take(4);
  for (const [n, permit] of permits.entries()) {
    permit.grantHour(token(n < 3 ? 1 : 2));
    if (n % 2 === 0) permit.grantDomain(domainToken());
  }
  Permit.giveBack(permits);
  Permit.giveBack(permits);
  expect(given).toEqual(["domain: 2", "hour 1: 3", "hour 2: 1"]);
});

test("a permit whose hour has expired is neither fresh nor valid; without an hour it does not expire", () => {
  const [expired, plain] = granting().take(2);
  expired!.grantHour(token(1, 0));
  expect([expired!.isFresh, expired!.isValid, plain!.isFresh, plain!.isValid]).toEqual([false, false, true, true]);
});
