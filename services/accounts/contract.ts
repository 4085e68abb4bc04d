import { contract as auth } from "./contract-auth.ts";
import { contract as company } from "./contract-company.ts";
import { contract as operators } from "./contract-operators.ts";

export const contract = { ...auth, ...company, ...operators } as const;
