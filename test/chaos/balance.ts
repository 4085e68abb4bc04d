/** Selects gateways like a load balancer: round robin over those whose /ready succeeds. */
import { setTimeout as sleep } from "node:timers/promises";

const ASK_EVERY_MS = 500;
const ASK_TIMEOUT_MS = 1_000;
/** A single late answer does not remove a gateway; one success brings it back. */
const OUT_AFTER = 2;

export interface Front {
  url(): string;
  stop(): Promise<void>;
}

const isReady = (url: string) =>
  fetch(`${url}/ready`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

export function balance(urls: readonly string[]): Front {
  const misses = new Map(urls.map((url) => [url, 0]));
  let over = false;
  let turn = 0;
  const asking = urls.map(async (url) => {
    while (!over) {
      misses.set(url, (await isReady(url)) ? 0 : misses.get(url)! + 1);
      await sleep(ASK_EVERY_MS);
    }
  });
  return {
    url() {
      const ready = urls.filter((url) => misses.get(url)! < OUT_AFTER);
      // Without a ready gateway any will do, so that the client sees the error.
      const among = ready.length > 0 ? ready : urls;
      return among[turn++ % among.length]!;
    },
    async stop() {
      over = true;
      await Promise.all(asking);
    },
  };
}
