import { contract as auth } from "./contract-auth.ts";
import { contract as company } from "./contract-company.ts";
import { contract as operators } from "./contract-operators.ts";
import { contract as people } from "./contract-people.ts";

export const contract = { ...auth, ...people, ...company, ...operators } as const;
