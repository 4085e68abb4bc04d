/**
 * Runs tests that mostly wait (windows, leases, slow servers) concurrently, and reports each under its own name. They
 * may share servers and an engine only, which no hook may end in between.
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
