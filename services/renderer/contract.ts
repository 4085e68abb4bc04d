import type { ServiceContract } from "../define.ts";

export const contract = {} as const satisfies ServiceContract;
