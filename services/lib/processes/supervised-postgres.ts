/**
 * Restarts the embedded PostgreSQL on the same port if it ends unexpectedly (for example killed for its memory): the
 * service waits as for any unavailable database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

/** Children of a killed server hold its memory for a moment; a new one refuses to start until they have exited. */
const PAUSE_MS = 500;

export async function supervisedPostgres(
  directory: string,
  warn: (text: string) => void,
): Promise<Omit<EmbeddedPostgres, "ended">> {
  let current = await startEmbeddedPostgres(directory);
  const { url } = current;
  const port = new URL(url).port;
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();

  async function restart(): Promise<void> {
    warn("The embedded PostgreSQL ended; starting it again");
    while (!stopping) {
      try {
        current = await startEmbeddedPostgres(directory, { port });
        return watch();
      } catch (error) {
        warn(`The embedded PostgreSQL does not start: ${(error as Error).message}`);
        await sleep(PAUSE_MS);
      }
    }
  }
  function watch(): void {
    current.ended.then(() => {
      if (!stopping) restarting = restart();
    });
  }
  watch();

  return {
    url,
    async stop(withinMs) {
      stopping = true;
      await restarting;
      await current.stop(withinMs);
    },
  };
}
