export default async function globalTeardown(): Promise<void> {
  const stop = (globalThis as { stopTestDatabase?: () => Promise<void> }).stopTestDatabase;
  await stop?.();
}
