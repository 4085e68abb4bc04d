import pg from "pg";

/** Records the statements that this process sends to PostgreSQL during `work`. */
export async function statementsOf(work: () => Promise<unknown>): Promise<{ text: string; values: unknown[] }[]> {
  const asked: { text: string; values: unknown[] }[] = [];
  const ask = pg.Client.prototype.query;
  const spy = jest.spyOn(pg.Client.prototype, "query").mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [first, values] = given as [string | { text: string; values?: unknown[] }, unknown[]?];
    if (typeof first === "string") asked.push({ text: first, values: values ?? [] });
    else asked.push({ text: first.text, values: first.values ?? [] });
    return ask.apply(this, given as never);
  } as never);
  await work().finally(() => spy.mockRestore());
  return asked;
}
