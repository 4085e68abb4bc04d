/** As a load balancer chooses among gateways: in turn, those that answer /ready on the API's port. */
import { setTimeout as sleep } from "node:timers/promises";

const ASK_EVERY_MS = 500;
const ASK_TIMEOUT_MS = 1_000;
/** One answer that is late says little; one that is there says enough. */
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
      // With none of them any is as good: whoever asks sees why.
      const among = ready.length > 0 ? ready : urls;
      return among[turn++ % among.length]!;
    },
    async stop() {
      over = true;
      await Promise.all(asking);
    },
  };
}
