/** Registration, login and tokens, and what the gateway asks for each request. */
import type { ServiceContract } from "../define.ts";
import { SCOPES } from "../lib/rights.ts";
import { Email, Line, Nothing, Nullable, OneOf, Time, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName, RoleName, User } from "./contract-account-shapes.ts";

const tokens = {
  access: Type.String({ description: "Bearer token, good for 15 minutes." }),
  refresh: Type.String({ description: "Good once, for 7 days." }),
};

const person = { userId: Uuid, passwordMark: Type.String(), sessionId: Type.Optional(Uuid) };

export const contract = {
  register: {
    summary: "Register a user and her company",
    description:
      "Only where registration is open (`REGISTRATION`), else 403. Common passwords and such that are easy to guess are refused.",
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
    description:
      'A wrong password and an unknown user get the same answer. Where a second factor is on, the password alone gets a 401 with `code: "totp_required"`: ask again with `code`, of the authenticator or one of the recovery codes. After 10 failures of an account or 50 of a network in 5 minutes: 429, but not for a browser that was logged in before (cookie `fm_device`).',
    params: Type.Object({
      email: Email,
      password: Type.String({ minLength: 1, maxLength: 1024 }),
      code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    }),
    returns: Type.Object({
      ...tokens,
      user: User,
      companies: Type.Array(Type.Object({ ...Company.properties, role: RoleName })),
      device: Type.Optional(Type.String({ description: "Sent as the cookie `fm_device` instead." })),
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
    returns: Type.Object({
      companyId: Uuid,
      apiKeyId: Uuid,
      expiresAt: Nullable(Time),
      scopes: Type.Array(OneOf(...SCOPES)),
      allowedIps: Type.Array(Type.String()),
    }),
  },
  membershipOf: {
    summary:
      "A user's role in a company; 404 when she has none, 401 when her password has changed or the session ended",
    visibility: "public",
    params: Type.Object({ ...person, companyId: Uuid }),
    returns: Type.Object({ role: RoleName }),
  },
  requireSession: {
    summary: "401 when the person's password has changed or the session ended",
    visibility: "public",
    params: Type.Object(person),
    returns: Nothing,
  },
  continueSession: {
    summary: "As requireSession, and the session counts as used now",
    visibility: "public",
    params: Type.Object(person),
    returns: Nothing,
  },
  sendSystemMail: {
    summary: "Send what is due of the service's own mail (internal, repeated)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ tried: Type.Integer() }),
  },
  purge: {
    summary: "Delete expired tokens, invitations and system mail (internal, repeated)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
