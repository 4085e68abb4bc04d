/**
 * Tests that mostly wait for clocks (windows, leases, slow servers): all of them begin with the first one, and each is
 * reported under its own name. For those that share nothing but servers and an engine, which no hook may end between them.
 */
export function sideBySide(tests: Record<string, () => Promise<void>>): void {
  const names = Object.keys(tests);
  let ends: Promise<PromiseSettledResult<void>[]> | undefined;
  const run = () => (ends ??= Promise.allSettled(names.map((name) => tests[name]!())));
  for (const [n, name] of names.entries()) {
    test(name, async () => {
      const end = (await run())[n]!;
      if (end.status === "rejected") throw end.reason;
    });
  }
}
