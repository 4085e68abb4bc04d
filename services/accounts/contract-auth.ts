/** Contracts of registration, login and tokens, and of the gateway's authentication checks. */
import type { ServiceContract } from "../define.ts";
import { SCOPES } from "../lib/rights.ts";
import { Described, Email, Line, Nothing, Nullable, OneOf, Time, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName, RoleName, User } from "./contract-account-shapes.ts";

const tokens = {
  access: Type.String({
    description: "Bearer token, valid for 15 minutes.",
    examples: ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk5In0.c2ln"],
  }),
  refresh: Type.String({ description: "Valid once, for 7 days.", examples: ["rt_9f86d081884c7d65"] }),
};

const person = { userId: Uuid, passwordMark: Type.String(), sessionId: Type.Optional(Uuid) };

export const contract = {
  register: {
    summary: "Register a user and a company",
    description: "403 unless registration is open (`REGISTRATION`). Common and easily guessed passwords are refused.",
    params: Type.Object({
      email: Described(Email, "An email address."),
      password: Described(
        Type.String({ minLength: 10, maxLength: 1024 }),
        "At least 10 characters and not easily guessed.",
        "correct horse battery",
      ),
      company_name: Described(CompanyName, "Company name; appears in mail headers.", "Lantern Books"),
      first_name: Type.Optional(Described(Line(150), "First name.", "Ann")),
      last_name: Type.Optional(Described(Line(150), "Last name.", "Lee")),
    }),
    returns: Type.Object({ user: User, company: Company, ...tokens }),
    example: { email: "ada@example.com", password: "correct horse battery", company_name: "Analytical Engines" },
  },
  login: {
    summary: "Log in",
    description:
      'A wrong password and an unknown user get the same answer. With two-factor authentication the password alone returns 401 with `code: "totp_required"`: repeat with `code` from the authenticator or a recovery code. 429 after 10 failures of an account or 50 of a network in 5 minutes, except for a browser that signed in before (cookie `fm_device`).',
    params: Type.Object({
      email: Described(Email, "An email address."),
      password: Described(Type.String({ minLength: 1, maxLength: 1024 }), "The password.", "correct horse battery"),
      code: Type.Optional(
        Described(
          Type.String({ minLength: 1, maxLength: 64 }),
          "Code from the authenticator, or a recovery code.",
          "123456",
        ),
      ),
    }),
    returns: Type.Object({
      ...tokens,
      user: User,
      companies: Described(
        Type.Array(Type.Object({ ...Company.properties, role: RoleName })),
        "Companies of the person.",
      ),
      device: Type.Optional(
        Type.String({ description: "Set as the cookie `fm_device` instead.", examples: ["fd_9f86d081884c7d65"] }),
      ),
    }),
    example: { email: "ada@example.com", password: "correct horse battery" },
  },
  refresh: {
    summary: "Exchange a refresh token for new tokens",
    description: "Each refresh token works once. Reusing one revokes all tokens of the same login.",
    params: Type.Object({
      refresh: Described(
        Type.String({ minLength: 1, maxLength: 255 }),
        "Valid once, for 7 days.",
        "rt_9f86d081884c7d65",
      ),
    }),
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
