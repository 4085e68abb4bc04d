import type { ServiceContract } from "../define.ts";
import { campaigns } from "./contract-campaigns.ts";
import { media } from "./contract-media.ts";
import { sending } from "./contract-sending.ts";
import { work } from "./contract-work.ts";

export const contract = { ...sending, ...campaigns, ...media, ...work } as const satisfies ServiceContract;
