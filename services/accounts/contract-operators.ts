/** Contracts of operator commands. No HTTP route leads here. */
import type { ServiceContract } from "../define.ts";
import { Email, Line, ListQuery, Name, Nothing, Nullable, Page, Time, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName, Limits, NewApiKey, Plan } from "./contract-account-shapes.ts";

/** The reason is written to the company's audit log, which its owners read. */
const ByCompany = Type.Object({ company_id: Uuid, reason: Type.Optional(Line(500)) });

const Paused = Type.Object({ id: Uuid, sending_paused_at: Nullable(Time) });

const Tenant = Type.Object({
  id: Uuid,
  name: Type.String(),
  plan: Type.String(),
  owners: Type.Array(Type.String()),
  subscribers: Type.Integer(),
  emails_this_month: Type.Integer(),
  sending_paused_at: Nullable(Time),
  created_at: Time,
});

export const contract = {
  listCompanies: {
    summary: "All companies with plan and usage",
    visibility: "public",
    params: ListQuery,
    returns: Page(Tenant),
  },
  createCompany: {
    summary: "Create a company and its first API key; for an owner's address, also the invitation",
    visibility: "public",
    params: Type.Object({
      name: CompanyName,
      plan: Type.Optional(Name),
      key_name: Type.Optional(Name),
      owner: Type.Optional(Email),
    }),
    returns: Type.Object({ company: Company, key: NewApiKey, invite_url: Type.Optional(Type.String()) }),
  },
  listPlans: { summary: "All plans", visibility: "public", params: Type.Object({}), returns: Type.Array(Plan) },
  savePlan: {
    summary: "Add a plan or change one; a limit that is not given is unlimited",
    visibility: "public",
    params: Type.Object({
      plan: Name,
      features: Type.Array(Name),
      limits: Type.Partial(Limits),
    }),
    returns: Plan,
  },
  setPlan: {
    summary: "Put a company on another plan",
    visibility: "public",
    params: Type.Object({ ...ByCompany.properties, plan: Name }),
    returns: Plan,
  },
  setPassword: {
    summary: "Give a user who lost her password a new one, and end all her logins",
    visibility: "public",
    params: Type.Object({ email: Email, password: Type.String({ minLength: 10, maxLength: 1024 }) }),
    returns: Nothing,
  },
  pauseCompany: { summary: "Hold back a company's mails", visibility: "public", params: ByCompany, returns: Paused },
  resumeCompany: { summary: "Let a company's mails go on", visibility: "public", params: ByCompany, returns: Paused },
} as const satisfies ServiceContract;
