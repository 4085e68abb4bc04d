/**
 * Settings of connections whose statements find a few rows by key and are planned once for whatever values come. The plan
 * is known, so it must not depend on what the planner knows at that moment: of an empty table it reads all, for each row
 * wanted, and goes on when there are a million (measured: 2,200 redirects a second instead of 12,000).
 */
export const BY_KEY = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // It makes the planner expect one look-up for all, for which reading everything costs as little.
  enable_memoize: "off",
} as const;
