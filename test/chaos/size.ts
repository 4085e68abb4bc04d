/** `npm run test:chaos`: a larger cluster, faults that last longer, for as long as CHAOS_MINUTES says. */
export const CHAOS_LONG = process.env.CHAOS === "long";
