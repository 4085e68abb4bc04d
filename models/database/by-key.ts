/**
 * Settings of connections whose statements look up few rows by key and are planned once for all values. The plan is
 * known, so it must not depend on current statistics: a plan made for an empty table reads the whole table, and is kept
 * when it has a million rows.
 */
export const BY_KEY = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // Off, because it makes the planner expect a single look-up, for which reading the whole table costs as little.
  enable_memoize: "off",
} as const;
