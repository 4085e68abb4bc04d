/**
 * CPU milliseconds that this process takes for the work, in all its threads: what is too slow shows on any machine, and a
 * busy one does not make it look slower, as it would by the clock.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
