import { contract as auth } from "./contract-auth.ts";
import { contract as company } from "./contract-company.ts";
import { contract as keys } from "./contract-keys.ts";
import { contract as members } from "./contract-members.ts";
import { contract as operators } from "./contract-operators.ts";
import { contract as plans } from "./contract-plans.ts";

export const contract = { ...auth, ...company, ...keys, ...members, ...plans, ...operators } as const;
