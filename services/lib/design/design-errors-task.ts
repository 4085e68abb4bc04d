/** Runs in a worker thread. */
export { designErrors } from "./check.ts";
