import { type BudgetClient, InDoubtBudget } from "../../../services/smtp-sender/limits/in-doubt-budget.ts";

const client = (): BudgetClient & { retried: number } => ({
  held: 0,
  mailBytes: 1,
  slow: false,
  retried: 0,
  budgetReturned() {
    this.retried++;
  },
});

test("no more units are granted than the total, and a tenth stays free of bulk mail", () => {
  const budget = new InDoubtBudget(100);
  const bulk = client();
  expect(budget.take(bulk, 1_000, false)).toBe(90);
  expect(budget.take(bulk, 1, false)).toBe(0);
  expect(budget.take(client(), 50, true)).toBe(10);
  expect(budget.held).toBe(100);
});

test("a total of one still lets bulk through", () => {
  expect(new InDoubtBudget(1).take(client(), 10, false)).toBe(1);
});

test("slow transports share half of the budget", () => {
  const budget = new InDoubtBudget(100);
  const [slow, slower, fast] = [client(), client(), client()];
  budget.setSlow(slow, true);
  budget.setSlow(slower, true);
  expect(budget.take(slow, 40, false)).toBe(40);
  expect(budget.take(slower, 40, false)).toBe(10);
  expect(budget.take(fast, 40, false)).toBe(40);
  budget.giveBack(slow, 40);
  expect(budget.take(slower, 100, false)).toBeLessThanOrEqual(40);
});

test("a transport that became slow counts as slow with its held units", () => {
  const budget = new InDoubtBudget(100);
  const [one, two] = [client(), client()];
  budget.take(one, 50, false);
  budget.setSlow(one, true);
  budget.setSlow(two, true);
  expect(budget.take(two, 10, false)).toBe(0);
  budget.setSlow(one, false);
  expect(budget.take(two, 10, false)).toBe(10);
});

test("a waiting client is called when something is returned, and served before one that holds more than its share", async () => {
  const budget = new InDoubtBudget(100);
  const [greedy, late] = [client(), client()];
  budget.take(greedy, 90, false);
  expect(budget.take(late, 10, false)).toBe(0);
  // The greedy client gets nothing of the returned units until the late one has arrived.
  const taken: number[] = [];
  late.budgetReturned = () => taken.push(budget.take(late, 10, false));
  budget.giveBack(greedy, 10);
  await Promise.resolve();
  expect(taken).toEqual([10]);
});

test("promised units may be taken in advance, except those reserved for transactional mail, and never more than all", () => {
  const budget = new InDoubtBudget(100);
  const bulk = client();
  expect(budget.take(bulk, 1_000, false)).toBe(90);
  expect(budget.take(bulk, 1_000, false, 40)).toBe(40);
  expect(budget.take(bulk, 1, false, 40)).toBe(0);
  expect(budget.held).toBe(130);
  budget.giveBack(bulk, 40);
  expect(budget.take(bulk, 1, false)).toBe(0);
  expect(budget.take(client(), 10, true)).toBe(10);
  const other = new InDoubtBudget(100);
  expect(other.take(bulk, 1_000, true, 5_000)).toBe(200);
});
