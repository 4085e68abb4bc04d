import type { ServiceContract } from "../define.ts";
import { configs } from "./contract-configs.ts";
import { work } from "./contract-work.ts";

export const contract = { ...configs, ...work } as const satisfies ServiceContract;
