import type { ServiceContract } from "../define.ts";
import { ById, Nothing, Type } from "../lib/shapes.ts";
import { Plan, PlanUsage } from "./contract-shapes.ts";

export const contract = {
  getPlan: {
    summary: "Plan, limits and usage",
    description:
      "A limit of null is unlimited. API calls count per API key (with a bearer token: per company) and UTC day, emails per UTC month, SMTP per rolling hour.",
    params: ById,
    returns: PlanUsage,
  },
  planOf: { summary: "The company's plan, at most a second old", params: Type.Object({}), returns: Plan },
  requireFeature: {
    summary: "403 when the company's plan lacks a feature",
    params: Type.Object({ feature: Type.String() }),
    returns: Nothing,
  },
  admitEmails: {
    summary: "403 when so many emails would exceed the month's quota",
    params: Type.Object({ emails: Type.Integer({ minimum: 0 }) }),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
