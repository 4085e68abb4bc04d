/**
 * How far V8's heap grows before all of it is looked through for garbage. Where it may have 512 MB V8 did so after every 10 MB that
 * mails, requests and answers left behind on top of 70 to 80: beside newsletters each five seconds. Each time the event loop is in
 * use for 0.2 to 0.4 s, in which whoever asks waits for 70 to 150 ms: more than everything else together of the slowest hundredth of
 * other companies' requests. Now it does so at 130 to 140 MB, once in a minute or two, and a process takes 40 MB more.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** On top of what was left; V8 takes less near its limit. */
const GROWING_PERCENT = 200;
/** Of `--max-old-space-size=512`; with less (a pod that has 512 MiB in all) memory matters more. */
const LEAST_LIMIT_BYTES = 500 * 1024 ** 2;

/** From the next such look on. */
export function letHeapGrow(): void {
  if (getHeapStatistics().heap_size_limit >= LEAST_LIMIT_BYTES)
    setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
