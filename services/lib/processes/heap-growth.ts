/**
 * How far V8's heap grows before all of it is looked through for garbage. With at most 512 MB V8 does so at 1.3 to 1.6 times what
 * was left of it: of 70 MB after every 10 MB that mails, requests and answers left behind, which beside newsletters was each five
 * seconds. Each time the event loop is in use for 0.2 to 0.4 s, in which whoever asks waits for 70 to 150 ms: more than everything
 * else together of the slowest hundredth of other companies' requests. Now it is once in a minute or two, for 40 MB more.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** Three times what was left, but never more than half of the way to the limit. */
const GROWING_PERCENT = 200;
/** Of `--max-old-space-size=512`; with less (a pod that has 512 MiB in all) memory matters more. */
const LEAST_LIMIT_BYTES = 500 * 1024 ** 2;

/** From the next such look on. */
export function letHeapGrow(): void {
  if (getHeapStatistics().heap_size_limit >= LEAST_LIMIT_BYTES)
    setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
