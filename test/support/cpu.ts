/**
 * CPU milliseconds that this process uses for the work, over all threads. Unlike elapsed time, this does not grow on a
 * busy machine.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
