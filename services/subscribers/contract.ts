import type { ServiceContract } from "../define.ts";
import { contract as bulk } from "./contract-bulk.ts";
import { contract as lists } from "./contract-lists.ts";
import { contract as people } from "./contract-people.ts";
import { contract as segments } from "./contract-segments.ts";
import { contract as subscribers } from "./contract-subscribers.ts";
import { contract as suppressions } from "./contract-suppressions.ts";

export const contract = {
  ...subscribers,
  ...bulk,
  ...lists,
  ...suppressions,
  ...segments,
  ...people,
} as const satisfies ServiceContract;
