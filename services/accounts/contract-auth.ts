/** Registration, login and tokens, and what the gateway asks for each request. */
import type { ServiceContract } from "../define.ts";
import { Email, Line, Nothing, Nullable, Time, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName, RoleName, User } from "./contract-account-shapes.ts";

const tokens = {
  access: Type.String({ description: "Bearer token, good for 15 minutes." }),
  refresh: Type.String({ description: "Good once, for 7 days." }),
};

export const contract = {
  register: {
    summary: "Register a user and her company",
    params: Type.Object({
      email: Email,
      password: Type.String({ minLength: 10, maxLength: 1024 }),
      company_name: CompanyName,
      first_name: Type.Optional(Line(150)),
      last_name: Type.Optional(Line(150)),
    }),
    returns: Type.Object({ user: User, company: Company, ...tokens }),
    example: { email: "ada@example.com", password: "correct horse battery", company_name: "Analytical Engines" },
  },
  login: {
    summary: "Log in",
    description: "A wrong password and an unknown user get the same answer. After 10 failures in 5 minutes: 429.",
    params: Type.Object({ email: Email, password: Type.String({ minLength: 1, maxLength: 1024 }) }),
    returns: Type.Object({
      ...tokens,
      user: User,
      companies: Type.Array(Type.Object({ ...Company.properties, role: RoleName })),
    }),
    example: { email: "ada@example.com", password: "correct horse battery" },
  },
  refresh: {
    summary: "Exchange a refresh token for new tokens",
    description:
      "The token is spent by this. A spent one that is used again revokes all that came from the same login.",
    params: Type.Object({ refresh: Type.String({ minLength: 1, maxLength: 255 }) }),
    returns: Type.Object(tokens),
    example: { refresh: "the `refresh` of login, or of the refresh before" },
  },
  authenticateKey: {
    summary: "The company of an API key; 401 for a wrong, expired or deleted one",
    visibility: "public",
    params: Type.Object({ key: Type.String() }),
    returns: Type.Object({ companyId: Uuid, apiKeyId: Uuid, expiresAt: Nullable(Time) }),
  },
  membershipOf: {
    summary: "A user's role in a company; 404 when she has none, 401 when her password has changed",
    visibility: "public",
    params: Type.Object({ userId: Uuid, companyId: Uuid, passwordMark: Type.String() }),
    returns: Type.Object({ role: RoleName }),
  },
  purge: {
    summary: "Delete expired refresh tokens (internal, repeated)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
